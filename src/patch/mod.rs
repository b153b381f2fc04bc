//! Patches: named, documented departures from upstream.
//!
//! | module | what it is for |
//! |---|---|
//! | [`model`] | what a patch file says |
//! | `read` | from a patch file's text to the model, or to all its mistakes |
//! | [`path`] | the language of paths: JSON Pointers with keyed selectors |
//!
//! Nothing here reads files or knows of overlays; a patch's text is handed in, and so is the document that it changes.

pub mod model;
pub mod path;
mod read;

pub use model::Patch;
pub use read::target;
