//! Log-ins to registries, from the files that `docker login` and `podman login` write, and from the helper programs
//! that these files name.
//!
//! A file's `auths` are log-ins by the registry's name, or by the name of what is below it (`r.example/team`, as podman
//! has it): the most particular one counts. Where there is none, the program of `credHelpers` for the registry is asked,
//! or else that of `credsStore`.

use std::ffi::OsStr;
use std::time::Instant;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::helper;
use crate::resource::reference::DEFAULT_REGISTRY;

/// What docker's files call Docker Hub.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// Other names of Docker Hub.
const HUB_NAMES: [&str; 3] = ["index.docker.io", "index.docker.io/v1", "registry-1.docker.io"];

/// A log-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Login {
    /// A user name and a password.
    Password(String, String),
    /// A token that stands for both, to be changed into others.
    Identity(String),
}

/// Whom a log-in is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account<'a> {
    /// The registry, as references name it.
    pub(super) registry: &'a str,
    /// The repository, where it is known.
    pub(super) repository: &'a str,
}

/// How helper programs are asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a> {
    /// Where they are looked for, if not where this process looks.
    pub(super) path: Option<&'a OsStr>,
    /// When the answer must be there.
    pub(super) until: Instant,
}

/// The log-in for an account, from the first of the files that has one. `Ok(None)` where none has.
///
/// # Errors
/// A text for people, without secrets, when a file or a helper that should know fails.
pub(super) fn find(files: &[Vec<u8>], account: Account<'_>, asking: Asking<'_>) -> Result<Option<Login>, String> {
    for file in files {
        let file: Value =
            serde_json::from_slice(file).map_err(|_| "the file of log-ins cannot be read as JSON".to_owned())?;
        let found = match kept(&file, account)? {
            Some(login) => Some(login),
            None => asked(&file, account.registry, asking)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The log-in that stands in the file itself.
fn kept(file: &Value, account: Account<'_>) -> Result<Option<Login>, String> {
    let Some(auths) = file.get("auths").and_then(Value::as_object) else { return Ok(None) };
    let mut name = format!("{}/{}", account.registry, account.repository);
    loop {
        // Of several ways to write one name, the one that references have goes first.
        let exact = auths.iter().filter(|(key, _)| **key == name);
        for (key, entry) in exact.chain(auths.iter().filter(|(key, _)| plain(key) == name)) {
            if let Some(login) = entry_login(entry).map_err(|what| format!("the file of log-ins: `{key}`: {what}"))? {
                return Ok(Some(login));
            }
        }
        let Some((shorter, _)) = name.rsplit_once('/') else { return Ok(None) };
        name = shorter.to_owned();
    }
}

/// A key of `auths` as references name what it is for. Of an address, the host counts alone.
fn plain(key: &str) -> String {
    let address = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://"));
    let name = address.map_or(key, |rest| rest.split('/').next().unwrap_or_default()).trim_end_matches('/');
    if HUB_NAMES.contains(&name) {
        return DEFAULT_REGISTRY.to_owned();
    }
    let (host, rest) = name.split_once('/').unwrap_or((name, ""));
    if HUB_NAMES.contains(&host) { format!("{DEFAULT_REGISTRY}/{rest}") } else { name.to_owned() }
}

/// What an entry holds. docker leaves empty ones behind where a helper has the log-in.
fn entry_login(entry: &Value) -> Result<Option<Login>, &'static str> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(token) = text("identitytoken") {
        return Ok(Some(Login::Identity(token.to_owned())));
    }
    if let Some(auth) = text("auth") {
        return decoded(auth).map(Some).ok_or("its `auth` is not USER:PASSWORD in base64");
    }
    let pair = text("username").zip(text("password"));
    Ok(pair.map(|(user, password)| Login::Password(user.to_owned(), password.to_owned())))
}

fn decoded(auth: &str) -> Option<Login> {
    let padding = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&STANDARD, padding).decode(auth).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (user, password) = text.split_once(':')?;
    Some(Login::Password(user.to_owned(), password.to_owned()))
}

