//! Globs with `*` and `?` only.

/// How long a glob may be, in bytes. Matching costs at most its length times the text's.
pub(super) const MAX_GLOB: usize = 1_024;

/// Whether `pattern` has a wildcard.
pub(super) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether the whole of `text` fits `pattern`: `*` is any run of characters, also none, `?` is one character, and
/// everything else is itself.
///
/// Only the latest `*` is ever tried again, so the cost is bounded by the product of the lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    if !is_glob(pattern) {
        return pattern == text;
    }
    if pattern.len() > MAX_GLOB {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // The place behind the latest `*`, and how far the text was when it began to match.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&c) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(&want) if want == '?' || want == c => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text) in [
            ("a", "a"),
            ("", ""),
            ("*", ""),
            ("*", "x/y"),
            ("a*", "a"),
            ("a*c", "abbc"),
            ("*-agent", "net-agent"),
            ("a?c", "aüc"),
            ("**b*", "ab"),
            ("a*b*c", "a-b-b-c"),
            ("[a]*", "[a]x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a", "A"), ("", "a"), ("?", ""), ("a?", "a"), ("a*c", "abd"), ("[a]", "a"), ("a*b*c", "a-c-b")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let pattern = "*a".repeat(500) + "b";
        let start = std::time::Instant::now();
        assert!(!matches(&pattern, &"a".repeat(20_000)));
        assert!(start.elapsed().as_secs() < 5);
        assert!(!matches(&"*".repeat(MAX_GLOB + 1), "a"));
    }
}
