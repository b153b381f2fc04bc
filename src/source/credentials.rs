//! Who may be told which secret: a GitHub token for GitHub's hosts, `~/.netrc` for the others.
//!
//! What the environment holds comes in as data ([`Environment`]); the edge hands in how to look a variable up. That a
//! secret goes to its own host alone, and is never shown, is `source::http`'s part.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::http::{Credential, Credentials, Proxies, Url};
use crate::fsio::{self, FsError};

/// How large a file with log-ins may be, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The hosts that a GitHub token is for, and whether git's way of log-in is used there. Storage hosts that GitHub
/// redirects to are none of them: their addresses are signed, and a second proof makes them refuse.
const GITHUB: [(&str, Login); 6] = [
    ("github.com", Login::Basic),
    ("gist.github.com", Login::Basic),
    ("codeload.github.com", Login::Basic),
    ("api.github.com", Login::Bearer),
    ("raw.githubusercontent.com", Login::Bearer),
    ("gist.githubusercontent.com", Login::Bearer),
];

/// The user name that goes with a token where a log-in is a name and a password.
const TOKEN_USER: &str = "x-access-token";

#[derive(Clone, Copy)]
enum Login {
    Basic,
    Bearer,
}

/// What the environment says of secrets, of proxies and of where programs are.
#[derive(Clone, Default)]
pub struct Environment {
    /// A token for GitHub, and the name of the variable that holds it.
    pub github_token: Option<(&'static str, String)>,
    /// The log-ins of `~/.netrc`, or of the file that `NETRC` names.
    pub netrc: Netrc,
    /// The contents of docker's and podman's files of registry log-ins, the first to be asked first.
    pub registry_logins: Vec<Vec<u8>>,
    /// The proxies.
    pub proxies: Proxies,
    /// Where programs are looked for.
    pub path: Option<OsString>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("github_token", &self.github_token.is_some()).finish_non_exhaustive()
    }
}

impl Environment {
    /// The environment, by a function that looks a variable up. An empty variable counts as none.
    ///
    /// # Errors
    /// When a file of log-ins is there and cannot be read.
    pub fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Environment, FsError> {
        let raw = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| raw(name).and_then(|value| value.into_string().ok());
        let path = |name: &str| raw(name).map(PathBuf::from);
        let home = path("HOME");
        let below_home = |rest: &str| home.as_ref().map(|home| home.join(rest));

        let netrc = path("NETRC").or_else(|| below_home(".netrc"));
        let netrc = netrc.as_deref().map(read_if_there).transpose()?.flatten().unwrap_or_default();
        let docker = path("DOCKER_CONFIG").or_else(|| below_home(".docker")).map(|dir| dir.join("config.json"));
        let podman =
            path("REGISTRY_AUTH_FILE").or_else(|| path("XDG_RUNTIME_DIR").map(|dir| dir.join("containers/auth.json")));
        let mut registry_logins = Vec::new();
        for file in [docker, podman].into_iter().flatten() {
            registry_logins.extend(read_if_there(&file)?);
        }
        Ok(Environment {
            github_token: ["GH_TOKEN", "GITHUB_TOKEN"].into_iter().find_map(|name| Some((name, text(name)?))),
            netrc: Netrc::parse(&String::from_utf8_lossy(&netrc)),
            registry_logins,
            proxies: Proxies {
                https: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].into_iter().find_map(text),
                none_for: ["no_proxy", "NO_PROXY"].into_iter().find_map(text).unwrap_or_default(),
            },
            path: raw("PATH"),
        })
    }
}

