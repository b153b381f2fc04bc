//! Following a path through a value: from keyed segments to keys and indices, or to why it leads nowhere.
//!
//! Nothing here knows what an operation wants at the end of the path (`patch::lower`), nor of patch files.

use std::borrow::Cow;

use serde_json::Value;

use super::path::{Condition, Path, Segment};
use crate::diag::{Code, nearest};
use crate::embedded::Language;
use crate::resource::{MergeKey, absent_text, scalar_text};
use crate::yaml::scalar;
use crate::yaml::tree::Style;

/// How many places one path may mean.
pub(super) const MAX_HITS: usize = 10_000;

/// How many names a message lists before it says that there are more.
const MAX_LISTED: usize = 20;

/// How many items a message shows with what is in them.
const MAX_ITEMS: usize = 4;

/// How many characters of a value a message shows.
pub(super) const MAX_SHOWN: usize = 80;

/// A place that a path leads to.
#[derive(Clone, Debug)]
pub(super) struct Hit<'v> {
    /// The mapping keys and indices that lead there.
    pub(super) tokens: Vec<String>,
    /// The same with selectors where the path has them, `*` made out.
    pub(super) keyed: Path,
    /// What is there.
    pub(super) there: There<'v>,
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum There<'v> {
    /// This value.
    Value(&'v Value),
    /// Nothing: the token of that index is a key that its mapping does not have.
    NoKey(usize),
    /// Nothing: what the first so many tokens lead to is null.
    Null(usize),
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Miss {
    /// The code under which it is told.
    pub(super) code: Code,
    /// How far the path leads.
    pub(super) reached: Path,
    /// What is wrong there; a clause.
    pub(super) what: String,
    /// What is there instead.
    pub(super) notes: Vec<String>,
    /// What may be meant.
    pub(super) help: Vec<String>,
    /// Whether all that is missing is a mapping, or a key in one.
    pub(super) is_absent: bool,
    /// What the text is written in that the path goes into as if it were a mapping or a list.
    pub(super) inside: Option<Language>,
    /// Whether the path means too much, and nothing else is wrong with it.
    pub(super) is_too_much: bool,
}

impl Miss {
    fn new(code: Code, reached: &Path, what: impl Into<String>) -> Miss {
        Miss {
            code,
            reached: reached.clone(),
            what: what.into(),
            notes: Vec::new(),
            help: Vec::new(),
            is_absent: false,
            inside: None,
            is_too_much: false,
        }
    }

    fn note(mut self, note: impl Into<String>) -> Miss {
        self.notes.push(note.into());
        self
    }

    fn help(mut self, help: impl Into<String>) -> Miss {
        self.help.push(help.into());
        self
    }
}

/// What becomes of a mapping that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// The path leads nowhere.
    Fails,
    /// The path goes on, as through an empty mapping.
    IsPassed,
}

/// The places that a path leads to, in the document's order. There is at least one.
pub(super) fn resolve<'v>(value: &'v Value, path: &[Segment], absent: Absent) -> Result<Vec<Hit<'v>>, Box<Miss>> {
    let mut hits = vec![Hit { tokens: Vec::new(), keyed: Path::default(), there: There::Value(value) }];
    for segment in path {
        let mut next = Vec::with_capacity(hits.len());
        for hit in hits {
            step(hit, segment, absent, &mut next)?;
            if next.len() > MAX_HITS {
                let what = format!("the path means more than {MAX_HITS} places");
                let miss = Miss::new(Code::PathInvalid, &Path::default(), what).help("Name fewer places.");
                return Err(Box::new(Miss { is_too_much: true, ..miss }));
            }
        }
        hits = next;
    }
    Ok(hits)
}

