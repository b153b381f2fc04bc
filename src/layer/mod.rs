//! The layers of a result: bases with their locks, and the overlays on them.
//!
//! This part reads our own files from the disk (through `fsio`), holds vendored files against their lock, and decides
//! which files an overlay may name. It knows nothing of how a patch is applied, of the network or of the terminal.

pub mod address;
pub mod base;
pub mod check;
pub mod cut;
pub mod digest;
pub mod documents;
pub mod etag;
pub mod lock;
pub mod manifest;
pub mod overlay;
pub mod pin;
pub mod plan;
pub mod root;
pub mod separators;
pub mod shelf;
pub mod sources;
#[cfg(test)]
pub(crate) mod testing;
pub mod vendor;
