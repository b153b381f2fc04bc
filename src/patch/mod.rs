//! Patches: named, documented departures from upstream.
//!
//! | module | what it is for |
//! |---|---|
//! | [`model`] | what a patch file says |
//! | `read` | from a patch file's text to the model, or to all its mistakes |
//! | [`path`] | the language of paths: JSON Pointers with keyed selectors |
//! | `resolve` | a path, followed through a value |
//! | [`images`] | the images that a patch writes |
//! | [`lower`] | a change on a value: operations become plain steps, or what does not fit is told |
//! | [`step`] | plain steps, with where they come from |
//! | [`apply`](mod@apply) | the road over the value: a step, made with `json-patch` |
//!
//! Nothing here reads files or knows of overlays; a patch's text is handed in, and so is the document that it changes.

pub mod apply;
pub mod images;
pub mod lower;
pub mod model;
pub mod path;
mod read;
mod resolve;
pub mod step;

pub use model::Patch;
pub use read::target;
