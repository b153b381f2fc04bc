//! Every difference to the one patch that claims it, and every claim to the differences that it makes.
//!
//! Each document is compared with its base twice: as it is, and as the claims say that it becomes. Both comparisons
//! speak of places of the base, so what is in both is explained, what is only in the first no claim covers, and what
//! is only in the second is missing. Whose a difference is, the tree of the claims knows (`shadow`).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::claims::{Act, Claim};
use super::shadow::{Edits, Fate, Id, Origin, Shadow, Side};
use super::split::Split;
use crate::diff::{
    At, Difference, Document, Item, Languages, Path, Rename, Step, What, Within, diff_values, pair_documents,
};
use crate::resource::Identity;

/// What was proven of a stream of documents.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// The documents, in the order of [`pair_documents`].
    pub documents: Vec<DocumentProof>,
    /// How each claim stands, in the order of the claims.
    pub standings: Vec<Standing>,
    /// Claims that a later claim of another patch undid or overwrote, in whole or in part.
    pub overrides: Vec<Override>,
}

impl Proof {
    /// Whether every difference belongs to a patch and every claim shows.
    pub fn holds(&self) -> bool {
        let documents = self.documents.iter().all(|d| d.undocumented.is_empty() && d.missing.is_empty());
        documents && !self.standings.iter().any(|s| matches!(s, Standing::Missing | Standing::Misfit(_)))
    }
}

/// What was proven of one document.
#[derive(Clone, Debug, Default)]
pub struct DocumentProof {
    /// Its index in the base; `None` for a document that is new.
    pub before: Option<usize>,
    /// Its index in the result; `None` for a document that is gone.
    pub after: Option<usize>,
    /// Differences that a claim explains.
    pub departures: Vec<Departure>,
    /// Differences that no claim explains.
    pub undocumented: Vec<Undocumented>,
    /// Where the claims take parts of the base out or bring others, in whatever way that reads as differences. No values.
    pub edits: Edits,
    /// The same inside the texts that they look into and that departures lie in.
    pub texts: Vec<TextEdits>,
    /// Differences that should be there, by a claim, and are not.
    pub missing: Vec<Departure>,
}

/// What the claims did inside a text.
#[derive(Clone, Debug)]
pub struct TextEdits {
    /// Where the text stands and what it is written in.
    pub within: Within,
    /// Where they take parts of it out or bring others, by ways inside it.
    pub edits: Edits,
}

/// A difference and the claim that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The difference. Where another patch claims a part of what is added, that part is a departure of its own.
    pub difference: Difference,
    /// The claim, by its index.
    pub claim: usize,
    /// Claims of other patches that have a part in it which is no departure of its own: of two that change an item without a
    /// name, both make one that is new.
    pub with: Vec<usize>,
}

/// A difference that no claim explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Undocumented {
    /// The difference.
    pub difference: Difference,
    /// The claim on the same place that wants another value there.
    pub claimed: Option<Claimed>,
}

/// What a claim wants at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The claim, by its index.
    pub claim: usize,
    /// The value; `None` where it wants nothing to be there.
    pub wanted: Option<Value>,
}

/// How a claim stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It shows.
    Shown,
    /// It changes nothing: the base has it.
    AlreadyUpstream,
    /// It changes nothing: that earlier claim did it.
    Repeats(usize),
    /// That later claim undid or overwrote it.
    Overridden(usize),
    /// All that it does is to undo that earlier claim.
    Undoes(usize),
    /// It changes nothing in the end.
    Idle,
    /// A difference that it should make is not there.
    Missing,
    /// It does not fit the base, and why.
    Misfit(String),
}

/// A claim that a later one undid or overwrote, in whole or in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    /// The earlier claim, by its index.
    pub claim: usize,
    /// The later claim.
    pub by: usize,
}

