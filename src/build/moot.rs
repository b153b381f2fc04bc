//! Steps that come to nothing: a later step takes away as a whole what they write in or take out of.
//!
//! Made on the text all the same they could leave something behind: a blank line between two items is no longer between
//! items, and so stays, when first the second item goes and then the list. What an earlier step brought and nothing else was
//! there before comes to nothing together with the step that takes it away.

use std::cell::OnceCell;
use std::collections::HashSet;

use serde_json::Value;

use crate::patch::apply::apply;
use crate::patch::step::{Action, Step};

/// Steps on a document, and which of them move items of a list: worked out once, if anyone asks.
pub(super) struct Course<'s> {
    value: &'s Value,
    steps: &'s [&'s Step],
    /// Of each step, whether it stands for changes in a text; none does where this is shorter.
    inside: &'s [bool],
    moves: OnceCell<Vec<bool>>,
}

impl<'s> Course<'s> {
    /// `value` is what the document says before the steps. `inside` says of which of them that they stand for changes in a
    /// text.
    pub(super) fn new(value: &'s Value, steps: &'s [&'s Step], inside: &'s [bool]) -> Course<'s> {
        Course { value, steps, inside, moves: OnceCell::new() }
    }

    fn is_inside(&self, number: usize) -> bool {
        self.inside.get(number) == Some(&true)
    }

    fn moves(&self) -> &[bool] {
        self.moves.get_or_init(|| moves(self.value, self.steps))
    }

    /// Whether each of the steps comes to nothing.
    pub(super) fn moot(&self) -> Vec<bool> {
        let steps = self.steps;
        let mut moot = vec![false; steps.len()];
        for taker in takers(steps).into_iter().filter(|taker| !self.is_inside(*taker)) {
            let Some(step) = steps.get(taker) else { continue };
            let mut place = step.path.clone();
            let mut undoes = matches!(step.action, Action::Remove);
            let before = steps.iter().zip(self.moves()).zip(&mut moot).enumerate().take(taker).rev();
            let mut is_undone = false;
            for (number, ((earlier, moves), moot)) in before {
                let is_of_it = earlier.path == place && (self.is_inside(number) || only_replaces(earlier));
                if is_of_it || (earlier.path.len() > place.len() && earlier.path.starts_with(&place)) {
                    *moot = true;
                    continue;
                }
                if undoes && earlier.path == place && matches!(earlier.action, Action::Add(_)) {
                    (*moot, is_undone) = (true, true);
                    break;
                }
                undoes &= *moot || !counts_on(earlier, &place);
                if !go_back(&mut place, earlier, *moves) {
                    break;
                }
            }
            if let Some(moot) = moot.get_mut(taker).filter(|_| is_undone) {
                *moot = true;
            }
        }
        moot
    }

    /// Whether a step writes what its operation took out elsewhere.
    pub(super) fn is_move(&self, number: usize) -> bool {
        let of_it = |step: &&&Step| {
            self.steps.get(number).is_some_and(|other| other.origin.is_of_one_operation_with(&step.origin))
        };
        self.steps.iter().find(of_it).is_some_and(|first| matches!(first.action, Action::Remove))
    }

    /// Where what a step takes from elsewhere stood before all steps, of which it is the one of that number; `None` where
    /// they brought it.
    pub(super) fn origin_of(&self, number: usize) -> Option<Vec<String>> {
        let step = self.steps.get(number)?;
        let mut place = step.taken()?.to_vec();
        let first = self.steps.iter().position(|other| other.origin.is_of_one_operation_with(&step.origin))?;
        let (before, moves) = (self.steps.get(..first)?, self.moves().get(..first)?);
        let stays = |(earlier, moves): (&&Step, &bool)| go_back(&mut place, earlier, *moves);
        before.iter().zip(moves).rev().all(stays).then_some(place)
    }
}

