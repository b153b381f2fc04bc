//! From the differences between two documents to operations that make one of the other.
//!
//! Values inside items and mappings come first, while every index is still that of the document before; then the lists,
//! the innermost first: what goes, and then, from the first item to the last, what is new or stands elsewhere. Each
//! operation is made on a copy at once, so that its path names what is there when its turn comes.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::names::ListNames;
use crate::change::{Action, Change, New, apply_edits};
use crate::diff::{Difference, Item, Step, What, diff_values};
use crate::embedded::{self, Language};
use crate::patch::path::{Path, Segment};

/// How closely operations follow the differences. Where the close ones do not make the document, the next level does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Every difference is an operation of its own, and those of one kind are one patch.
    Families,
    /// Every difference is an operation of its own, in the order in which they were found.
    Single,
    /// A list whose items come, go or move is replaced as a whole; at the levels before, one that was shuffled.
    Lists,
    /// Values of the document's top level are replaced as a whole.
    Top,
}

impl Level {
    /// The next one.
    pub(super) fn coarser(self) -> Option<Level> {
        match self {
            Level::Families => Some(Level::Single),
            Level::Single => Some(Level::Lists),
            Level::Lists => Some(Level::Top),
            Level::Top => None,
        }
    }
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Add(Value),
    Replace { was: Value, value: Value },
    Remove { was: Value },
    Move { from: Path },
}

/// One operation of a patch that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    pub(super) act: Act,
    /// Where, in keyed form where the items have keys.
    pub(super) path: Path,
    /// The embedded text that the path leads into.
    pub(super) within: Option<(Path, Language)>,
    /// The innermost list on the way, in keyed form, and how many segments of `path` lead to the item in it.
    pub(super) item: Option<usize>,
    /// Whether the path holds whatever is done before it: no index on it, no item put behind another.
    pub(super) stable: bool,
    /// Where the new value stands in the edited document; in the embedded text's string, for one in it.
    pub(super) place: Option<Vec<String>>,
}

/// The operations that make `after` of `before`; `None` where this level has none that do.
pub(super) fn operations(before: &Value, after: &Value, level: Level) -> Option<Vec<Operation>> {
    let mut maker = Maker::new(before.clone(), after, false);
    if level == Level::Top {
        maker.top(before);
    } else {
        maker.follow(diff_values(before, after, &|_| None), level);
    }
    (maker.now == *after).then_some(maker.out)
}

/// How many items may move one by one, whatever the length of their list.
const MAX_MOVES: usize = 20;

/// What happens to one list.
#[derive(Debug, Default)]
pub(super) struct ListEdit {
    after: Vec<String>,
    /// How many items it has before.
    length: usize,
    removed: Vec<usize>,
    added: Vec<usize>,
    moved: Vec<(usize, usize)>,
}

/// An item of a list: by its index before, or new, by its index after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    Old(usize),
    New(usize),
}

struct Maker<'v> {
    now: Value,
    /// How the items of its lists are called.
    names: ListNames,
    after: &'v Value,
    out: Vec<Operation>,
    /// Whether the value is that of an embedded text, which embeds nothing further.
    inside: bool,
}

/// An embedded text: where it is before and after, and its language.
type Text = (Vec<String>, Vec<String>, Language);

