//! Text from files made safe to show: characters that a terminal, a browser or a reader's eye would act on instead of
//! seeing are written out as YAML's own escapes (`\e` as `\x1B`, a bidi override as `\u202E`).

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character acts instead of showing: the C0 and C1 controls except the tab, the Unicode marks that change
/// the direction of the text around them (the "Trojan Source" characters), line separators, characters without any width
/// that are not needed to write a language, and the two that neither YAML nor XML has (U+FFFE and U+FFFF). The joiners
/// U+200C and U+200D are needed, and stay.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\t';
    }
    let directs = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks_line = matches!(c, '\u{2028}' | '\u{2029}');
    let has_no_width = matches!(c, '\u{00ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || directs || breaks_line || has_no_width
}

/// The text with every hidden character written out. Line feeds are hidden characters too: what comes from a file
/// cannot start a line of a report.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_visible(&mut out, c);
    }
    Cow::Owned(out)
}

/// Adds one character, written out if it is hidden.
pub fn push_visible(out: &mut String, c: char) {
    if !is_hidden(c) {
        out.push(c);
        return;
    }
    let code = u32::from(c);
    // Writing to a `String` cannot fail.
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        _ if code < 0x100 => write!(out, "\\x{code:02X}"),
        _ if code < 0x1_0000 => write!(out, "\\u{code:04X}"),
        _ => write!(out, "\\U{code:08X}"),
    };
}

/// The text as [`visible`] gives it, with `…` in the place of its middle when it is longer than `limit` characters:
/// a digest or a path tells most at its two ends.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return visible(text).into_owned();
    }
    let kept = limit.saturating_sub(1);
    let tail = kept / 2;
    let head_end = text.char_indices().nth(kept - tail).map_or(0, |(at, _)| at);
    let tail_start = match tail {
        0 => text.len(),
        _ => text.char_indices().rev().nth(tail - 1).map_or(text.len(), |(at, _)| at),
    };
    format!("{}…{}", visible(&text[..head_end]), visible(&text[tail_start..]))
}

/// A value's JSON as a person reads it best: a text in which only quotes would be escaped stands between single ones, as YAML
/// has them. `{"log": 1}` as a text is `'{"log": 1}'`, and not `"{\"log\": 1}"`.
pub fn lightly_quoted(json: String) -> String {
    let Some(inner) = json.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return json };
    let plain = inner.replace("\\\"", "\"");
    if plain.len() == inner.len() || plain.contains(['\\', '\'']) { json } else { format!("'{plain}'") }
}

/// How many characters [`shortened_pair`] shows on each side of a difference.
const CONTEXT: usize = 16;

/// Two texts that differ, as [`visible`] gives them. Where one is longer than `limit` characters, what they share at
/// their ends is left out, and the rest is shortened; where both stand between quotes, they keep them.
pub fn shortened_pair(before: &str, after: &str, limit: usize) -> (String, String) {
    if before.chars().nth(limit).is_none() && after.chars().nth(limit).is_none() {
        return (visible(before).into_owned(), visible(after).into_owned());
    }
    let head = shared_head(before, after);
    let tail = shared_tail(&before[head..], &after[head..]);
    let both_are_quoted = is_quoted(before) && is_quoted(after);
    let cut = |text: &str| {
        let cut = round(text, head, tail, limit);
        let quote = if both_are_quoted { text.get(..1).unwrap_or_default() } else { "" };
        let lacking = |is_there: bool| if is_there { "" } else { quote };
        format!("{}{cut}{}", lacking(cut.starts_with(quote)), lacking(cut.ends_with(quote)))
    };
    (cut(before), cut(after))
}

fn is_quoted(text: &str) -> bool {
    text.len() > 1 && ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote))
}

/// The bytes that two texts share at their beginning, in whole characters.
fn shared_head(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// The bytes that two texts share at their end, in whole characters.
fn shared_tail(a: &str, b: &str) -> usize {
    a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// The text without its first `head` and last `tail` bytes but for some context, and its middle shortened.
fn round(text: &str, head: usize, tail: usize, limit: usize) -> String {
    let end = text.len() - tail;
    let context_start = text[..head].char_indices().rev().take(CONTEXT).last().map_or(head, |(at, _)| at);
    let context_end = text[end..].char_indices().nth(CONTEXT).map_or(text.len(), |(at, _)| end + at);
    let before = if context_start > 0 { "…" } else { "" };
    let behind = if context_end < text.len() { "…" } else { "" };
    let middle = shortened(&text[head..end], limit);
    format!("{before}{}{middle}{}{behind}", visible(&text[context_start..head]), visible(&text[end..context_end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out() {
        let hostile = "a\u{1b}[31m\u{7}\r\n\u{7f}\u{9b}\u{202e}\u{2066}\u{2069}\u{feff}\u{ffff}\u{e0041}";
        assert_eq!(visible(hostile), "a\\x1B[31m\\x07\\r\\n\\x7F\\x9B\\u202E\\u2066\\u2069\\uFEFF\\uFFFF\\U000E0041");
    }

    #[test]
    fn what_shows_is_left_alone() {
        assert!(matches!(visible("näme: 名前\t👩\u{200d}💻"), Cow::Borrowed("näme: 名前\t👩\u{200d}💻")));
    }

    #[test]
    fn every_control_and_direction_character_is_hidden() {
        let controls = (0..0x20).chain(0x7f..0xa0).filter(|c| *c != 9);
        let all = controls.chain(0x202a..=0x202e).chain(0x2066..=0x2069);
        let seen: Vec<u32> = all.clone().filter(|c| char::from_u32(*c).is_some_and(is_hidden)).collect();
        assert_eq!(seen, all.collect::<Vec<_>>());
    }

    #[test]
    fn a_text_with_quotes_stands_between_single_ones_where_nothing_else_is_escaped() {
        let shown = |text: &str| lightly_quoted(text.to_owned());
        assert_eq!(shown("\"{\\\"log\\\": 1}\""), "'{\"log\": 1}'");
        for as_it_is in
            ["\"a\"", "1", "{\"a\":\"\\\"b\\\"\"}", "\"\\\"a\\\"\\n\"", "\"it's \\\"a\\\"\"", "\"\\\\\\\"\""]
        {
            assert_eq!(shown(as_it_is), as_it_is);
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("0123456789", 7), "012…789");
        assert_eq!(shortened("ääääääääää", 5), "ää…ää");
        assert_eq!(shortened("abcdef", 0), "…");
        let (long, longer) = (format!("\"{}\"", "a".repeat(40)), format!("\"{}b\"", "a".repeat(40)));
        let (before, after) = shortened_pair(&long, &longer, 30);
        assert_eq!((before, after), (format!("\"…{}\"", "a".repeat(16)), format!("\"…{}b\"", "a".repeat(16))));
        assert_eq!(shortened("\u{1b}23456", 3), "\\x1B…6");
    }
}