/// The steps that may take away what an earlier one is about: their numbers. Indices count as equal, as they move.
fn takers(steps: &[&Step]) -> Vec<usize> {
    let is_index = |token: &String| token.bytes().all(|byte| byte.is_ascii_digit());
    let shape = |step: &Step| -> Vec<String> {
        step.path.iter().map(|token| if is_index(token) { "0".to_owned() } else { token.clone() }).collect()
    };
    let shapes: Vec<Vec<String>> = steps.iter().map(|step| shape(step)).collect();
    let mut around: HashSet<&[String]> = HashSet::new();
    let mut takers = Vec::new();
    for (number, (step, shape)) in steps.iter().zip(&shapes).enumerate() {
        if !matches!(step.action, Action::Add(_)) && around.contains(shape.as_slice()) {
            takers.push(number);
        }
        around.extend((0..=shape.len()).filter_map(|length| shape.get(..length)));
    }
    takers
}

/// Whether each step is about an item of a list, whose removal or addition moves others; no more of them than fit.
fn moves(value: &Value, steps: &[&Step]) -> Vec<bool> {
    let mut value = value.clone();
    let is_in_list = |value: &Value, step: &Step| {
        let parents = step.path.split_last().map_or(&[][..], |(_, parents)| parents);
        value.pointer(&crate::change::pointer(parents)).is_some_and(Value::is_array) && !step.path.is_empty()
    };
    let moves = |step: &&Step| {
        let moves = is_in_list(&value, step) && !matches!(step.action, Action::Replace(_));
        apply(&mut value, step).ok().map(|()| moves)
    };
    steps.iter().map_while(moves).collect()
}

/// Whether a step is in a list that an item is at that place of: its path counts on the items before it.
fn counts_on(step: &Step, place: &[String]) -> bool {
    let is_index = |token: &String| token.bytes().all(|byte| byte.is_ascii_digit());
    place.split_last().is_some_and(|(last, parents)| is_index(last) && step.path.starts_with(parents))
}

/// Whether a step puts another value in the place of one, and leaves nothing else there.
fn only_replaces(step: &Step) -> bool {
    matches!(&step.action, Action::Replace(new) if new.comment.is_none())
}