/// Holds a result against its base and what patches claim, in the order in which they apply.
pub fn attribute(base: &[Document<'_>], claims: &[Claim], result: &[Document<'_>]) -> Proof {
    let (shadows, fates) = shadows(base, claims);
    let renames = renames(base, &shadows);
    let mut ledger = Ledger { claims, shown: vec![false; claims.len()], missing: vec![false; claims.len()] };
    let documents = pair_documents(base, result, &renames)
        .into_iter()
        .map(|(before, after)| {
            let old = before.and_then(|index| base.get(index)).map(|document| document.value);
            let new = after.and_then(|index| result.get(index)).map(|document| document.value);
            let shadow = before.and_then(|index| shadows.get(&index));
            DocumentProof { before, after, ..prove(old, new, shadow, &mut ledger) }
        })
        .collect();
    let standings = (0..claims.len()).zip(fates).map(|(index, fate)| {
        let shadow = claims.get(index).and_then(|claim| shadows.get(&claim.document));
        ledger.standing(index, fate, shadow)
    });
    let standings = standings.collect();
    Proof { documents, standings, overrides: overrides(claims, base.len(), &shadows) }
}

/// What claims make of the documents of a base that a result has: the document's index in the base, that in the result,
/// and the value.
pub(super) fn wanted(base: &[Document<'_>], claims: &[Claim], result: &[Document<'_>]) -> Vec<(usize, usize, Value)> {
    let (shadows, _) = shadows(base, claims);
    let pairs = pair_documents(base, result, &renames(base, &shadows)).into_iter();
    let value = |before: usize| match shadows.get(&before) {
        Some(shadow) => shadow.value(),
        None => base.get(before).map(|document| document.value.clone()),
    };
    pairs.filter_map(|(before, after)| Some((before?, after?, value(before?)?))).collect()
}

/// The documents as claims make them, by their indices in the base, and how each claim went.
fn shadows(base: &[Document<'_>], claims: &[Claim]) -> (HashMap<usize, Shadow>, Vec<Fate>) {
    let mut fates: Vec<Fate> = Vec::with_capacity(claims.len());
    let mut shadows: HashMap<usize, Shadow> = HashMap::new();
    for (index, claim) in claims.iter().enumerate() {
        let Some(document) = base.get(claim.document) else {
            fates.push(Fate::Misfit("the base has no such document".into()));
            continue;
        };
        let shadow = shadows.entry(claim.document).or_insert_with(|| Shadow::new(document.value));
        fates.push(shadow.apply(index, claim));
    }
    (shadows, fates)
}

/// The documents that claims give another identity.
fn renames(base: &[Document<'_>], shadows: &HashMap<usize, Shadow>) -> Vec<Rename> {
    let rename = |(index, document): (usize, &Document<'_>)| {
        let after = Identity::of(&shadows.get(&index)?.value()?);
        (after != Identity::of(document.value)).then_some(Rename { before: index, after })
    };
    base.iter().enumerate().filter_map(rename).collect()
}

fn overrides(claims: &[Claim], documents: usize, shadows: &HashMap<usize, Shadow>) -> Vec<Override> {
    let patch = |index: usize| claims.get(index).map(|claim| claim.patch);
    let shadows = (0..documents).filter_map(|index| shadows.get(&index));
    let mut found: Vec<Override> = shadows
        .flat_map(Shadow::overrides)
        .filter(|(claim, by)| patch(*claim) != patch(*by) || write_the_same(claims.get(*claim), claims.get(*by)))
        .map(|&(claim, by)| Override { claim, by })
        .collect();
    found.sort_by_key(|o| (o.claim, o.by));
    found
}

/// Whether two operations of one patch write one place. What one of them takes out first, or writes a part of, is a way
/// to get there.
fn write_the_same(one: Option<&Claim>, other: Option<&Claim>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let written = |claim: &'_ Claim| match &claim.act {
        Act::Add { path, .. } | Act::Replace { path, .. } => Some(path.clone()),
        Act::Remove { .. } | Act::Move { .. } | Act::Copy { .. } | Act::Delete => None,
    };
    let place = |claim: &'_ Claim| Some((claim.within.clone(), written(claim)?));
    matches!(other.act, Act::Replace { .. })
        && (one.change, one.operation) != (other.change, other.operation)
        && place(one).is_some_and(|place_of_one| Some(place_of_one) == place(other))
}

/// What the claims were seen to do.
struct Ledger<'c> {
    claims: &'c [Claim],
    shown: Vec<bool>,
    missing: Vec<bool>,
}

