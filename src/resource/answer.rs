//! What a registry says when it is asked for a manifest: three answers that are kept apart, as data. Who asks is
//! `source::registry`, and nothing here does.

use super::reference::Digest;

/// What a registry says of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T = Digest> {
    /// It is there: its digest, of the index where there is one for several platforms.
    Found(T),
    /// It is not there, in the registry's own words.
    Gone(String),
    /// The registry did not say. That is never taken for gone.
    Unknown(Unanswered),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// Of what kind the reason is.
    pub why: Why,
    /// The reason, without a full stop.
    pub reason: String,
}

/// A kind of reason for no answer: what a person can do differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It wants a log-in, or another one (401, 403). Many registries say the same of what does not exist.
    LogIn,
    /// So does a mirror that is asked in its place. That is a host of its own, with a log-in of its own.
    MirrorLogIn,
    /// It limits the rate, or is broken (429, 5xx).
    Busy,
    /// There was no connection, or it broke off.
    Unreachable,
    /// Anything else: its answer makes no sense.
    Other,
}

impl Why {
    /// What to do, for a registry of that name.
    pub fn help(self, registry: &str) -> String {
        match self {
            Why::LogIn => format!(
                "Log in with `docker login {registry}`, and check the name: registries say the same of what does not exist."
            ),
            Why::MirrorLogIn => {
                "Log in to the mirror with `docker login`; a registry's log-in is not for its mirrors.".to_owned()
            }
            Why::Busy => "Try again later.".to_owned(),
            Why::Unreachable => format!("Check the registry's name, `{registry}`, and the network."),
            Why::Other => format!("Check that `{registry}` is a registry, and what stands between it and you."),
        }
    }
}