impl Credentials for Environment {
    fn for_url(&self, url: &Url) -> Option<Credential> {
        let host = url.host_str()?;
        // A token goes out over TLS alone, and to the port that GitHub serves.
        let github = GITHUB.iter().find(|(name, _)| *name == host && url.scheme() == "https" && url.port().is_none());
        if let (Some((_, login)), Some((origin, token))) = (github, &self.github_token) {
            return match login {
                Login::Basic => Credential::basic(TOKEN_USER, token, origin),
                Login::Bearer => Credential::bearer(token, origin),
            };
        }
        let entry = self.netrc.find(host.trim_start_matches('[').trim_end_matches(']'))?;
        Credential::basic(&entry.login, entry.password.as_deref()?, "~/.netrc")
    }
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FsError> {
    match fsio::read(path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FsError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The entries of a `.netrc` file, in the file's order.
///
/// The format is the one that ftp brought and curl and git read: words between white space, `machine NAME` or `default`
/// followed by `login`, `password` and `account` with a word each; `macdef NAME` goes to the next blank line. A word
/// may stand between double quotes, with `\` before the character that it is to keep, and `#` begins a comment where a
/// keyword is due.
#[derive(Clone, Default)]
pub struct Netrc {
    entries: Vec<Entry>,
}

/// One entry.
#[derive(Clone, Default)]
struct Entry {
    /// The host, in lower case; `None` is for all that no other entry is for.
    machine: Option<String>,
    login: String,
    password: Option<String>,
}

impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Netrc({} entries)", self.entries.len())
    }
}

impl Netrc {
    /// The entries of the text. A word that is no keyword is passed over, as curl does: the file is other programs' too.
    pub fn parse(text: &str) -> Netrc {
        let mut words = Words { rest: text };
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(word) = words.keyword() {
            match word.as_str() {
                "machine" => {
                    let machine = words.next().unwrap_or_default().to_ascii_lowercase();
                    entries.push(Entry { machine: Some(machine), ..Entry::default() });
                }
                "default" => entries.push(Entry::default()),
                "macdef" => words.skip_macro(),
                "login" | "password" | "account" => {
                    let value = words.next().unwrap_or_default();
                    match (entries.last_mut(), word.as_str()) {
                        (Some(entry), "login") => entry.login = value,
                        (Some(entry), "password") => entry.password = Some(value),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Netrc { entries }
    }

    /// The first entry for that host, else the default one.
    fn find(&self, host: &str) -> Option<&Entry> {
        let host = host.to_ascii_lowercase();
        let own = self.entries.iter().find(|entry| entry.machine.as_ref() == Some(&host));
        own.or_else(|| self.entries.iter().find(|entry| entry.machine.is_none()))
    }
}

/// The words of a `.netrc` file.
struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    /// The next word, comments passed over.
    fn keyword(&mut self) -> Option<String> {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return self.next();
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    fn next(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let mut chars = self.rest.chars();
        let quoted = self.rest.starts_with('"');
        if quoted {
            chars.next();
        }
        let mut word = String::new();
        let mut any = quoted;
        loop {
            let before = chars.as_str();
            let Some(c) = chars.next() else { break };
            if !quoted && c.is_whitespace() {
                // It stays: a blank line ends a macro.
                chars = before.chars();
                break;
            }
            match c {
                '"' if quoted => break,
                '\\' if quoted => word.extend(chars.next()),
                _ => word.push(c),
            }
            any = true;
        }
        self.rest = chars.as_str();
        any.then_some(word)
    }

    /// Passes over a macro: to the next blank line, or the end.
    fn skip_macro(&mut self) {
        while let Some((_, rest)) = self.rest.split_once('\n') {
            self.rest = rest;
            if rest.starts_with('\n') || rest.starts_with("\r\n") {
                return;
            }
        }
        self.rest = "";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn netrc(text: &str, host: &str) -> Option<(String, Option<String>)> {
        Netrc::parse(text).find(host).map(|e| (e.login.clone(), e.password.clone()))
    }

    fn pair(login: &str, password: &str) -> (String, Option<String>) {
        (login.into(), Some(password.into()))
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let look_up = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        Environment::read(&look_up).unwrap()
    }

    fn header(environment: &Environment, url: &str) -> Option<String> {
        environment.for_url(&Url::parse(url).unwrap()).map(|c| c.header().to_owned())
    }

    #[test]
    fn a_netrc_entry_is_for_its_host() {
        let text = "machine a.example login me password one\nmachine B.example\n\tlogin you\n\tpassword two\n";
        assert_eq!(netrc(text, "a.example"), Some(pair("me", "one")));
        assert_eq!(netrc(text, "b.EXAMPLE"), Some(pair("you", "two")));
        assert_eq!(netrc(text, "x.a.example"), None);
        assert_eq!(netrc(text, "example"), None);
    }

    #[test]
    fn the_first_entry_of_a_host_counts_and_the_default_is_for_the_rest() {
        let text = "default login anonymous password x machine a.example login me password one\
                    \nmachine a.example login other password two";
        assert_eq!(netrc(text, "a.example"), Some(pair("me", "one")));
        assert_eq!(netrc(text, "c.example"), Some(pair("anonymous", "x")));
    }

    #[test]
    fn macros_comments_and_accounts_are_passed_over() {
        let text = "# machine a.example login no password no\nmacdef init\ncd /pub\nmachine a.example login no password no\n\n\
                    machine a.example account acme login me # mine\n password one#two";
        assert_eq!(netrc(text, "a.example"), Some(pair("me", "one#two")));
        assert_eq!(netrc("macdef m\nnever ends\nmachine a login b password c", "a"), None);
        assert_eq!(netrc("macdef m\r\nx\r\n\r\nmachine a login b password c", "a"), Some(pair("b", "c")));
    }

    #[test]
    fn a_quoted_word_holds_spaces_and_quotes() {
        assert_eq!(netrc(r#"machine a login "m e" password "o\"n\\e""#, "a"), Some(pair("m e", r#"o"n\e"#)));
        assert_eq!(netrc(r#"machine a login "" password "x"#, "a"), Some(pair("", "x")));
    }

    #[test]
    fn a_broken_netrc_gives_what_is_whole() {
        assert_eq!(netrc("machine", "a"), None);
        assert_eq!(netrc("login me password x machine a login", "a"), Some((String::new(), None)));
        assert_eq!(netrc("machine a frobnicate login me password x", "a"), Some(pair("me", "x")));
    }

    #[test]
    fn a_github_token_goes_to_githubs_hosts_alone() {
        let environment = environment(&[("GITHUB_TOKEN", "t0ken")]);
        let basic = Credential::basic("x-access-token", "t0ken", "").unwrap().header().to_owned();
        assert_eq!(header(&environment, "https://github.com/a/b"), Some(basic));
        assert_eq!(header(&environment, "https://raw.githubusercontent.com/a/b"), Some("Bearer t0ken".into()));
        assert_eq!(header(&environment, "https://api.github.com/a"), Some("Bearer t0ken".into()));
        for other in [
            "https://example.org/",
            "https://github.com.example.org/",
            "https://xgithub.com/",
            "https://evil.github.io/",
            "https://github.com:8443/",
            "http://github.com/",
            "https://objects.githubusercontent.com/",
            "https://127.0.0.1/github.com",
        ] {
            assert_eq!(header(&environment, other), None, "{other}");
        }
    }

    #[test]
    fn gh_token_goes_before_github_token_and_an_empty_one_is_none() {
        let named = |variables: &[(&str, &str)]| environment(variables).github_token.map(|(name, _)| name);
        assert_eq!(named(&[("GITHUB_TOKEN", "a"), ("GH_TOKEN", "b")]), Some("GH_TOKEN"));
        assert_eq!(named(&[("GITHUB_TOKEN", "a"), ("GH_TOKEN", "")]), Some("GITHUB_TOKEN"));
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn files_of_log_ins_are_found_as_their_programs_find_them() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".docker")).unwrap();
        std::fs::write(home.path().join(".docker/config.json"), "{}").unwrap();
        std::fs::write(home.path().join(".netrc"), "machine a.example login me password x").unwrap();
        std::fs::write(home.path().join("other"), "machine a.example login you password y").unwrap();
        let at = home.path().to_str().unwrap();
        let found = environment(&[("HOME", at)]);
        assert_eq!(found.registry_logins, [b"{}".to_vec()]);
        assert_eq!(found.netrc.find("a.example").map(|e| e.login.as_str()), Some("me"));
        let other = format!("{at}/other");
        let found = environment(&[("HOME", at), ("NETRC", &other), ("DOCKER_CONFIG", at)]);
        assert_eq!(found.registry_logins, Vec::<Vec<u8>>::new());
        assert_eq!(found.netrc.find("a.example").map(|e| e.login.as_str()), Some("you"));
    }

    #[test]
    fn a_file_of_log_ins_that_cannot_be_read_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".netrc")).unwrap();
        let at = OsString::from(home.path());
        let error = Environment::read(&|name| (name == "HOME").then(|| at.clone())).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{} is a folder, not a regular file", home.path().join(".netrc").display())
        );
    }

    #[test]
    fn an_environment_is_never_shown() {
        let shown = format!("{:?}", environment(&[("GITHUB_TOKEN", "t0ken"), ("https_proxy", "http://u:p4ss@p")]));
        assert_eq!(shown, "Environment { github_token: true, .. }");
    }
}
