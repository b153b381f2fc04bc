//! A result as files: one for each document, in a folder that holds nothing else of ours, and an account of what was
//! written there, so that a later run takes away what has vanished and touches no file of anyone else.
//!
//! Nothing here reads or writes a file, or knows the terminal; `cli` does, by what is decided here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::layer::digest;
use crate::resource::Identity;

/// The name of the account in the folder. Its lines are those of `sha256sum`, so that `sha256sum --check` holds the files
/// against it.
pub const ACCOUNT: &str = ".overlay.sha256";

/// How long a file's name may be, in bytes, before its end gives way to a digest: file systems take 255.
const MAX_NAME: usize = 200;

/// How many digits of the digest such a name ends with.
const DIGITS: usize = 16;

/// The files of a result, by name, in the order of its documents. What stands between documents without being one, such as
/// a comment between two markers, is in none of them.
pub fn files<'t>(text: &'t str, documents: &[(Identity, Range<usize>)]) -> Vec<(String, &'t str)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let file = |(identity, range): &(Identity, Range<usize>)| {
        let stem = stem(identity);
        let count = seen.entry(stem.clone()).or_default();
        *count += 1;
        let stem = if *count > 1 { format!("{stem}~{count}") } else { stem };
        (format!("{stem}.yaml"), text.get(range.clone()).unwrap_or_default())
    };
    documents.iter().map(file).collect()
}

/// `kind.group_namespace_name` in words that a file's name can have. No two identities share one, but for their
/// version.
fn stem(identity: &Identity) -> String {
    let mut stem = escaped(&identity.kind.to_lowercase());
    if !identity.group.is_empty() {
        stem.push('.');
        stem.push_str(&escaped(&identity.group));
    }
    if !identity.namespace.is_empty() {
        stem.push('_');
        stem.push_str(&escaped(&identity.namespace));
    }
    stem.push('_');
    stem.push_str(&escaped(&identity.name));
    shortened(stem)
}

fn shortened(stem: String) -> String {
    if stem.len() <= MAX_NAME {
        return stem;
    }
    let digest = digest::sha256(stem.as_bytes());
    let kept = stem.floor_char_boundary(MAX_NAME);
    format!("{}~~{}", &stem.get(..kept).unwrap_or_default(), &digest.get(..DIGITS).unwrap_or_default())
}

/// A part of a name, bytes that mean something to a shell or a file system written as `%3A`. What a name of Kubernetes
/// may hold stays, but for the few kinds that take any character.
fn escaped(part: &str) -> String {
    let mut out = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || (byte == b'.' && !out.is_empty()) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// What was written, by path from the folder, each with the sha256 of its bytes; of those before and of those to come while a run
/// changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account(BTreeMap<String, BTreeSet<String>>);

/// What a file in the folder is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: nobody says that we wrote it.
    Strange,
    /// We wrote it, and it is as we left it.
    Ours,
    /// We wrote it, and someone changed it since.
    Changed,
}

impl Account {
    /// Reads an account. A line that is none, or whose path leads anywhere but down, is passed over: then nothing is
    /// ours that it speaks of.
    pub fn parse(text: &str) -> Account {
        let line = |line: &str| {
            let (digest, path) = line.split_once("  ")?;
            let down = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            (down && !path.contains('\0')).then(|| (path.to_owned(), digest.to_owned()))
        };
        let mut account = Account::default();
        for (path, digest) in text.lines().filter_map(line) {
            account.0.entry(path).or_default().insert(digest);
        }
        account
    }

    /// The account as it is written.
    pub fn text(&self) -> String {
        let lines = self.0.iter().flat_map(|(path, digests)| digests.iter().map(move |digest| (path, digest)));
        lines.flat_map(|(path, digest)| [digest.as_str(), "  ", path, "\n"]).collect()
    }

    /// One more file, or other bytes of one.
    pub fn add(&mut self, path: String, bytes: &[u8]) {
        self.0.insert(path, BTreeSet::from([digest::sha256(bytes)]));
    }

    /// The files that this account has and another does not.
    pub fn less<'a>(&'a self, other: &'a Account) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter(|path| !other.0.contains_key(*path)).map(String::as_str)
    }

    /// Takes over what another account says of a file.
    pub fn keep(&mut self, other: &Account, path: &str) {
        if let Some(digests) = other.0.get(path) {
            self.0.insert(path.to_owned(), digests.clone());
        }
    }

    /// What a file with these bytes is to us.
    pub fn claim(&self, path: &str, bytes: &[u8]) -> Claim {
        match self.0.get(path) {
            None => Claim::Strange,
            Some(digests) if digests.contains(&digest::sha256(bytes)) => Claim::Ours,
            Some(_) => Claim::Changed,
        }
    }

    /// Takes in all of another account.
    pub fn join(&mut self, other: Account) {
        self.0.extend(other.0);
    }

    /// What holds while the files change from what this account says to what the other does: each may be as either says, or gone. A run
    /// that is killed leaves it, and the next knows all files as ours.
    #[must_use]
    pub fn until(&self, other: &Account) -> Account {
        let mut both = self.clone();
        for (path, digests) in &other.0 {
            both.0.entry(path.clone()).or_default().extend(digests.iter().cloned());
        }
        both
    }

    /// How many files it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A folder's path as the account has it: what would break a line is written as `%0A`.
