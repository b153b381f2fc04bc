//! Where a manifest is published, as a person writes it: the address of a file or of a release on GitHub out of the
//! browser, any other address, or a file. From it comes the text of a new `base.yaml`.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::config::written;

/// Where a manifest is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file of a repository on GitHub.
    GitHub {
        /// `owner/name`.
        repository: String,
        /// The branch or tag that is followed.
        follows: Option<String>,
        /// The commit.
        commit: Option<String>,
        /// The file's path there.
        path: String,
    },
    /// An asset of a release on GitHub.
    Release {
        /// `owner/name`.
        repository: String,
        /// The release's tag.
        release: String,
        /// The asset's name.
        asset: String,
    },
    /// Any other address.
    Url(String),
    /// A file; relative to the base's folder in a `base.yaml`.
    File(PathBuf),
}

impl Address {
    /// What a person means. Whatever is no address is a file.
    pub fn parse(text: &str) -> Address {
        let Some((_, rest)) = text.split_once("://") else { return Address::File(text.into()) };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        github(rest).unwrap_or_else(|| Address::Url(text.to_owned()))
    }

    /// Whether it is a page about files and none of a file: that of a repository on GitHub, or of a folder in it.
    pub fn is_page(&self) -> bool {
        let Address::Url(url) = self else { return false };
        let Some(path) = url.split_once("://github.com/").map(|(_, path)| path.trim_end_matches('/')) else {
            return false;
        };
        let parts: Vec<&str> = path.split('/').collect();
        parts.len() <= 2 || parts.get(2) == Some(&"tree")
    }

    /// The branch or tag that it follows.
    pub fn follows(&self) -> Option<&str> {
        match self {
            Address::GitHub { follows, .. } => follows.as_deref(),
            _ => None,
        }
    }

    /// Whether it is in a repository and names no commit.
    pub fn lacks_commit(&self) -> bool {
        matches!(self, Address::GitHub { commit: None, .. })
    }

    /// Names the commit of a file in a repository.
    pub fn pin(&mut self, to: String) {
        if let Address::GitHub { commit, .. } = self {
            *commit = Some(to);
        }
    }

    /// The text of a `base.yaml` with this source.
    pub fn base_file(&self, name: &str) -> String {
        let source = match self {
            Address::GitHub { repository, follows, commit, path } => {
                let mut fields = Map::new();
                let keys = [("repository", Some(repository)), ("ref", follows.as_ref())];
                for (key, value) in keys.into_iter().chain([("commit", commit.as_ref()), ("path", Some(path))]) {
                    fields.extend(value.map(|value| (key.to_owned(), Value::from(value.as_str()))));
                }
                json!({"github": fields})
            }
            Address::Release { repository, release, asset } => {
                json!({"github": {"repository": repository, "release": release, "asset": asset}})
            }
            Address::Url(url) => json!({"url": url}),
            Address::File(path) => json!({"file": path.to_string_lossy()}),
        };
        written("Base", [("name", name.into()), ("source", source)])
    }
}

/// What an address on GitHub means, without its scheme.
fn github(rest: &str) -> Option<Address> {
    let parts: Vec<&str> = rest.split('/').collect();
    match *parts.as_slice() {
        ["github.com", owner, name, "releases", "download", release, asset] => {
            let repository = format!("{owner}/{name}");
            Some(Address::Release { repository, release: release.to_owned(), asset: asset.to_owned() })
        }
        ["github.com", owner, name, "blob" | "raw", "refs", "heads" | "tags", revision, ref path @ ..]
        | ["github.com", owner, name, "blob" | "raw", revision, ref path @ ..]
        | ["raw.githubusercontent.com", owner, name, "refs", "heads" | "tags", revision, ref path @ ..]
        | ["raw.githubusercontent.com", owner, name, revision, ref path @ ..]
            if !path.is_empty() =>
        {
            let is_commit = revision.len() == 40 && revision.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            let revision = revision.to_owned();
            let (follows, commit) = if is_commit { (None, Some(revision)) } else { (Some(revision), None) };
            Some(Address::GitHub { repository: format!("{owner}/{name}"), follows, commit, path: path.join("/") })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> String {
        let file = Address::parse(text).base_file("net");
        let head = "# +argocd:skip-file-rendering\napiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  ";
        file.strip_prefix(head).unwrap_or_else(|| panic!("{file}")).to_owned()
    }

    #[test]
    fn an_address_out_of_the_browser_names_repository_branch_and_path() {
        let expected = "github:\n    repository: o/r\n    ref: main\n    path: deploy/all.yaml\n";
        assert_eq!(source("https://github.com/o/r/blob/main/deploy/all.yaml"), expected);
        assert_eq!(source("https://github.com/o/r/blob/main/deploy/all.yaml?plain=1#L3"), expected);
        assert_eq!(source("https://raw.githubusercontent.com/o/r/main/deploy/all.yaml"), expected);
        assert_eq!(source("https://raw.githubusercontent.com/o/r/refs/heads/main/deploy/all.yaml"), expected);
    }

    #[test]
    fn a_commit_in_an_address_is_pinned_and_nothing_is_followed() {
        let commit = "fedcba9876543210fedcba9876543210fedcba98";
        let expected = format!("github:\n    repository: o/r\n    commit: {commit}\n    path: a.yaml\n");
        assert_eq!(source(&format!("https://github.com/o/r/blob/{commit}/a.yaml")), expected);
    }

    #[test]
    fn releases_other_addresses_and_files_are_told_apart() {
        assert_eq!(
            source("https://github.com/o/r/releases/download/v1.2.3/install.yaml"),
            "github:\n    repository: o/r\n    release: v1.2.3\n    asset: install.yaml\n"
        );
        assert_eq!(source("https://example.org/v1/all.yaml?x=y"), "url: https://example.org/v1/all.yaml?x=y\n");
        assert_eq!(source("https://github.com/o/r"), "url: https://github.com/o/r\n");
        let is_page = |text| Address::parse(text).is_page();
        assert!(is_page("https://github.com/o/r") && is_page("https://github.com/o/r/tree/main/deploy"));
        assert!(
            !is_page("https://github.com/o/r/releases/latest/download/all.yaml") && !is_page("https://example.org")
        );
        assert_eq!(source("../up/net.yaml"), "file: ../up/net.yaml\n");
    }
}