impl<'v> Maker<'v> {
    fn new(now: Value, after: &'v Value, inside: bool) -> Maker<'v> {
        Maker { now, names: ListNames::default(), after, out: Vec::new(), inside }
    }

    fn follow(&mut self, differences: Vec<Difference>, level: Level) {
        let mut lists: BTreeMap<Vec<String>, ListEdit> = BTreeMap::new();
        let mut rest = Vec::new();
        for difference in differences {
            match list_of(&difference) {
                Some((list, after)) => {
                    let length = at(&self.now, &list).and_then(Value::as_array).map_or(0, Vec::len);
                    let edit = lists.entry(list).or_insert_with(|| ListEdit::of(after, length));
                    edit.note(&difference);
                }
                None => rest.push(difference),
            }
        }
        let whole = outermost(lists.iter().filter(|(_, edit)| level >= Level::Lists || edit.is_torn()));
        let mut texts: Vec<Text> = Vec::new();
        for difference in rest {
            let steps = difference.within.as_ref().map_or(&difference.path, |w| &w.path).steps();
            let (before, after) = (before(&steps), after(&steps));
            if whole.iter().any(|list| before.starts_with(list)) {
                continue;
            }
            match difference.within {
                Some(within) => {
                    if !texts.iter().any(|(known, ..)| *known == before) {
                        texts.push((before, after, within.language));
                    }
                }
                None => self.value(&before, after, &difference.what),
            }
        }
        for text in &texts {
            self.text(text);
        }
        let mut lists: Vec<_> = lists.into_iter().collect();
        lists.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        for (path, edit) in &lists {
            match whole.iter().find(|list| path.starts_with(list)) {
                Some(list) if list == path => self.set(path, &edit.after),
                Some(_) => {}
                None => self.list(path, edit),
            }
        }
    }

    /// The values of the top level, each as a whole.
    fn top(&mut self, before: &Value) {
        let (Value::Object(old), Value::Object(new)) = (before, self.after) else {
            return self.set(&[], &[]);
        };
        let keys: Vec<&String> = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))).collect();
        for key in keys.into_iter().filter(|key| old.get(*key) != new.get(*key)) {
            let path = vec![key.clone()];
            self.set(&path, &path);
        }
    }

    /// Gives a place the value that it has in the document after: none, where there is none.
    fn set(&mut self, path: &[String], after: &[String]) {
        let old = at(&self.now, path).cloned();
        let new = at(self.after, after).cloned();
        let what = match (old, new) {
            (Some(before), Some(after)) => What::Replaced { before, after },
            (Some(before), None) => What::Removed(before),
            (None, Some(after)) => What::Added(after),
            (None, None) => return,
        };
        self.value(path, after.to_vec(), &what);
    }

    /// A difference that is not one of a list's items.
    fn value(&mut self, path: &[String], place: Vec<String>, what: &What) {
        let (keyed, stable) = self.keyed(path);
        let act = match what {
            What::Added(value) => Act::Add(value.clone()),
            What::Removed(was) => Act::Remove { was: was.clone() },
            What::Replaced { before, after } => Act::Replace { was: before.clone(), value: after.clone() },
            What::Moved { .. } => return,
        };
        self.put(path, &act);
        let place = (!matches!(act, Act::Remove { .. })).then_some(place);
        let item = innermost_item(&self.now, path);
        self.out.push(Operation { act, path: keyed, within: None, item, stable, place });
    }

    /// A string that embeds a text: changed inside, where that gives the very text, or as a whole.
    fn text(&mut self, (path, after, language): &Text) {
        let (Some(Value::String(old)), Some(Value::String(new))) = (at(&self.now, path), at(self.after, after)) else {
            return;
        };
        let inner = (!self.inside).then(|| inner_operations(*language, old, new)).flatten();
        let Some(inner) = inner else { return self.set(path, after) };
        let (keyed, stable) = self.keyed(path);
        let value = Value::String(new.clone());
        self.put(path, &Act::Replace { was: Value::Null, value });
        self.out.extend(inner.into_iter().map(|operation| Operation {
            within: Some((keyed.clone(), *language)),
            stable: stable && operation.stable,
            place: Some(after.clone()),
            ..operation
        }));
    }

    fn list(&mut self, path: &[String], edit: &ListEdit) {
        let Some(Value::Array(items)) = at(self.after, &edit.after) else { return };
        let Some(Value::Array(old)) = at(&self.now, path) else { return };
        let mut order: Vec<Id> = (0..old.len()).map(Id::Old).collect();
        let wanted = edit.order(old.len(), items.len());
        let moved: HashSet<usize> = edit.moved.iter().map(|(from, _)| *from).collect();
        // They go from the first to the last, and those before are gone already.
        for (before, &gone) in edit.removed.iter().enumerate() {
            let index = gone - before.min(gone);
            let was = at(&self.now, &with(path, index)).cloned().unwrap_or_default();
            self.item(path, index, Act::Remove { was }, None);
        }
        order.retain(|id| !matches!(id, Id::Old(gone) if edit.removed.binary_search(gone).is_ok()));
        for (to, id) in wanted.iter().enumerate() {
            if matches!(id, Id::Old(from) if !moved.contains(from)) {
                continue;
            }
            let place = Some(with(&edit.after, to));
            let behind = |order: &[Id]| {
                let before = to.checked_sub(1).and_then(|to| wanted.get(to));
                before.and_then(|before| order.iter().position(|id| id == before)).map_or(0, |at| at + 1)
            };
            match *id {
                Id::New(new) => {
                    let index = behind(&order);
                    let value = items.get(new).cloned().unwrap_or_default();
                    self.item(path, index, Act::Add(value), place);
                    order.insert(index, *id);
                }
                Id::Old(_) => {
                    let Some(from) = order.iter().position(|other| other == id) else { continue };
                    order.remove(from);
                    let index = behind(&order);
                    order.insert(index, *id);
                    if index != from {
                        self.shift(path, from, index, place);
                    }
                }
            }
        }
    }

    /// A plain path in keyed form, and whether no index is left in it.
    fn keyed(&mut self, path: &[String]) -> (Path, bool) {
        let mut here = Some(&self.now);
        let mut keys: Vec<&str> = Vec::new();
        let mut out = Path::default();
        let mut stable = true;
        for (depth, token) in path.iter().enumerate() {
            let segment = if let Some(Value::Array(items)) = here {
                let list = path.get(..depth).unwrap_or_default();
                token.parse().ok().and_then(|index| self.names.selector(list, &keys, items, index))
            } else {
                keys.push(token);
                Some(Segment::Key(token.clone()))
            };
            stable &= segment.is_some();
            out.push(segment.unwrap_or_else(|| Segment::Key(token.clone())));
            here = here.and_then(|value| child(value, token));
        }
        (out, stable)
    }

    /// Makes an operation on the value, and has the names of the items follow.
    fn put(&mut self, path: &[String], act: &Act) {
        let list = |levels: usize| path.len().checked_sub(levels).and_then(|len| path.get(..len));
        let is_list = |value: &Value, path: &[String]| at(value, path).is_some_and(Value::is_array);
        // The item that the place is, or that has it as a field.
        let item = match (list(1), list(2)) {
            (Some(list), _) if is_list(&self.now, list) => Some((list, path)),
            (Some(item), Some(list)) if is_list(&self.now, list) => Some((list, item)),
            _ => None,
        };
        let comes = matches!(act, Act::Add(_)) && item.is_some_and(|(_, item)| item == path);
        let goes = matches!(act, Act::Remove { .. }) && item.is_some_and(|(_, item)| item == path);
        if let Some((list, item)) = item.filter(|_| !comes)
            && let Some(item) = at(&self.now, item)
        {
            self.names.forget(list, item);
        }
        put(&mut self.now, path, act);
        if let Some((list, item)) = item.filter(|_| !goes)
            && let Some(item) = at(&self.now, item)
        {
            self.names.learn(list, item);
        }
        match item {
            Some((list, item)) if item == path => self.names.drop_below(list),
            _ => self.names.drop_below(list(1).unwrap_or_default()),
        }
    }

    /// An item that goes, or one that comes before the one at that index.
    fn item(&mut self, list: &[String], index: usize, act: Act, place: Option<Vec<String>>) {
        let (path, stable) = self.position(list, index);
        let item = Some(path.segments().len());
        self.put(&with(list, index), &act);
        self.out.push(Operation { act, path, within: None, item, stable, place });
    }

    fn shift(&mut self, list: &[String], from: usize, to: usize, place: Option<Vec<String>>) {
        let (source, _) = self.keyed(&with(list, from));
        let Some(moved) = at(&self.now, &with(list, from)).cloned() else { return };
        self.put(&with(list, from), &Act::Remove { was: Value::Null });
        let (path, _) = self.position(list, to);
        self.put(&with(list, to), &Act::Add(moved));
        let item = Some(path.segments().len());
        self.out.push(Operation { act: Act::Move { from: source }, path, within: None, item, stable: false, place });
    }

    /// A position in a list: its item's selector, or `-` behind the last.
    fn position(&mut self, list: &[String], index: usize) -> (Path, bool) {
        match at(&self.now, list) {
            Some(Value::Array(items)) if index >= items.len() => {
                let (mut path, stable) = self.keyed(list);
                path.push(Segment::Key("-".to_owned()));
                (path, stable)
            }
            _ => self.keyed(&with(list, index)),
        }
    }
}

