//! Log-ins to registries, from the files that `docker login` and `podman login` write, and from the helper programs
//! that these files name.

use std::sync::mpsc;
use std::time::Duration;

use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential_from_reader};

use crate::resource::reference::DEFAULT_REGISTRY;

/// How long a helper program may take. It may have to unlock a key ring.
const HELPER: Duration = Duration::from_secs(20);

/// What docker's files call Docker Hub.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// A log-in.
#[derive(Clone)]
pub(super) enum Login {
    /// A user name and a password.
    Password(String, String),
    /// A token that stands for both, to be changed into others.
    Identity(String),
}

/// The log-in for a registry, from the first of the files that has one. `Ok(None)` where none has.
///
/// # Errors
/// A text for people, without secrets, when a file or a helper that should know fails.
pub(super) fn find(files: &[Vec<u8>], registry: &str) -> Result<Option<Login>, String> {
    let names: &[&str] = if registry == DEFAULT_REGISTRY { &[DOCKER_HUB, DEFAULT_REGISTRY] } else { &[registry] };
    for file in files {
        for name in names {
            match ask(file.clone(), (*name).to_owned()) {
                Ok(DockerCredential::UsernamePassword(user, password)) => {
                    return Ok(Some(Login::Password(user, password)));
                }
                Ok(DockerCredential::IdentityToken(token)) => return Ok(Some(Login::Identity(token))),
                Err(Failure::NotThere) => {}
                Err(Failure::Other(why)) => return Err(why),
            }
        }
    }
    Ok(None)
}

enum Failure {
    NotThere,
    Other(String),
}

/// Asks on a thread of its own: a helper that waits for someone must not make this program wait for ever.
fn ask(file: Vec<u8>, name: String) -> Result<DockerCredential, Failure> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(get_credential_from_reader(file.as_slice(), &name)));
    let answer = told.recv_timeout(HELPER).map_err(|_| {
        Failure::Other(format!("the helper program for log-ins did not answer in {} s", HELPER.as_secs()))
    })?;
    answer.map_err(|error| match error {
        CredentialRetrievalError::NoCredentialConfigured | CredentialRetrievalError::ConfigNotFound => {
            Failure::NotThere
        }
        // The helpers' protocol has no status of its own for it, just this text.
        CredentialRetrievalError::HelperFailure { ref stdout, .. } if stdout.contains("credentials not found") => {
            Failure::NotThere
        }
        // What a helper printed may hold a secret.
        CredentialRetrievalError::HelperFailure { helper, .. } => Failure::Other(format!("{helper} failed")),
        other => Failure::Other(format!("the file of log-ins: {other}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str], registry: &str) -> String {
        let files: Vec<Vec<u8>> = files.iter().map(|f| f.as_bytes().to_vec()).collect();
        match find(&files, registry) {
            Ok(None) => "none".into(),
            Ok(Some(Login::Password(user, password))) => format!("{user} {password}"),
            Ok(Some(Login::Identity(token))) => format!("token {token}"),
            Err(why) => why,
        }
    }

    #[test]
    fn a_log_in_is_its_registrys() {
        // "bWU6cGFzcw==" is "me:pass".
        let file = r#"{"auths": {"r.example:5000": {"auth": "bWU6cGFzcw=="}, "t.example": {"identitytoken": "t"}}}"#;
        assert_eq!(found(&[file], "r.example:5000"), "me pass");
        assert_eq!(found(&[file], "t.example"), "token t");
        assert_eq!(found(&[file], "r.example"), "none");
        assert_eq!(found(&["{}", file], "r.example:5000"), "me pass");
        assert_eq!(found(&[], "r.example"), "none");
    }

    #[test]
    fn docker_hub_is_found_by_all_its_names() {
        for name in ["https://index.docker.io/v1/", "docker.io", "index.docker.io"] {
            let file = format!(r#"{{"auths": {{"{name}": {{"auth": "bWU6cGFzcw=="}}}}}}"#);
            assert_eq!(found(&[&file], "docker.io"), "me pass", "{name}");
        }
    }

    #[test]
    fn a_broken_file_or_helper_is_told_without_secrets() {
        assert_eq!(found(&["{"], "r.example"), "the file of log-ins: Unable to read config");
        let bad = r#"{"auths": {"r.example": {"auth": "%%"}}}"#;
        assert_eq!(found(&[bad], "r.example"), "the file of log-ins: Unable to decode credential");
        let helper = r#"{"credsStore": "overlay-no-such-helper"}"#;
        let expected = "the file of log-ins: Unable to communicate with credential helper";
        assert_eq!(found(&[helper], "r.example"), expected);
    }
}