/// One segment further from one place.
fn step<'v>(hit: Hit<'v>, segment: &Segment, absent: Absent, next: &mut Vec<Hit<'v>>) -> Result<(), Box<Miss>> {
    let there = match hit.there {
        There::Value(Value::Null) if absent == Absent::IsPassed => There::Null(hit.tokens.len()),
        there => there,
    };
    let There::Value(value) = there else {
        let key = new_key(segment, &hit.keyed)?;
        next.push(further(hit, key, segment.clone(), there));
        return Ok(());
    };
    match (value, segment) {
        (Value::Object(map), Segment::Key(key)) => {
            let there = match map.get(key) {
                Some(value) => There::Value(value),
                None if absent == Absent::IsPassed => There::NoKey(hit.tokens.len()),
                None => return Err(Box::new(no_key(&hit.keyed, key, map.keys().map(String::as_str)))),
            };
            next.push(further(hit, key.clone(), segment.clone(), there));
        }
        (Value::Array(items), Segment::Each) => {
            if items.is_empty() {
                let what = format!("{} is an empty list", at(&hit.keyed));
                return Err(Box::new(Miss::new(Code::PathMissing, &hit.keyed, what)));
            }
            let names = item_names(&hit.tokens, &hit.keyed, items);
            for (index, (item, name)) in items.iter().zip(names).enumerate() {
                next.push(further(hit.clone(), index.to_string(), name, There::Value(item)));
            }
        }
        (Value::Array(items), _) => {
            let index = item_index(items, segment, &hit.keyed, items.len())?;
            let Some(item) = items.get(index) else {
                return Err(Box::new(out_of_range(&hit.keyed, index, items.len())));
            };
            next.push(further(hit, index.to_string(), segment.clone(), There::Value(item)));
        }
        _ => return Err(Box::new(wrong_kind(value, segment, &hit.keyed))),
    }
    Ok(())
}

fn further<'v>(hit: Hit<'v>, token: String, segment: Segment, there: There<'v>) -> Hit<'v> {
    let Hit { mut tokens, mut keyed, .. } = hit;
    tokens.push(token);
    keyed.push(segment);
    Hit { tokens, keyed, there }
}

/// What to do about a list that is not there.
pub(super) fn make_list(list: &Path) -> String {
    format!("Write the list itself, with what is to be in it: `path: {list}`, `value: [ … ]`.")
}

/// The key of a mapping that is yet to be made.
pub(super) fn new_key(segment: &Segment, reached: &Path) -> Result<String, Box<Miss>> {
    match segment {
        Segment::Key(key) if key != "-" && key != "0" => Ok(key.clone()),
        _ => {
            let what = format!("{} is not there, and `parents` makes mappings only, no lists", at(reached));
            let miss = Miss::new(Code::ParentMissing, reached, what).help(make_list(reached));
            // Who writes the only index of a list that is not there hardly means a key.
            let mapping =
                format!("If `0` is the key of a mapping, write that: `path: {reached}`, `value: {{\"0\": …}}`.");
            let may_be_key = matches!(segment, Segment::Key(key) if key == "0");
            Err(Box::new(if may_be_key { miss.help(mapping) } else { miss }))
        }
    }
}

/// The index that a segment means in a list; at most `max`.
pub(super) fn item_index(items: &[Value], segment: &Segment, reached: &Path, max: usize) -> Result<usize, Box<Miss>> {
    match segment {
        Segment::Key(key) => index_of(key, reached, items, max),
        Segment::Select(conditions) => {
            the_one(items, segment, reached, |item| meets(item, conditions)).map_err(|miss| {
                let fields: Vec<&str> = conditions.iter().map(|c| c.key.as_str()).collect();
                let there = candidates(items, &fields);
                let miss = if there.is_empty() { with_items(*miss, items) } else { *miss };
                Box::new(with_candidates(miss, &there, &spelled(conditions)))
            })
        }
        Segment::Item(text) => {
            let is_text = |item: &Value| scalar_text(item).as_deref() == Some(text);
            the_one(items, segment, reached, is_text).map_err(|miss| {
                let texts: Vec<String> = items.iter().filter_map(scalar_text).map(Cow::into_owned).collect();
                Box::new(with_candidates(*miss, &texts, text))
            })
        }
        Segment::Each => {
            let what = "`*` means every item, and one place is wanted here";
            Err(Box::new(Miss::new(Code::PathInvalid, reached, what)))
        }
    }
}

