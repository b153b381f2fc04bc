//! YAML: documents with places, values as Kubernetes reads them, and edits of byte ranges.
//!
//! Nothing here knows of Kubernetes' resources, of patches or of files. `stream` cuts a text into documents, `tree`
//! reads one of them into nodes with byte spans, `scalar` says what a scalar means, and `load` makes values of trees,
//! their numbers spelled as `number` says; what Kubernetes' YAML reader refuses, `libyaml` finds. `spell` goes the other way,
//! and `edit` changes a text without touching what is not meant.

pub mod edit;
pub mod libyaml;
pub mod load;
pub mod number;
pub mod scalar;
pub mod spell;
pub mod stream;
pub mod tree;