impl ListEdit {
    /// Nothing that happens to a list of so many items, which is at `after` then.
    pub(super) fn of(after: Vec<String>, length: usize) -> ListEdit {
        ListEdit { after, length, ..ListEdit::default() }
    }

    /// Puts the items of the list after that were there before in their order before.
    pub(super) fn restore(&self, items: &mut [Value]) {
        let order = self.order(self.length, items.len());
        let mut old: Vec<(usize, Value)> = Vec::new();
        for (id, item) in order.iter().zip(items.iter()) {
            if let Id::Old(index) = id {
                old.push((*index, item.clone()));
            }
        }
        old.sort_by_key(|(index, _)| *index);
        let mut old = old.into_iter();
        for (id, item) in order.iter().zip(items.iter_mut()) {
            if let Id::Old(_) = id
                && let Some((_, value)) = old.next()
            {
                *item = value;
            }
        }
    }

    /// Whether so much of the list stands elsewhere that nobody would follow the moves.
    fn is_torn(&self) -> bool {
        self.moved.len() > MAX_MOVES && self.moved.len() * 2 > self.length
    }

    pub(super) fn note(&mut self, difference: &Difference) {
        match (difference.path.last(), &difference.what) {
            (_, What::Moved { from, to }) => self.moved.push((*from, *to)),
            (Some(Step::Item(Item { after: Some(index), .. })), What::Added(_)) => self.added.push(*index),
            (Some(Step::Item(Item { before: Some(index), .. })), What::Removed(_)) => self.removed.push(*index),
            _ => {}
        }
    }