/// An index as RFC 6901 writes it: decimal digits without a leading zero.
fn index_of(key: &str, reached: &Path, items: &[Value], max: usize) -> Result<usize, Box<Miss>> {
    let digits = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    if digits && (key == "0" || !key.starts_with('0')) {
        let index = key.parse().unwrap_or(usize::MAX);
        return if index <= max { Ok(index) } else { Err(Box::new(out_of_range(reached, index, items.len()))) };
    }
    let list = at(reached);
    let miss = if key == "-" {
        Miss::new(
            Code::PathInvalid,
            reached,
            format!("`-` is the place behind the last item of {list}, where nothing is"),
        )
        .help("Only an operation that adds can end in `-`.")
    } else if digits || key.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())) {
        Miss::new(Code::PathInvalid, reached, format!("`{key}` is not an index: {list} is a list"))
            .note("An index is written 0, 1, 2 …, without a sign or leading zeros.")
    } else {
        let miss = Miss::new(Code::PathMissing, reached, format!("{list} is a list, and has no key `{key}`"))
            .help("Address an item by index, or by key: `[name=…]`.");
        with_names(miss, &candidates(items, &["name"]))
    };
    Err(Box::new(miss))
}

fn out_of_range(reached: &Path, index: usize, len: usize) -> Miss {
    let what = match len {
        0 => format!("{} is an empty list, and has no index {index}", at(reached)),
        1 => format!("{} has 1 item, and no index {index}", at(reached)),
        _ => format!("{} has {len} items, and no index {index}", at(reached)),
    };
    Miss::new(Code::PathMissing, reached, what)
}

/// The index of the one item that meets `wanted`.
fn the_one(
    items: &[Value],
    segment: &Segment,
    reached: &Path,
    wanted: impl Fn(&Value) -> bool,
) -> Result<usize, Box<Miss>> {
    let found: Vec<usize> = items.iter().enumerate().filter(|(_, item)| wanted(item)).map(|(i, _)| i).collect();
    match found[..] {
        [index] => Ok(index),
        [] => {
            let what = format!("{} has no item `{segment}`", at(reached));
            Err(Box::new(Miss::new(Code::PathMissing, reached, what)))
        }
        _ => {
            let what = format!("{} items of {} are `{segment}`", found.len(), at(reached));
            let mut miss = Miss::new(Code::SelectorAmbiguous, reached, what);
            for index in found.iter().take(MAX_ITEMS) {
                miss = miss.note(format!("Index {index} is {}.", items.get(*index).map(shown).unwrap_or_default()));
            }
            if let Some(more) = found.len().checked_sub(MAX_ITEMS).filter(|more| *more > 0) {
                miss = miss.note(format!("So {} {more} more.", if more == 1 { "is" } else { "are" }));
            }
            Err(Box::new(miss.help(told_apart(items, &found, segment))))
        }
    }
}

/// What to do about a selector that several items meet: the selector that means the first of them alone, if one does.
fn told_apart(items: &[Value], found: &[usize], segment: &Segment) -> String {
    let Segment::Select(conditions) = segment else {
        return "Address the one that is meant by its index, or all of them by `*`.".to_owned();
    };
    let same: Vec<&Value> = found.iter().filter_map(|index| items.get(*index)).collect();
    let more = same.first().and_then(|first| first.as_object()).and_then(|first| {
        let texts = |key: &str| -> Option<Vec<Cow<'_, str>>> {
            same.iter().map(|item| item.get(key).and_then(scalar_text)).collect()
        };
        first.keys().find(|key| {
            texts(key).is_some_and(|mut texts| {
                texts.sort_unstable();
                texts.windows(2).all(|pair| pair[0] != pair[1])
            })
        })
    });
    let Some((key, value)) = more.and_then(|key| Some((key, scalar_text(same.first()?.get(key)?)?))) else {
        return "Address the one that is meant by its index.".to_owned();
    };
    let condition = Condition { key: key.clone(), value: value.into_owned() };
    let one = Segment::Select(conditions.iter().cloned().chain([condition]).collect());
    format!("Name one more key of the item that is meant: `{one}`.")
}

