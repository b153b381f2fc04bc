//! Vendor a published Kubernetes manifest, patch it losslessly, and prove that only the patches differ.
//!
//! | module | what it is for |
//! |---|---|
//! | [`yaml`] | documents with byte spans, values as Kubernetes reads them, edits of byte ranges |
//! | [`argocd`] | what Argo CD hands to a plugin and wants of it |
//! | [`adopt`] | an overlay out of a copy that was edited by hand |
//! | [`change`] | one change of one document, what every editor takes |
//! | [`compare`] | two manifests held against each other, document by document |
//! | [`config`] | the files that people write for this program, read with places |
//! | [`patch`] | patches: their files, their paths, and what they do to a value |
//! | [`diag`] | findings as data: codes, places, messages |
//! | [`embedded`] | JSON, YAML and TOML texts that a manifest carries as strings |
//! | [`diff`] | what differs between two documents or streams |
//! | [`fsio`] | the disk: bounded reads, atomic writes |
//! | [`krm`] | what a `ResourceList` asks for, and what it gets back |
//! | [`layer`] | bases with their locks, overlays, and which files they may name |
//! | [`source`] | the network: what manifests and images are fetched from |
//! | [`fetch`] | a base's files from wherever its `base.yaml` says |
//! | [`resource`] | what a resource is called, what a target means, what tells list items apart |
//! | [`build`] | one build: patches carried out along two roads that must meet |
//! | [`diff`] | what differs between documents, by identity and key |
//! | [`verify`] | the proof that nothing else differs |
//! | [`split`] | a result as files, and the account of what was written |
//! | [`subject`] | one overlay as commands work on it |
//! | [`update`] | a newer upstream: what changed, and what becomes of each patch |
//! | [`pinning`] | the digest of an image, written into the patch that names the image |
//! | [`report`] | what `verify` and `explain` found, and its text in each format |
//! | [`schema`] | the JSON Schemas of our files, for editors |
//! | [`cli`] | the edge: arguments, terminal, environment, exit codes |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

pub mod adopt;
pub mod argocd;
pub mod build;
pub mod change;
pub mod cli;
pub mod compare;
pub mod config;
pub mod diag;
pub mod diff;
pub mod embedded;
pub mod fetch;
pub mod fsio;
pub mod krm;
pub mod layer;
pub mod patch;
pub mod pinning;
pub mod report;
pub mod resource;
pub mod schema;
pub mod source;
pub mod split;
pub mod subject;
pub mod update;
pub mod verify;
pub mod yaml;