    /// The list after, each item by what it was before.
    fn order(&self, before: usize, after: usize) -> Vec<Id> {
        let mut out: Vec<Option<Id>> = vec![None; after];
        let mut left: Vec<bool> = vec![true; before];
        let mut set = |to: usize, id: Id| {
            if let Some(slot) = out.get_mut(to) {
                *slot = Some(id);
            }
            if let Id::Old(from) = id
                && let Some(left) = left.get_mut(from)
            {
                *left = false;
            }
        };
        self.added.iter().for_each(|&index| set(index, Id::New(index)));
        self.moved.iter().for_each(|&(from, to)| set(to, Id::Old(from)));
        self.removed.iter().for_each(|&index| {
            if let Some(left) = left.get_mut(index) {
                *left = false;
            }
        });
        let mut stays = left.iter().enumerate().filter(|(_, left)| **left).map(|(index, _)| Id::Old(index));
        out.into_iter().filter_map(|slot| slot.or_else(|| stays.next())).collect()
    }
}

/// The list that a difference is one of the items of: where it is before and after.
pub(super) fn list_of(difference: &Difference) -> Option<(Vec<String>, Vec<String>)> {
    if difference.within.is_some() || matches!(difference.what, What::Replaced { .. }) {
        return None;
    }
    let steps = difference.path.steps();
    match steps.split_last() {
        Some((Step::Item(_), list)) => Some((before(list), after(list))),
        _ => None,
    }
}

/// The lists that lie in no other of them.
fn outermost<'l>(lists: impl Iterator<Item = (&'l Vec<String>, &'l ListEdit)>) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for (path, _) in lists {
        if !found.iter().any(|list| path.starts_with(list)) {
            found.push(path.clone());
        }
    }
    found
}

fn before(steps: &[&Step]) -> Vec<String> {
    tokens(steps, |item| item.before)
}

pub(super) fn after(steps: &[&Step]) -> Vec<String> {
    tokens(steps, |item| item.after)
}

fn tokens(steps: &[&Step], index: impl Fn(&Item) -> Option<usize>) -> Vec<String> {
    let token = |step: &&Step| match step {
        Step::Key(key) => Some(key.clone()),
        Step::Item(item) => index(item).map(|index| index.to_string()),
    };
    steps.iter().map_while(token).collect()
}

/// The operations inside a text that give exactly the other text; `None` where there are none, because the two differ in
/// more than what they mean.
fn inner_operations(language: Language, before: &str, after: &str) -> Option<Vec<Operation>> {
    let old = embedded::read(language, before).ok()?;
    let new = embedded::read(language, after).ok()?;
    let mut maker = Maker::new(old.clone(), &new, true);
    maker.follow(diff_values(&old, &new, &|_| None), Level::Families);
    let mut text = before.to_owned();
    let mut value = old;
    for operation in &maker.out {
        for (action, path) in plain_steps(&mut value, operation)? {
            let action = match &action {
                Act::Add(value) => Action::Add(New { value, spelled: None, comment: None }),
                Act::Replace { value, .. } => Action::Replace(New { value, spelled: None, comment: None }),
                Act::Remove { .. } => Action::Remove,
                Act::Move { .. } => return None,
            };
            let edits = embedded::edit(language, &text, &Change { action, path: &path }).ok()?;
            text = apply_edits(&text, &edits);
        }
    }
    (text == after).then_some(maker.out)
}

