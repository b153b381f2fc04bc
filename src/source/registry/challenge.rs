//! What a registry wants to be shown, by its `WWW-Authenticate` header (RFC 9110 section 11.6.1; the parameters of
//! `Bearer` are those of the distribution project's token specification). The scope that a
//! challenge names is not read: what is to be allowed is known without it.

use crate::source::http::HeaderMap;

/// How many characters of a header are read.
const MAX_HEADER: usize = 8 * 1024;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A token, to be had at `realm`.
    Bearer {
        /// The address of the token service.
        realm: String,
        /// Whom the token is for.
        service: Option<String>,
    },
    /// A user name and a password.
    Basic,
}

/// The challenge that can be met: a token is preferred.
pub(super) fn challenge(headers: &HeaderMap) -> Option<Challenge> {
    let values = headers.get_all("www-authenticate").iter().filter_map(|value| value.to_str().ok());
    let mut found = None;
    for (scheme, parameters) in values.flat_map(challenges) {
        let get = |name: &str| parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        match (scheme.as_str(), get("realm")) {
            ("bearer", Some(realm)) => {
                return Some(Challenge::Bearer { realm, service: get("service") });
            }
            ("basic", _) => found = Some(Challenge::Basic),
            _ => {}
        }
    }
    found
}

type Parameters = Vec<(String, String)>;

/// The challenges of one header, schemes and names in lower case. What does not fit the grammar ends the list.
fn challenges(text: &str) -> Vec<(String, Parameters)> {
    let mut found: Vec<(String, Parameters)> = Vec::new();
    let mut rest = text.get(..MAX_HEADER).unwrap_or(text);
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (word, after) = token(rest);
        if word.is_empty() {
            return found;
        }
        let value = after.trim_start().strip_prefix('=').map(str::trim_start);
        match (value, found.last_mut()) {
            (Some(value), Some((_, parameters))) => {
                let (value, after) = value.strip_prefix('"').map_or_else(|| plain(value), quoted);
                parameters.push((word.to_ascii_lowercase(), value));
                rest = after;
            }
            (Some(_), None) => return found,
            (None, _) => {
                found.push((word.to_ascii_lowercase(), Parameters::new()));
                rest = after;
            }
        }
    }
}

/// The token at the start (RFC 9110 section 5.6.2), and what follows.
fn token(text: &str) -> (&str, &str) {
    let in_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    text.split_at(text.find(|c| !in_token(c)).unwrap_or(text.len()))
}

/// A value without quotes. Some registries write addresses so, though the grammar does not allow it.
fn plain(text: &str) -> (String, &str) {
    let (value, rest) = text.split_at(text.find([',', ' ', '\t']).unwrap_or(text.len()));
    (value.to_owned(), rest)
}

/// A value whose opening quote was read.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            _ => value.push(c),
        }
    }
    (value, chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::http::HeaderValue;

    fn of(values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("www-authenticate", HeaderValue::from_str(value).unwrap());
        }
        challenge(&headers)
    }

    fn bearer(realm: &str, service: Option<&str>) -> Challenge {
        Challenge::Bearer { realm: realm.into(), service: service.map(str::to_owned) }
    }

    #[test]
    fn a_bearer_challenge_is_read_with_its_parameters() {
        let text = r#"Bearer realm="https://auth.example/token",service="r.example",scope="repository:a/b:pull,push""#;
        let expected = Some(bearer("https://auth.example/token", Some("r.example")));
        assert_eq!(of(&[text]), expected);
        assert_eq!(of(&[r#"bearer  REALM = "x" , foo=bar"#]), Some(bearer("x", None)));
        assert_eq!(
            of(&["Bearer realm=https://auth.example/t,service=s"]),
            Some(bearer("https://auth.example/t", Some("s")))
        );
        assert_eq!(of(&[r#"Bearer realm="a\"b""#]), Some(bearer("a\"b", None)));
    }

    #[test]
    fn a_token_is_preferred_to_a_password() {
        assert_eq!(of(&[r#"Basic realm="x", Bearer realm="y""#]), Some(bearer("y", None)));
        assert_eq!(of(&[r#"Basic realm="x""#, r#"Bearer realm="y""#]), Some(bearer("y", None)));
        assert_eq!(of(&[r#"Basic realm="x""#]), Some(Challenge::Basic));
        assert_eq!(of(&["Basic"]), Some(Challenge::Basic));
    }

    #[test]
    fn what_cannot_be_met_is_none() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["", "Negotiate", "Digest realm=\"x\"", "Bearer service=\"x\"", "realm=\"x\""]), None);
        assert_eq!(of(&["Bearer realm=\"never closed"]), Some(bearer("never closed", None)));
        assert_eq!(of(&["=,=\"", "Bearer =", "\"Bearer\" realm=x"]), None);
    }
}