impl Ledger<'_> {
    fn show(&mut self, claim: usize) {
        if let Some(shown) = self.shown.get_mut(claim) {
            *shown = true;
        }
    }

    fn miss(&mut self, claim: usize) {
        if let Some(missing) = self.missing.get_mut(claim) {
            *missing = true;
        }
    }

    fn standing(&self, index: usize, fate: Fate, shadow: Option<&Shadow>) -> Standing {
        match fate {
            Fate::Misfit(why) => return Standing::Misfit(why),
            Fate::Nothing(Origin::Base) => return Standing::AlreadyUpstream,
            Fate::Nothing(Origin::Claim(earlier)) => return Standing::Repeats(earlier),
            Fate::Done => {}
        }
        if self.missing.get(index) == Some(&true) {
            return Standing::Missing;
        }
        if self.shown.get(index) == Some(&true) {
            return Standing::Shown;
        }
        let Some(shadow) = shadow else { return Standing::Idle };
        let by = shadow.overrides().iter().find(|(claim, _)| *claim == index);
        let undone = shadow.overrides().iter().find(|(_, by)| *by == index);
        match (by, undone) {
            (Some((_, by)), _) => Standing::Overridden(*by),
            (_, Some((earlier, _))) => Standing::Undoes(*earlier),
            _ => shadow.fellow(index).map_or(Standing::Idle, Standing::Overridden),
        }
    }
}

fn prove(old: Option<&Value>, new: Option<&Value>, shadow: Option<&Shadow>, ledger: &mut Ledger<'_>) -> DocumentProof {
    let languages = |at: &[At<'_>]| shadow.and_then(|shadow| shadow.language(at));
    let found = differences(old, new, &languages);
    let Some(shadow) = shadow else {
        let undocumented = found.into_iter().map(|difference| Undocumented { difference, claimed: None }).collect();
        return DocumentProof { undocumented, ..DocumentProof::default() };
    };
    let intended = shadow.value();
    let expected = differences(old, intended.as_ref(), &languages);
    let mut matcher = Matcher::new(shadow, expected, ledger);
    for difference in found {
        matcher.take(difference);
    }
    let mut proof = DocumentProof { edits: shadow.edits(), ..matcher.finish() };
    proof.texts = text_edits(&proof, shadow);
    if let (Some(intended), Some(new)) = (&intended, new)
        && !shadow.is(new)
    {
        // What is explained stands at places where it should not.
        let left = diff_values(intended, new, &languages).into_iter();
        let left: Vec<Difference> = if proof.undocumented.is_empty() && proof.missing.is_empty() {
            left.filter(|difference| !shadow.is_layout(difference)).collect()
        } else {
            let told: HashSet<String> = told_lists(&proof).collect();
            let moved = left.filter(|difference| matches!(difference.what, What::Moved { .. }));
            moved.filter(|difference| !told.contains(&list_of(difference))).collect()
        };
        proof.undocumented.extend(left.into_iter().map(|difference| Undocumented { difference, claimed: None }));
    }
    proof
}

/// What the claims did inside each text that they entered and that a departure lies in.
fn text_edits(proof: &DocumentProof, shadow: &Shadow) -> Vec<TextEdits> {
    let mut seen = HashSet::new();
    let texts = proof.departures.iter().filter_map(|departure| departure.difference.within.as_ref());
    let is_entered = |within: &&Within| proof.edits.entered.iter().any(|path| path.after() == within.path.after());
    texts
        .filter(is_entered)
        .filter(|within| seen.insert(within.path.to_string()))
        .map(|within| {
            let edits = within.path.before().map(|at| shadow.edits_in_text(&at)).unwrap_or_default();
            TextEdits { within: within.clone(), edits }
        })
        .collect()
}

/// The lists and mappings in which something is told already.
fn told_lists(proof: &DocumentProof) -> impl Iterator<Item = String> + '_ {
    let undocumented = proof.undocumented.iter().map(|odd| &odd.difference);
    undocumented.chain(proof.missing.iter().map(|missing| &missing.difference)).map(list_of)
}

/// The list or mapping that a difference lies in, as it is shown.
fn list_of(difference: &Difference) -> String {
    let within = difference.within.as_ref().map(|within| within.path.to_string()).unwrap_or_default();
    let steps = difference.path.steps();
    let above = steps.split_last().map_or(&[][..], |(_, above)| above);
    let above = above.iter().map(|step| format!("/{step}"));
    std::iter::once(within).chain(above).collect::<Vec<_>>().join("\n")
}