/// An operation on a value as plain steps, made on it.
fn plain_steps(value: &mut Value, operation: &Operation) -> Option<Vec<(Act, Vec<String>)>> {
    let mut steps = Vec::new();
    let mut act = operation.act.clone();
    if let Act::Move { from } = &operation.act {
        let from = resolve(value, from)?;
        let moved = at(value, &from)?.clone();
        let remove = Act::Remove { was: moved.clone() };
        put(value, &from, &remove);
        steps.push((remove, from));
        act = Act::Add(moved);
    }
    let path = resolve(value, &operation.path)?;
    put(value, &path, &act);
    steps.push((act, path));
    Some(steps)
}

/// A keyed path in plain tokens.
fn resolve(value: &Value, path: &Path) -> Option<Vec<String>> {
    let mut here = Some(value);
    let mut out = Vec::new();
    for segment in path.segments() {
        let token = match (segment, here) {
            (Segment::Key(key), Some(Value::Array(items))) if key == "-" => items.len().to_string(),
            (Segment::Key(key), _) => key.clone(),
            (selector, Some(Value::Array(items))) => items.iter().position(|item| selects(selector, item))?.to_string(),
            _ => return None,
        };
        here = here.and_then(|value| child(value, &token));
        out.push(token);
    }
    Some(out)
}

fn selects(segment: &Segment, item: &Value) -> bool {
    let is =
        |value: Option<&Value>, text: &str| value.and_then(crate::resource::scalar_text).is_some_and(|t| t == text);
    match segment {
        Segment::Select(conditions) => conditions.iter().all(|c| is(item.get(&c.key), &c.value)),
        Segment::Item(text) => is(Some(item), text),
        Segment::Key(_) | Segment::Each => false,
    }
}

/// How many steps of a path lead to the innermost list item on it.
fn innermost_item(value: &Value, path: &[String]) -> Option<usize> {
    let mut here = Some(value);
    let mut found = None;
    for (depth, token) in path.iter().enumerate() {
        if matches!(here, Some(Value::Array(_))) {
            found = Some(depth + 1);
        }
        here = here.and_then(|value| child(value, token));
    }
    found
}

fn with(path: &[String], index: usize) -> Vec<String> {
    path.iter().cloned().chain([index.to_string()]).collect()
}

fn child<'v>(value: &'v Value, token: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(token),
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    }
}

pub(super) fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, token| child(value, token))
}