/// Where what stands at a place stood before a step; false where the step brought it.
fn go_back(place: &mut [String], step: &Step, moves: bool) -> bool {
    let goes = matches!(step.action, Action::Remove);
    if place.starts_with(&step.path) && !(moves && goes) {
        return false;
    }
    let Some((last, parents)) = step.path.split_last().filter(|_| moves) else { return true };
    let is_beside = place.starts_with(parents);
    let index = place.get_mut(parents.len()).filter(|_| is_beside);
    if let Some(index) = index
        && let (Ok(at), Ok(moved)) = (index.parse::<usize>(), last.parse::<usize>())
        && at >= moved
    {
        *index = if goes { at + 1 } else { at - 1 }.to_string();
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::patch::path::Path;
    use crate::patch::step::{New, Origin};

    fn step(action: &str, path: &str) -> Step {
        let new = New { value: json!([0, [1]]), spelled: None, comment: None };
        let action = match action {
            "add" => Action::Add(new),
            "replace" => Action::Replace(new),
            _ => Action::Remove,
        };
        let origin = Origin { patch: "p".into(), change: 0, operation: 0, keyed: Path::default() };
        Step { action, path: path.split('/').skip(1).map(str::to_owned).collect(), origin }
    }

    /// The steps that come to nothing, by their numbers.
    fn moot_of(steps: &[(&str, &str)]) -> Vec<usize> {
        let value = json!({"l": [["a", "b"], ["c", "d"], {"0": "x", "1": {"y": 1}}], "m": {"k": {"v": 1}, "w": [1]}});
        let steps: Vec<Step> = steps.iter().map(|(action, path)| step(action, path)).collect();
        let moot = Course::new(&value, &steps.iter().collect::<Vec<_>>(), &[]).moot();
        moot.iter().enumerate().filter(|(_, moot)| **moot).map(|(number, _)| number).collect()
    }

    #[test]
    fn what_goes_with_something_around_it_is_moot() {
        assert_eq!(moot_of(&[("remove", "/l/0/1"), ("remove", "/l/0")]), [0]);
        assert_eq!(moot_of(&[("replace", "/m/k/v"), ("replace", "/m/k")]), [0]);
        assert_eq!(moot_of(&[("add", "/m/k/u"), ("remove", "/m/w/0"), ("remove", "/m")]), [0, 1]);
        assert_eq!(moot_of(&[("add", "/m/k/u"), ("add", "/m/n"), ("remove", "/m")]), [0, 1]);
        assert_eq!(
            moot_of(&[("remove", "/m/k/v"), ("replace", "/m/k"), ("replace", "/m/k"), ("remove", "/m/k")]),
            [0, 1, 2]
        );
    }

    #[test]
    fn items_are_followed_to_where_they_were() {
        assert_eq!(moot_of(&[("remove", "/l/1/0"), ("remove", "/l/0"), ("remove", "/l/0")]), [0]);
        assert_eq!(moot_of(&[("remove", "/l/1/0"), ("remove", "/l/0"), ("remove", "/l/1")]), [0; 0]);
        assert_eq!(moot_of(&[("remove", "/l/0/0"), ("add", "/l/0"), ("remove", "/l/1")]), [0]);
        assert_eq!(moot_of(&[("remove", "/l/0/0"), ("add", "/l/0"), ("remove", "/m"), ("remove", "/l/0")]), [1, 3]);
        assert_eq!(moot_of(&[("remove", "/l/0/0"), ("add", "/l/1"), ("remove", "/l/0")]), [0]);
        assert_eq!(moot_of(&[("replace", "/l/2/1/y"), ("remove", "/l/2/0"), ("remove", "/l/2/1")]), [0]);
    }

    #[test]
    fn what_was_brought_and_taken_away_is_moot_with_its_removal() {
        assert_eq!(moot_of(&[("add", "/m/n"), ("remove", "/m/n")]), [0, 1]);
        assert_eq!(
            moot_of(&[("add", "/m/n"), ("add", "/m/n/0"), ("replace", "/m/n"), ("remove", "/m/n")]),
            [0, 1, 2, 3]
        );
        assert_eq!(moot_of(&[("remove", "/m/k"), ("add", "/m/k"), ("remove", "/m/w"), ("remove", "/m/k")]), [1, 3]);
        assert_eq!(moot_of(&[("add", "/l/0"), ("remove", "/m/w"), ("remove", "/l/0")]), [0, 2]);
        assert_eq!(moot_of(&[("add", "/l/0"), ("add", "/l/0"), ("remove", "/l/0"), ("remove", "/l/0")]), [0, 1, 2, 3]);
        assert_eq!(moot_of(&[("add", "/l/0"), ("remove", "/l/1/0"), ("remove", "/l/0")]), [0; 0]);
        assert_eq!(moot_of(&[("add", "/l/1"), ("remove", "/l/0"), ("remove", "/l/0")]), [0; 0]);
        assert_eq!(moot_of(&[("add", "/l/0"), ("remove", "/l/1")]), [0; 0]);
        assert_eq!(moot_of(&[("replace", "/m/k"), ("add", "/m/n"), ("replace", "/m/n")]), [0; 0]);
    }

    #[test]
    fn what_stays_is_made() {
        assert_eq!(moot_of(&[("remove", "/l/0"), ("replace", "/m/k")]), [0; 0]);
        assert_eq!(moot_of(&[("remove", "/m/k"), ("replace", "/m/k/v")]), [0; 0]);
        assert_eq!(moot_of(&[("remove", "/m/k/v"), ("add", "/m/q")]), [0; 0]);
        assert_eq!(moot_of(&[("remove", "/m/k/v"), ("remove", "/m/q/v")]), [0; 0]);
        assert_eq!(moot_of(&[("remove", "/m/k/v"), ("add", "/m/k/v"), ("remove", "/m/k")]), [0, 1]);
    }
}