fn differences(before: Option<&Value>, after: Option<&Value>, languages: Languages<'_>) -> Vec<Difference> {
    let whole = |what| vec![Difference { path: Path::default(), within: None, what }];
    match (before, after) {
        // A document whose bytes are the base's was read once.
        (Some(before), Some(after)) if std::ptr::eq(before, after) => Vec::new(),
        (Some(before), Some(after)) => diff_values(before, after, languages),
        (Some(before), None) => whole(What::Removed(before.clone())),
        (None, Some(after)) => whole(What::Added(after.clone())),
        (None, None) => Vec::new(),
    }
}

/// A place in terms of the base, by which what is found meets what is expected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Spot {
    within: Option<String>,
    parent: String,
    leaf: Leaf,
    moves: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Leaf {
    Top,
    Key(String),
    Item(usize),
    NewItem,
}

impl Spot {
    fn of(difference: &Difference) -> Spot {
        let steps = difference.path.steps();
        let (last, parent) = match steps.split_last() {
            Some((last, parent)) => (Some(*last), parent),
            None => (None, &[][..]),
        };
        let leaf = match last {
            None => Leaf::Top,
            Some(Step::Key(key)) => Leaf::Key(key.clone()),
            Some(Step::Item(item)) => item.before.map_or(Leaf::NewItem, Leaf::Item),
        };
        let within = difference.within.as_ref().map(|within| in_base_terms(&within.path.steps()));
        Spot { within, parent: in_base_terms(parent), leaf, moves: matches!(difference.what, What::Moved { .. }) }
    }
}

/// A way as a text that no other way has: each key with its length before it.
fn in_base_terms(steps: &[&Step]) -> String {
    let step = |step: &&Step| match step {
        Step::Key(key) => format!("/{}:{key}", key.len()),
        Step::Item(Item { before, .. }) => before.map_or("/+".to_owned(), |index| format!("/{index}")),
    };
    steps.iter().map(step).collect()
}

/// A difference that the claims say there is.
struct Expected {
    difference: Difference,
    claim: usize,
    with: Vec<usize>,
    met: bool,
}

/// Matches what is found with what is expected.
struct Matcher<'s, 'l, 'c> {
    shadow: &'s Shadow,
    expected: Vec<Expected>,
    spots: HashMap<Spot, Vec<usize>>,
    ledger: &'l mut Ledger<'c>,
    proof: DocumentProof,
}

impl<'s, 'l, 'c> Matcher<'s, 'l, 'c> {
    fn new(shadow: &'s Shadow, differences: Vec<Difference>, ledger: &'l mut Ledger<'c>) -> Self {
        let mut expected = Vec::with_capacity(differences.len());
        let mut spots: HashMap<Spot, Vec<usize>> = HashMap::new();
        for difference in differences {
            let owner = shadow.owner(&difference, &|claim| ledger.shown.get(claim) == Some(&true));
            for claim in &owner.all {
                ledger.show(*claim);
            }
            let Some(claim) = owner.claim else { continue };
            ledger.show(claim);
            spots.entry(Spot::of(&difference)).or_default().push(expected.len());
            let with = owner.all.into_iter().collect();
            expected.push(Expected { difference, claim, with, met: false });
        }
        Matcher { shadow, expected, spots, ledger, proof: DocumentProof::default() }
    }

    fn take(&mut self, difference: Difference) {
        let spot = Spot::of(&difference);
        let open = |at: &usize| self.expected.get(*at).is_some_and(|expected| !expected.met);
        let candidates: Vec<usize> = self.spots.get(&spot).into_iter().flatten().copied().filter(open).collect();
        let is_met =
            |at: &usize| self.expected.get(*at).is_some_and(|e| self.shadow.explains(&e.difference, &difference));
        if let Some(at) = candidates.iter().copied().find(is_met) {
            self.explain(at, difference);
            return;
        }
        let is_like = |at: &usize| {
            let expected = self.expected.get(*at);
            spot.leaf != Leaf::NewItem
                || expected.is_some_and(|e| {
                    e.difference.path.last().map(ToString::to_string) == difference.path.last().map(ToString::to_string)
                })
        };
        match candidates.iter().copied().find(is_like) {
            Some(at) => self.contradict(at, difference),
            None => self.proof.undocumented.push(Undocumented { difference, claimed: None }),
        }
    }