pub(super) fn at_mut<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, token| match value {
        Value::Object(map) => map.get_mut(token),
        Value::Array(items) => items.get_mut(token.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Makes an operation on a value. What does not fit is left: the value is compared in the end.
pub(super) fn put(value: &mut Value, path: &[String], act: &Act) {
    let new = match act {
        Act::Add(new) | Act::Replace { value: new, .. } => Some(new.clone()),
        Act::Remove { .. } => None,
        Act::Move { .. } => return,
    };
    let Some((last, parent)) = path.split_last() else {
        *value = new.unwrap_or_default();
        return;
    };
    match (at_mut(value, parent), new) {
        (Some(Value::Object(map)), Some(new)) => {
            map.insert(last.clone(), new);
        }
        (Some(Value::Object(map)), None) => {
            map.shift_remove(last);
        }
        (Some(Value::Array(items)), new) => {
            let Ok(index) = last.parse::<usize>() else { return };
            match (new, act) {
                (Some(new), Act::Add(_)) if index <= items.len() => items.insert(index, new),
                (Some(new), _) => {
                    if let Some(item) = items.get_mut(index) {
                        *item = new;
                    }
                }
                (None, _) if index < items.len() => {
                    items.remove(index);
                }
                (None, _) => {}
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diff;

    fn told(before: &Value, after: &Value, level: Level) -> Vec<String> {
        let operations = operations(before, after, level).unwrap();
        let told = |o: &Operation| {
            let within = o.within.as_ref().map(|(path, _)| format!(" in {path}")).unwrap_or_default();
            match &o.act {
                Act::Add(value) => format!("add {}{within} {value}", o.path),
                Act::Replace { value, .. } => format!("replace {}{within} {value}", o.path),
                Act::Remove { .. } => format!("remove {}{within}", o.path),
                Act::Move { from } => format!("move {from} {}", o.path),
            }
        };
        operations.iter().map(told).collect()
    }

    #[test]
    fn items_come_go_and_move_by_their_names() {
        let list = |names: &[&str]| json!({"l": names.iter().map(|n| json!({"name": n})).collect::<Vec<_>>()});
        let before = list(&["a", "b", "c", "d"]);
        assert_eq!(
            told(&before, &list(&["a", "n", "c", "d", "z"]), Level::Families),
            ["remove /l/[name=b]", "add /l/[name=c] {\"name\":\"n\"}", "add /l/- {\"name\":\"z\"}"]
        );
        assert_eq!(told(&before, &list(&["d", "a", "b", "c"]), Level::Families), ["move /l/[name=d] /l/[name=a]"]);
        assert_eq!(told(&before, &list(&["b", "c", "d", "a"]), Level::Families), ["move /l/[name=a] /l/-"]);
    }

    #[test]
    fn a_long_list_is_counted_once_and_not_for_each_operation() {
        let list = |value: &str| -> Value {
            let items: Vec<Value> = (0..500).map(|n| json!({"name": format!("i{n}"), "value": value})).collect();
            json!({"spec": {"l": items}})
        };
        let (before, mut after) = (list("a"), list("b"));
        let items = after["spec"]["l"].as_array_mut().unwrap();
        items.rotate_left(3);
        items.drain(100..150);
        items.extend((0..50).map(|n| json!({"name": format!("new{n}")})));
        let learned = diff::learned::during(|| {
            let operations = operations(&before, &after, Level::Families).unwrap();
            assert!(operations.len() > 500, "{}", operations.len());
        });
        assert!(learned < 3000, "{learned} times an item was counted");
    }

    #[test]
    fn every_order_of_every_choice_of_items_is_reached() {
        let mut seed = 7_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for named in [true, false] {
            let item = |n: usize| if named { json!({"name": n, "x": 1}) } else { json!(n % 4) };
            for _ in 0..500 {
                let before: Vec<Value> = (0..next(7)).map(item).collect();
                let mut after: Vec<Value> = before.clone();
                for _ in 0..next(5) {
                    let len = after.len();
                    match next(3) {
                        0 => after.insert(next(len + 1), item(10 + next(9))),
                        1 if len > 0 => drop(after.remove(next(len))),
                        _ if len > 0 => {
                            let moved = after.remove(next(len));
                            after.insert(next(len), moved);
                        }
                        _ => {}
                    }
                }
                let (before, after) = (json!({"l": before}), json!({"l": after}));
                for level in [Level::Single, Level::Lists, Level::Top] {
                    assert!(operations(&before, &after, level).is_some(), "{before} → {after}");
                }
            }
        }
    }

    #[test]
    fn a_text_is_changed_inside_where_that_gives_the_very_text() {
        let text = |text: &str| json!({"data": {"a.json": text}});
        let before = text("{\n  \"a\": 1\n}\n");
        assert_eq!(
            told(&before, &text("{\n  \"a\": 1,\n  \"b\": 2\n}\n"), Level::Families),
            ["add /b in /data/a.json 2"]
        );
        assert_eq!(told(&before, &text("{\"a\": 2}"), Level::Families), ["replace /data/a.json \"{\\\"a\\\": 2}\""]);
    }

    #[test]
    fn a_list_that_was_shuffled_is_replaced_and_one_of_which_a_part_moved_is_not() {
        let list = |order: &mut dyn Iterator<Item = usize>| {
            let items: Vec<Value> = order.map(|n| json!({"name": format!("i{n}"), "l": [n]})).collect();
            json!({"spec": {"l": items}, "x": 1})
        };
        let before = list(&mut (0..60));
        let turned = list(&mut (0..60).rev());
        assert_eq!(operations(&before, &turned, Level::Families).unwrap().len(), 1);
        let rotated = list(&mut (0..60).map(|n| (n + 25) % 60));
        assert_eq!(operations(&before, &rotated, Level::Families).unwrap().len(), 25);
    }

    #[test]
    fn coarser_levels_replace_more_at_once() {
        let before = json!({"spec": {"l": [1, 2], "x": 1}, "a": 1});
        let after = json!({"spec": {"l": [2, 3], "x": 2}, "b": 1});
        assert_eq!(
            told(&before, &after, Level::Lists),
            ["replace /spec/x 2", "remove /a", "add /b 1", "replace /spec/l [2,3]"]
        );
        assert_eq!(told(&before, &after, Level::Top), ["replace /spec {\"l\":[2,3],\"x\":2}", "remove /a", "add /b 1"]);
    }
}