pub fn folder(path: &str) -> String {
    let keep = |c: char| !(c.is_control() || matches!(c, '\\' | '%'));
    let mut out = String::new();
    for c in path.chars() {
        if keep(c) {
            out.push(c);
        } else {
            c.to_string().bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(api_version: &str, kind: &str, namespace: &str, name: &str) -> String {
        let identity = Identity::new(api_version, kind, namespace, name);
        files("", &[(identity, 0..0)]).remove(0).0
    }

    #[test]
    fn a_file_is_called_after_its_resource() {
        assert_eq!(name("apps/v1", "DaemonSet", "kube-system", "agent"), "daemonset.apps_kube-system_agent.yaml");
        assert_eq!(name("v1", "Namespace", "", "a"), "namespace_a.yaml");
        assert_eq!(name("v1", "List", "", ""), "list_.yaml");
    }

    #[test]
    fn a_name_is_safe_whatever_the_resource_is_called() {
        assert_eq!(name("v1", "ClusterRole", "", "system:node"), "clusterrole_system%3Anode.yaml");
        assert_eq!(name("v1", "A", "..", "../../etc/passwd"), "a_%2E._%2E.%2F..%2Fetc%2Fpasswd.yaml");
        assert_eq!(name("", "", "", "\n\u{1b}ü"), "_%0A%1B%C3%BC.yaml");
        let long = name("v1", "ConfigMap", "n", &"a".repeat(5000));
        assert!(long.len() < 255 && long != name("v1", "ConfigMap", "n", &"a".repeat(5001)), "{long}");
    }

    #[test]
    fn two_identities_never_share_a_name() {
        let odd = ["", "a", "b", "a_b", "a.b", "a~2", "a%5Fb"];
        let mut names = Vec::new();
        for kind in ["A", "B"] {
            for group in ["", "a", "a.b"] {
                for namespace in odd {
                    names.extend(odd.map(|n| name(&format!("{group}/v1"), kind, namespace, n)));
                }
            }
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let twice = [Identity::new("v1", "A", "", "a"), Identity::new("v1", "A", "", "a")].map(|i| (i, 0..0));
        let names: Vec<String> = files("", &twice).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a_a.yaml", "a_a~2.yaml"]);
    }

    #[test]
    fn an_account_is_read_as_it_is_written() {
        let mut account = Account::default();
        account.add("o/b.yaml".into(), b"b\n");
        account.add("o/a.yaml".into(), b"a\n");
        let text = account.text();
        let a = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7";
        assert_eq!(text.lines().next(), Some(format!("{a}  o/a.yaml").as_str()));
        assert_eq!(Account::parse(&text), account);
        assert_eq!(account.claim("o/a.yaml", b"a\n"), Claim::Ours);
        assert_eq!(account.claim("o/a.yaml", b"x\n"), Claim::Changed);
        assert_eq!(account.claim("o/c.yaml", b"a\n"), Claim::Strange);
        assert_eq!(account.less(&Account::default()).collect::<Vec<_>>(), ["o/a.yaml", "o/b.yaml"]);
    }

    #[test]
    fn while_files_change_they_are_ours_as_they_were_and_as_they_will_be() {
        let account = |files: &[(&str, &[u8])]| {
            let mut account = Account::default();
            for (path, bytes) in files {
                account.add((*path).into(), bytes);
            }
            account
        };
        let before = account(&[("a", b"1"), ("gone", b"1")]);
        let both = Account::parse(&before.until(&account(&[("a", b"2"), ("new", b"2")])).text());
        let claims = [("a", "1"), ("a", "2"), ("gone", "1"), ("new", "2")];
        assert!(claims.iter().all(|(path, bytes)| both.claim(path, bytes.as_bytes()) == Claim::Ours));
        assert_eq!((both.claim("a", b"3"), both.claim("gone", b"2"), both.len()), (Claim::Changed, Claim::Changed, 3));
        assert_eq!(before.until(&before), before);
    }

    #[test]
    fn a_line_that_leads_out_of_the_folder_is_passed_over() {
        let text = "x  ../a\nx  /etc/passwd\nx  a/../../b\nx  a//b\nx\n  \nx  a/./b\n";
        assert!(Account::parse(text).is_empty(), "{:?}", Account::parse(text));
    }

    #[test]
    fn the_path_of_a_folder_stays_on_its_line() {
        assert_eq!(folder("overlays/lab 2/ü"), "overlays/lab 2/ü");
        assert_eq!(folder("a\nb\\c%0A"), "a%0Ab%5Cc%250A");
    }
}
