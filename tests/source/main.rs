//! What fetches, against real servers on this machine: one that does everything wrong that servers do, `git
//! http-backend`, and Debian's docker-registry filled by skopeo. All listen on 127.0.0.1 alone, on ports that the
//! system gives out.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests lay out their own files, start their own servers, and say what they skip"
)]

mod docker;
mod etag;
mod git;
mod http;
mod image;
mod online;
mod peers;
#[path = "../support/project.rs"]
mod project;
mod registry;
mod server;
mod update;
mod vendor;
mod workflows;