/// The log-in that a helper program has for a registry.
fn asked(file: &Value, registry: &str, asking: Asking<'_>) -> Result<Option<Login>, String> {
    let names: &[&str] = if registry == DEFAULT_REGISTRY { &[DOCKER_HUB, DEFAULT_REGISTRY] } else { &[registry] };
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let store = file.get("credsStore").and_then(text);
    for name in names {
        let own = file.get("credHelpers").and_then(|helpers| helpers.get(name)).and_then(text);
        let Some(program) = own.or_else(|| store.clone()) else { continue };
        if let Some((user, secret)) = helper::ask(&program, name, asking)? {
            // By this name the helpers' protocol says that the secret is no password.
            let is_token = user == "<token>";
            return Ok(Some(if is_token { Login::Identity(secret) } else { Login::Password(user, secret) }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn found(files: &[&str], name: &str) -> String {
        let files: Vec<Vec<u8>> = files.iter().map(|f| f.as_bytes().to_vec()).collect();
        let (registry, repository) = name.split_once('/').unwrap_or((name, "a"));
        let asking = Asking { path: None, until: Instant::now() + Duration::from_secs(10) };
        match find(&files, Account { registry, repository }, asking) {
            Ok(None) => "none".into(),
            Ok(Some(Login::Password(user, password))) => format!("{user} {password}"),
            Ok(Some(Login::Identity(token))) => format!("token {token}"),
            Err(why) => why,
        }
    }

    #[test]
    fn a_log_in_is_its_registrys() {
        // "bWU6cGFzcw==" is "me:pass".
        let file = r#"{"auths": {"r.example:5000": {"auth": "bWU6cGFzcw=="}, "t.example": {"identitytoken": "t"},
            "https://old.example/v1/": {"username": "you", "password": "p:w"}, "empty.example": {}}}"#;
        assert_eq!(found(&[file], "r.example:5000"), "me pass");
        assert_eq!(found(&[file], "t.example"), "token t");
        assert_eq!(found(&[file], "old.example"), "you p:w");
        assert_eq!(found(&[file], "r.example"), "none");
        assert_eq!(found(&[file], "empty.example"), "none");
        assert_eq!(found(&["{}", file], "r.example:5000"), "me pass");
        assert_eq!(found(&[], "r.example"), "none");
        assert_eq!(found(&[r#"{"auths": {"r.example": {"auth": "bWU6cGFzcw"}}}"#], "r.example"), "me pass");
    }

    #[test]
    fn the_most_particular_log_in_counts() {
        let file = r#"{"auths": {"r.example": {"username": "all", "password": "1"},
            "r.example/team": {"username": "team", "password": "2"},
            "r.example/team/app": {"username": "app", "password": "3"},
            "other.example/team": {"username": "other", "password": "4"},
            "docker.io/library/nginx": {"username": "hub", "password": "5"}}}"#;
        assert_eq!(found(&[file], "r.example/team/app"), "app 3");
        assert_eq!(found(&[file], "r.example/team/app/sub"), "app 3");
        assert_eq!(found(&[file], "r.example/team/apple"), "team 2");
        assert_eq!(found(&[file], "r.example/teams/app"), "all 1");
        assert_eq!(found(&[file], "other.example/team/app"), "other 4");
        assert_eq!(found(&[file], "other.example/app"), "none");
        assert_eq!(found(&[file], "docker.io/library/nginx"), "hub 5");
        assert_eq!(found(&[file], "docker.io/library/redis"), "none");
    }

    #[test]
    fn docker_hub_is_found_by_all_its_names() {
        for name in [
            "https://index.docker.io/v1/",
            "docker.io",
            "index.docker.io",
            "index.docker.io/v1/",
            "registry-1.docker.io",
        ] {
            let file = format!(r#"{{"auths": {{"{name}": {{"auth": "bWU6cGFzcw=="}}}}}}"#);
            assert_eq!(found(&[&file], "docker.io/library/a"), "me pass", "{name}");
        }
    }

    #[test]
    fn a_broken_file_or_helper_is_told_without_secrets() {
        assert_eq!(found(&["{"], "r.example"), "the file of log-ins cannot be read as JSON");
        let told = "the file of log-ins: `r.example`: its `auth` is not USER:PASSWORD in base64";
        for auth in ["%%", "bWU="] {
            assert_eq!(found(&[&format!(r#"{{"auths": {{"r.example": {{"auth": "{auth}"}}}}}}"#)], "r.example"), told);
        }
        let helper = |name: &str| found(&[&format!(r#"{{"credsStore": "{name}"}}"#)], "r.example");
        let missing = helper("overlay-no-such-helper");
        assert!(missing.starts_with("docker-credential-overlay-no-such-helper cannot be run: "), "{missing}");
        assert_eq!(helper("x/../evil"), "the file of log-ins: `x/../evil` is no name of a helper program");
        for odd in [r#"{"auths": [], "credHelpers": 3, "credsStore": {}}"#, "[]", r#"{"auths": {"r.example": 1}}"#] {
            assert_eq!(found(&[odd], "r.example"), "none", "{odd}");
        }
    }
}