fn meets(item: &Value, conditions: &[Condition]) -> bool {
    conditions.iter().all(|c| field_text(item, &c.key).as_deref() == Some(&c.value))
}

/// The text of a field of an item, or of what its absence means.
fn field_text<'v>(item: &'v Value, field: &str) -> Option<Cow<'v, str>> {
    match item.get(field) {
        Some(value) => scalar_text(value),
        None => absent_text(field, |other| item.get(other).is_some()).map(Cow::Borrowed),
    }
}

fn spelled(conditions: &[Condition]) -> String {
    conditions.iter().map(|c| c.value.as_str()).collect::<Vec<_>>().join(",")
}

/// What the items of a list are called by these fields; items that lack one of them are left out.
fn candidates(items: &[Value], fields: &[&str]) -> Vec<String> {
    let name = |item: &Value| {
        let texts: Option<Vec<String>> = fields.iter().map(|f| field_text(item, f).map(Cow::into_owned)).collect();
        texts.map(|texts| texts.join(","))
    };
    items.iter().filter_map(name).collect()
}

/// Lists what there is, and says what is nearest, where nothing was found.
fn with_candidates(miss: Miss, there: &[String], wanted: &str) -> Miss {
    if miss.code != Code::PathMissing {
        return miss;
    }
    let near = nearest(wanted, there.iter().map(String::as_str)).map(|near| format!("Did you mean `{near}`?"));
    let miss = with_names(miss, there);
    match near {
        Some(near) => miss.help(near),
        None => miss,
    }
}

/// Shows the items where none has the fields that are asked for: by what names them, else as they are.
fn with_items(miss: Miss, items: &[Value]) -> Miss {
    if let Some(key) = MergeKey::common(&[], items) {
        let names: Vec<String> = items.iter().filter_map(|item| named(key, item)).collect();
        return with_names(miss, &names);
    }
    let shown_items = items.iter().take(MAX_ITEMS).enumerate();
    let miss = shown_items.fold(miss, |miss, (index, item)| miss.note(format!("Index {index} is {}.", shown(item))));
    match items.len().checked_sub(MAX_ITEMS).filter(|more| *more > 0) {
        Some(more) => miss.note(format!("There {} {more} more.", if more == 1 { "is" } else { "are" })),
        None => miss,
    }
}

/// An item by a key: `[type=Ready]`.
fn named(key: MergeKey, item: &Value) -> Option<String> {
    let conditions = key.of_item(item)?.into_iter();
    let conditions = conditions.map(|(key, value)| Condition { key: key.to_owned(), value: value.into_owned() });
    Some(Segment::Select(conditions.collect()).to_string())
}

fn with_names(miss: Miss, there: &[String]) -> Miss {
    if there.is_empty() { miss } else { miss.note(format!("The items there are: {}.", listed(there))) }
}

fn no_key<'k>(reached: &Path, key: &str, keys: impl Iterator<Item = &'k str> + Clone) -> Miss {
    let mut miss = Miss::new(Code::PathMissing, reached, format!("{} has no key `{key}`", at(reached)));
    miss.is_absent = true;
    // Whoever saw the key bare in the file does not know that it is read as something else.
    let read = scalar::key(key, Style::Plain, None).ok().filter(|read| read != key);
    let read = read.filter(|read| keys.clone().any(|key| key == read));
    let near = nearest(key, keys.clone());
    let keys: Vec<&str> = keys.take(MAX_LISTED + 1).collect();
    miss = if keys.is_empty() {
        miss.note("The mapping there is empty.")
    } else {
        miss.note(format!("The keys there are: {}.", listed(&keys)))
    };
    if let Some((list, selector)) = selector_in(key).filter(|(list, _)| keys.contains(list)) {
        miss.is_absent = false;
        return miss.help(format!("A selector is a segment of its own: `{list}/{selector}`."));
    }
    match (read, near) {
        (Some(read), _) => miss.help(format!("A bare `{key}` is read as the key `{read}`: write that in the path.")),
        (None, Some(near)) => miss.help(format!("Did you mean `{near}`?")),
        (None, None) => miss,
    }
}