    /// A difference that is as it should be.
    fn explain(&mut self, at: usize, difference: Difference) {
        let Some(expected) = self.expected.get_mut(at) else { return };
        expected.met = true;
        let split = Split { shadow: self.shadow, claims: self.ledger.claims };
        let mut parts = split.difference(difference, expected.claim);
        let patch = |claim: &usize| self.ledger.claims.get(*claim).map(|claim| claim.patch);
        let mut told: HashSet<Option<usize>> = parts.iter().map(|part| patch(&part.claim)).collect();
        let with = expected.with.iter().filter(|claim| told.insert(patch(claim))).copied().collect();
        if let Some(first) = parts.first_mut() {
            first.with = with;
        }
        for part in parts {
            self.ledger.show(part.claim);
            self.proof.departures.push(part);
        }
    }

    /// A difference where one should be, but another. Where both bring lists or mappings, only the parts that are not
    /// alike are told.
    fn contradict(&mut self, at: usize, difference: Difference) {
        let Some(expected) = self.expected.get_mut(at) else { return };
        expected.met = true;
        let claim = expected.claim;
        let node = self.shadow.find(&expected.difference, Side::Result).node;
        let wanted = new_value(&expected.difference).cloned();
        let parts = match (&wanted, new_value(&difference), node) {
            (Some(wanted @ (Value::Object(_) | Value::Array(_))), Some(found), Some(node)) => {
                let parts = diff_values(wanted, found, &|_| None).into_iter();
                parts.filter(|part| !self.shadow.is_layout_below(node, part)).map(|part| (node, part)).collect()
            }
            _ => Vec::new(),
        };
        if parts.is_empty() || parts.iter().any(|(_, part)| part.path.last().is_none() && part.within.is_none()) {
            let claimed = Some(Claimed { claim, wanted });
            self.proof.undocumented.push(Undocumented { difference, claimed });
            return;
        }
        for (node, part) in parts {
            self.part(node, part, &difference, claim);
        }
        self.proof.departures.push(Departure { difference, claim, with: Vec::new() });
    }

    /// A part of what is new that is not what the claim brings. `node` is what it brings.
    fn part(&mut self, node: Id, part: Difference, whole: &Difference, claim: usize) {
        let claim = self.shadow.below(node, &part).claim.unwrap_or(claim);
        let join = |start: &Path, path: &Path| {
            path.steps().into_iter().fold(start.clone(), |joined, step| joined.join(as_new(step)))
        };
        // A text in a text is no place of its own.
        let (path, within) = match (part.within, &whole.within) {
            (Some(inner), None) => {
                let path = join(&whole.path, &inner.path);
                (join(&Path::default(), &part.path), Some(Within { path, language: inner.language }))
            }
            (Some(inner), Some(_)) => (join(&whole.path, &inner.path), whole.within.clone()),
            (None, _) => (join(&whole.path, &part.path), whole.within.clone()),
        };
        let here = |what| Difference { path, within, what };
        let (difference, claimed) = match part.what {
            What::Removed(value) => {
                self.ledger.miss(claim);
                self.proof.missing.push(Departure { difference: here(What::Added(value)), claim, with: Vec::new() });
                return;
            }
            What::Replaced { before, after } => {
                (here(What::Added(after)), Some(Claimed { claim, wanted: Some(before) }))
            }
            what @ (What::Added(_) | What::Moved { .. }) => (here(what), None),
        };
        self.proof.undocumented.push(Undocumented { difference, claimed });
    }

    fn finish(mut self) -> DocumentProof {
        for expected in self.expected {
            if !expected.met {
                let split = Split { shadow: self.shadow, claims: self.ledger.claims };
                let parts = split.difference(expected.difference, expected.claim);
                for part in parts {
                    self.ledger.miss(part.claim);
                    self.proof.missing.push(part);
                }
            }
        }
        self.proof
    }
}

/// What a difference puts there.
fn new_value(difference: &Difference) -> Option<&Value> {
    match &difference.what {
        What::Added(value) | What::Replaced { after: value, .. } => Some(value),
        What::Removed(_) | What::Moved { .. } => None,
    }
}

/// A step inside something that is new: nothing of it was there before.
fn as_new(step: &Step) -> Step {
    match step {
        Step::Key(_) => step.clone(),
        Step::Item(item) => {
            let after = item.after.or(item.before);
            Step::Item(Item { before: None, after, selector: item.selector.clone() })
        }
    }
}
