//! Patches: named, documented departures from upstream.
//!
//! | module | what it is for |
//! |---|---|
//! | [`path`] | the language of paths: JSON Pointers with keyed selectors |
//!
//! Nothing here reads files or knows of overlays; a patch's text is handed in, and so is the document that it changes.

pub mod path;
