//! YAML: documents with places, values as Kubernetes reads them, and edits of byte ranges.
//!
//! Nothing here knows of Kubernetes' resources, of patches or of files. `tree` reads one document into nodes with
//! byte spans.

pub mod tree;
