//! Where manifests and images come from: the only part that talks to the network, and that only when `vendor`,
//! `update`, `image` or `verify --online` call it.
//!
//! It fetches, and tells what it got or why not. It knows nothing of bases, locks and overlays, writes no file, and
//! decides nothing about what it fetched; whoever calls does. The environment is handed in.

pub mod credentials;
pub mod git;
pub mod http;
mod pktline;
pub mod refs;
pub mod registry;