/// A key with a selector right behind it, as other path languages write an item of a list: both apart.
fn selector_in(key: &str) -> Option<(&str, &str)> {
    let (list, selector) = key.split_at(key.find('[').filter(|at| *at > 0)?);
    selector.ends_with(']').then_some((list, selector))
}

/// A value that a segment cannot go through, or cannot end in.
pub(super) fn wrong_kind(value: &Value, segment: &Segment, reached: &Path) -> Miss {
    let there = at(reached);
    let kind = kind_of(value);
    let what = match (value, segment) {
        (Value::Object(_), Segment::Each) => format!("{there} is {kind}, and `*` means the items of a list"),
        (Value::Object(_), _) => format!("{there} is {kind}, and `{segment}` means an item of a list"),
        (_, Segment::Key(key)) => format!("{there} is {kind}, and has no key `{key}`"),
        _ => format!("{there} is {kind}, and has no items"),
    };
    let mut miss = Miss::new(Code::PathMissing, reached, what);
    miss.is_absent = value.is_null() && matches!(segment, Segment::Key(_));
    miss.inside = value.as_str().and_then(Language::of);
    if value.is_object() {
        miss.help("A key that begins with `[` is written with `~2`, the key `*` with `~3`.")
    } else {
        miss
    }
}

/// What kind of value it is, in words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// A place, for a sentence.
pub(super) fn at(path: &Path) -> String {
    if path.is_empty() { "the document".into() } else { format!("`{path}`") }
}

/// Names for a sentence, at most [`MAX_LISTED`].
fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    let more = if names.len() > MAX_LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A value for a sentence: JSON, cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    let mut short: String = text.chars().take(MAX_SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("`{short}`")
}

/// The segment that names each item of a list: by merge key where the list has one that tells all items apart, else
/// by index.
fn item_names(tokens: &[String], keyed: &Path, items: &[Value]) -> Vec<Segment> {
    let key = merge_key(tokens, keyed).filter(|key| key.tells_apart(items));
    let name = |(index, item): (usize, &Value)| {
        key.and_then(|key| by_key(key, item)).unwrap_or_else(|| Segment::Key(index.to_string()))
    };
    items.iter().enumerate().map(name).collect()
}

/// The selector of an item by its merge key.
pub(super) fn by_key(key: MergeKey, item: &Value) -> Option<Segment> {
    let fields = key.of_item(item)?;
    // A default that does not stand in the item cannot be selected by.
    let stands = fields.iter().all(|(field, _)| item.get(*field).is_some());
    let condition = |(key, value): (&str, Cow<'_, str>)| Condition { key: key.into(), value: value.into_owned() };
    stands.then(|| Segment::Select(fields.into_iter().map(condition).collect()))
}

/// The merge key of the list there, if Kubernetes' types declare one.
pub(super) fn merge_key(tokens: &[String], keyed: &Path) -> Option<MergeKey> {
    // An index is a token that a selector, or a segment of digits, stands for; field names are neither.
    let is_field = |(token, segment): (&String, &Segment)| matches!(segment, Segment::Key(key) if key == token && !key.bytes().all(|b| b.is_ascii_digit()));
    let fields: Vec<&str> =
        tokens.iter().zip(keyed.segments()).filter(|(t, s)| is_field((t, s))).map(|(t, _)| t.as_str()).collect();
    MergeKey::of_list(&fields)
}
