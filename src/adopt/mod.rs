//! An overlay out of a copy that was edited by hand: one patch for each departure, its reason left open.
//!
//! What is written here is tried before anyone sees it: the patches are read, built on the base, and must give the very
//! documents of the copy. Where a patch that follows the differences closely does not, one that replaces more does.
//! Nothing here touches the disk.

mod comments;
mod family;
mod names;
mod operations;
mod settle;
mod write;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::build;
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Source};
use crate::diff::{Difference, Document, pair_documents};
use crate::layer::digest;
use crate::layer::manifest::{self, Entry};
use crate::layer::plan::{Plan, Scoped};
use crate::patch::Patch;
use crate::patch::path::Segment;
use crate::resource::Identity;
use comments::Comments;
use family::{Names, Placed, families, slug};
use operations::{Act, Level, Operation, operations};
use write::{Change, PatchFile};

/// How many documents that may have been renamed a finding names.
const MAX_RENAMED: usize = 5;

/// Whether a difference in the document of that identity is a departure. The value is the copy's document.
pub type Departs = fn(&Identity, &Difference, &Value) -> bool;

/// Every difference is.
pub fn all_depart(_: &Identity, _: &Difference, _: &Value) -> bool {
    true
}

/// How a server's answer is taken, which has more than anyone applied, and often less than all of it.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Makes of what a document is wanted to be and of what the server has what someone would have applied.
    pub settle: fn(&Identity, &Value, &Value) -> Value,
    /// Whether the values of Secrets are adopted.
    pub with_secrets: bool,
    /// Gives a Secret of the answer the values that are wanted; false where it has them already.
    pub withhold: fn(&Identity, &Value, &mut Value) -> bool,
    /// Whether documents that the answer lacks are taken out.
    pub deletes: bool,
}

/// What is adopted.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The documents and patches that the overlay stands on; of an overlay that is added to, its own too.
    pub plan: Plan,
    /// What they give: the text that the copy is compared with.
    pub before: &'a Arc<Source>,
    /// The copy.
    pub file: &'a Arc<Source>,
    /// Names that patches of the overlay have already.
    pub taken: HashSet<String>,
    /// Which differences are departures; the others are not made.
    pub departs: Departs,
    /// Of a server's answer, how it is taken. Documents that it alone has are passed over, and Lists are opened.
    pub answer: Option<Answer>,
    /// The one patch that all departures are to be; `None` makes one of each, or of each family of them.
    pub single: Option<Single>,
}

/// One patch for all departures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Single {
    /// Its name.
    pub name: String,
    /// What it does, where that is known.
    pub summary: Option<String>,
    /// Why it is needed, where that is known.
    pub why: Option<String>,
}

/// The files of an adopted overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// The patches, in the order in which they apply.
    pub patches: Vec<File>,
    /// Documents that only the copy has.
    pub resources: Vec<File>,
    /// How many documents of a server's answer were passed over.
    pub others: usize,
    /// Documents that a server's answer lacks, and that were left as they are.
    pub lacking: Vec<String>,
    /// Secrets of a server's answer whose values were left out.
    pub withheld: Vec<String>,
    /// Documents that are taken out, each with one that only the copy has and that may be it under another name.
    pub renamed: Vec<(String, String)>,
}

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the overlay's folder.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What it is for, in a line.
    pub summary: String,
    /// Whether it may hold what a Secret holds.
    pub is_secret: bool,
}

/// The patches and resources that make the copy of what is there. `None` and findings where there are none.
pub fn adopt(adoption: Adoption<'_>, findings: &mut Findings) -> Option<Adopted> {
    let before = manifest::read(adoption.before, findings)?;
    let after = manifest::read_resources(adoption.file, findings)?;
    let lists = |entries: &[Entry]| entries.iter().any(|entry| manifest::is_list(&entry.identity));
    // Where both are Lists they stay Lists; `kubectl get` puts into a List what was none.
    let opens = lists(&after) && !lists(&before);
    // One patch is of one document, and an item of a List is a document to its target.
    let opens_both = (adoption.single.is_some() || adoption.answer.is_some()) && lists(&before);
    let before = if opens_both { manifest::flatten(before) } else { before };
    let after = if opens || opens_both { manifest::flatten(after) } else { after };
    let mut adopter = Adopter { opened: opens_both, ..Adopter::new(adoption, before, after) };
    findings.keep(adopter.any_pair())?;
    loop {
        let files = adopter.write(findings)?;
        let mut tried = Findings::new();
        let wrong = adopter.wrong(&files, &mut tried);
        if wrong.is_empty() {
            return Some(files);
        }
        if !adopter.coarsen(&wrong) {
            findings.add(adopter.refused(&wrong));
            findings.extend(tried.into_vec().into_iter().filter(Diagnostic::is_error));
            return None;
        }
    }
}

/// The overlay.yaml of a new overlay.
pub fn overlay_file(name: &str, description: &str, base: &str, adopted: &Adopted) -> String {
    let paths = |files: &[File]| files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    write::overlay(name, description, base, &paths(&adopted.resources), &paths(&adopted.patches))
}

struct Adopter<'a> {
    plan: Plan,
    /// How many patches the plan has of its own.
    given: usize,
    before_source: &'a Arc<Source>,
    file: &'a Arc<Source>,
    taken: HashSet<String>,
    single: Option<Single>,
    /// How a server's answer is taken, where the copy is one.
    answer: Option<Answer>,
    /// Secrets whose values were left out.
    withheld: Vec<String>,
    /// Whether Lists of the documents that are there were opened.
    opened: bool,
    before: Vec<Entry>,
    after: Vec<Entry>,
    pairs: Vec<(Option<usize>, Option<usize>)>,
    /// By the index of a pair.
    levels: Vec<Level>,
    /// The targets that were found, by the index of a pair.
    targets: HashMap<usize, Value>,
    /// Which pairs each patch is about, by the patch's name.
    about: HashMap<String, Vec<usize>>,
}

impl<'a> Adopter<'a> {
    fn new(adoption: Adoption<'a>, before: Vec<Entry>, after: Vec<Entry>) -> Adopter<'a> {
        let pairs = pair_documents(&as_documents(&before), &as_documents(&after), &[]);
        let mut after = after;
        let mut withheld = Vec::new();
        for (before, entry) in pairs.iter().filter_map(|(b, a)| Some((before.get((*b)?)?, (*a)?))) {
            let Some(entry) = after.get_mut(entry) else { continue };
            if let Some(answer) = adoption.answer {
                entry.value = (answer.settle)(&before.identity, &before.value, &entry.value);
                if !answer.with_secrets && (answer.withhold)(&before.identity, &before.value, &mut entry.value) {
                    withheld.push(before.identity.to_string());
                }
            }
            let departs = |difference: &Difference| (adoption.departs)(&before.identity, difference, &entry.value);
            entry.value = settle::settled(&before.value, &entry.value, departs);
        }
        let levels = vec![Level::Families; pairs.len()];
        Adopter {
            given: adoption.plan.patches.len(),
            plan: adoption.plan,
            before_source: adoption.before,
            file: adoption.file,
            taken: adoption.taken,
            single: adoption.single,
            answer: adoption.answer,
            withheld,
            opened: false,
            before,
            after,
            pairs,
            levels,
            targets: HashMap::new(),
            about: HashMap::new(),
        }
    }

    /// Refuses a copy that shares no document with what is there: all would be taken out and put back whole, and no patch
    /// would say what the copy has otherwise. A server's answer may well have none.
    fn any_pair(&self) -> Result<(), Box<Diagnostic>> {
        let is_pair = |pair: &(Option<usize>, Option<usize>)| pair.0.is_some() && pair.1.is_some();
        if self.answer.is_some() || self.before.is_empty() || self.after.is_empty() || self.pairs.iter().any(is_pair) {
            return Ok(());
        }
        let (copy, there) = (&self.file.name, &self.before_source.name);
        let message = format!("{copy} has no document in common, by kind and name, with {there}");
        let mut finding = Diagnostic::new(Code::EditRefused, message);
        let renamed = self.renamed();
        for (old, new) in renamed.iter().take(MAX_RENAMED) {
            finding = finding.note(format!("{new} may be {old} under another name."));
        }
        Err(Box::new(finding.help(if renamed.is_empty() {
            "Name the base or the overlay that this is a copy of."
        } else {
            "Documents that were renamed are not followed. Make the copy with the names of the base, in kustomize without \
             `namePrefix` and `nameSuffix`, and adopt that; then write each new name as a patch."
        })))
    }

    /// Documents that the copy lacks, each with one of its kind that only the copy has and whose name is the old one with
    /// something before or behind it.
    fn renamed(&self) -> Vec<(String, String)> {
        let only =
            |entries: &'_ [Entry], at: Option<usize>| at.and_then(|at| entries.get(at)).map(|e| e.identity.clone());
        let gone = self.pairs.iter().filter(|pair| pair.1.is_none()).filter_map(|pair| only(&self.before, pair.0));
        let new: Vec<Identity> =
            self.pairs.iter().filter(|pair| pair.0.is_none()).filter_map(|pair| only(&self.after, pair.1)).collect();
        let mut by_kind: HashMap<(&str, &str), Vec<&Identity>> = HashMap::new();
        for identity in &new {
            by_kind.entry((&identity.group, &identity.kind)).or_default().push(identity);
        }
        let renamed = gone.filter_map(|old| {
            let is_it = |new: &&&Identity| {
                !old.name.is_empty() && (new.name.starts_with(&old.name) || new.name.ends_with(&old.name))
            };
            let fellows = by_kind.get(&(old.group.as_str(), old.kind.as_str()))?;
            let nearest = fellows.iter().filter(is_it).min_by_key(|new| new.name.len())?;
            Some((old.to_string(), nearest.to_string()))
        });
        renamed.collect()
    }

    /// Writes the patches at the present levels.
    fn write(&mut self, findings: &mut Findings) -> Option<Adopted> {
        self.about.clear();
        let mut names = Names::without(self.taken.clone());
        let placed = self.placed();
        let mut patches = Vec::new();
        let families = match self.single {
            Some(_) if placed.is_empty() => Vec::new(),
            Some(_) => vec![(0..placed.len()).collect()],
            None => families(&placed),
        };
        for family in families {
            let members: Vec<&Placed> = family.iter().filter_map(|index| placed.get(*index)).collect();
            patches.extend(self.patch(&members, &mut names, findings)?);
        }
        let gone: Vec<usize> = (0..self.pairs.len()).filter(|pair| self.is_gone(*pair)).collect();
        let Some(answer) = self.answer else {
            patches.extend(self.deletions(gone, &mut names, findings)?);
            let (resources, renamed) = (self.resources(), self.renamed());
            return Some(Adopted { patches, resources, renamed, ..Adopted::default() });
        };
        let mut adopted = Adopted { withheld: self.withheld.clone(), ..Adopted::default() };
        if answer.deletes {
            patches.extend(self.deletions(gone, &mut names, findings)?);
        } else {
            adopted.lacking = gone.into_iter().map(|pair| self.name(pair)).collect();
        }
        let others = self.pairs.iter().filter(|pair| pair.0.is_none()).count();
        Some(Adopted { patches, others, ..adopted })
    }

    /// The operations of every pair that differs. A pair that no operations could be found for goes to the next level
    /// at once; at the last there always are some.
    fn placed(&mut self) -> Vec<Placed> {
        let mut out = Vec::new();
        for (index, (before, after)) in self.pairs.iter().enumerate() {
            let (Some(before), Some(after)) =
                (before.and_then(|at| self.before.get(at)), after.and_then(|at| self.after.get(at)))
            else {
                continue;
            };
            let Some(level) = self.levels.get_mut(index) else { continue };
            let found = loop {
                match (operations(&before.value, &after.value, *level), level.coarser()) {
                    (None, Some(coarser)) => *level = coarser,
                    (found, _) => break found.unwrap_or_default(),
                }
            };
            out.extend(found.into_iter().map(|operation| Placed { document: index, level: *level, operation }));
        }
        out
    }

    fn patch(&mut self, members: &[&Placed], names: &mut Names, findings: &mut Findings) -> Option<Vec<File>> {
        let operations: Vec<&Operation> = members.iter().map(|placed| &placed.operation).collect();
        let single = self.single.clone();
        let name = single.as_ref().map_or_else(|| names.of_family(&operations), |single| single.name.clone());
        let mut comments: Vec<String> = Vec::new();
        let mut changes: Vec<(usize, Change<'_>)> = Vec::new();
        for Placed { document, operation, .. } in members {
            let near = self.comments(*document, operation);
            for comment in near.above {
                if !comments.contains(&comment) {
                    comments.push(comment);
                }
            }
            let goes_on = changes.last_mut().filter(|(of, change)| {
                of == document && change.operations.last().is_some_and(|(other, _)| other.within == operation.within)
            });
            if let Some((_, change)) = goes_on {
                change.operations.push((operation, near.trailing));
            } else {
                let target = self.target(*document, findings)?;
                changes.push((*document, Change { target, operations: vec![(operation, near.trailing)] }));
            }
        }
        let about: Vec<usize> = changes.iter().map(|(document, _)| *document).collect();
        let (summary, why) = single.map_or((None, None), |single| (single.summary, single.why));
        let summary = summary.unwrap_or_else(|| self.summary(members));
        let changes = changes.into_iter().map(|(_, change)| change).collect();
        let is_secret = members.iter().any(|placed| self.holds_a_secret(placed));
        let file = File { is_secret, ..patch_file(&PatchFile { name: &name, summary, why, comments, changes }) };
        self.about.insert(name, about);
        Some(Vec::from([file]))
    }

    /// Whether the copy lacks the document of a pair.
    fn is_gone(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(|(before, after)| before.is_some() && after.is_none())
    }

    /// Whether an operation may write or repeat a value of a Secret.
    fn holds_a_secret(&self, placed: &Placed) -> bool {
        let before = self.pairs.get(placed.document).and_then(|pair| self.before.get(pair.0?));
        let Operation { path, within, .. } = &placed.operation;
        let field = within.as_ref().map_or(path, |(path, _)| path).segments().first();
        let is_told = matches!(field, Some(Segment::Key(key)) if !["data", "stringData"].contains(&key.as_str()));
        before.is_some_and(|entry| entry.identity.is_secret()) && !is_told
    }

    /// The patch that takes out what the copy leaves out.
    fn deletions(&mut self, gone: Vec<usize>, names: &mut Names, findings: &mut Findings) -> Option<Vec<File>> {
        if gone.is_empty() {
            return Some(Vec::new());
        }
        let mut target =
            |index: &usize| Some(Change { target: self.target(*index, findings)?, operations: Vec::new() });
        let changes: Option<Vec<Change<'_>>> = gone.iter().map(&mut target).collect();
        let summary = match gone.as_slice() {
            [one] => format!("Leave out {}", self.name(*one)),
            _ => format!("Leave out {} documents", gone.len()),
        };
        let name = names.unique("left-out");
        let file = patch_file(&PatchFile { name: &name, summary, why: None, comments: Vec::new(), changes: changes? });
        self.about.insert(name, gone);
        Some(Vec::from([file]))
    }

    fn resources(&self) -> Vec<File> {
        let mut names = Names::default();
        let new = self.pairs.iter().filter(|pair| pair.0.is_none()).filter_map(|pair| self.after.get(pair.1?));
        new.map(|entry| {
            let identity = &entry.identity;
            let name = names.unique(&slug(&format!("{}-{}", identity.kind, identity.name)));
            let whole = self.file.text.get(entry.range.clone()).filter(|_| entry.prefix.is_empty());
            let is_yaml = |text: &&str| !text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
            let text = whole.filter(is_yaml).map_or_else(|| write::document(&entry.value), with_line_break);
            let path = format!("resources/{name}.yaml");
            File { path, text, summary: identity.to_string(), is_secret: identity.is_secret() }
        })
        .collect()
    }

    /// The target that means the document of a pair alone, found once.
    fn target(&mut self, pair: usize, findings: &mut Findings) -> Option<Value> {
        if let Some(target) = self.targets.get(&pair) {
            return Some(target.clone());
        }
        let target = self.pairs.get(pair).and_then(|pair| write::target(&self.before, pair.0?));
        if let Some(target) = &target {
            self.targets.insert(pair, target.clone());
        } else {
            let message = format!("no target means {} alone, so that no patch can be written for it", self.name(pair));
            let help = "Two documents of the base have one identity. Leave one out by `keep` in base.yaml.";
            findings.add(Diagnostic::new(Code::TargetCount, message).help(help));
        }
        target
    }

    fn name(&self, pair: usize) -> String {
        let Some((before, after)) = self.pairs.get(pair) else { return String::new() };
        let entry = before.and_then(|at| self.before.get(at)).or(after.and_then(|at| self.after.get(at)));
        entry.map(|entry| entry.identity.to_string()).unwrap_or_default()
    }

    fn comments(&self, pair: usize, operation: &Operation) -> Comments {
        let Some((Some(before), Some(after))) = self.pairs.get(pair) else { return Comments::default() };
        let (Some(before), Some(after)) = (self.before.get(*before), self.after.get(*after)) else {
            return Comments::default();
        };
        let upstream = self.before_source.text.get(before.range.clone()).unwrap_or_default();
        comments::near(upstream, after, self.file, operation)
    }

    fn summary(&self, members: &[&Placed]) -> String {
        let Some(first) = members.first() else { return String::new() };
        let verb = match first.operation.act {
            Act::Add(_) => "Add",
            Act::Replace { .. } => "Change",
            Act::Remove { .. } => "Take out",
            Act::Move { .. } => "Move",
        };
        let (place, document) = (place(&first.operation), self.name(first.document));
        let more = match members.len() - 1 {
            0 => return format!("{verb} {place} in {document}"),
            1 => "1 more place".to_owned(),
            more => format!("{more} more places"),
        };
        if members.iter().all(|member| member.document == first.document) {
            return format!("{verb} {place} and {more} in {document}");
        }
        format!("{verb} {place} in {document}, and {more}")
    }

    /// The pairs that the patches do not make equal.
    fn wrong(&mut self, adopted: &Adopted, tried: &mut Findings) -> Vec<usize> {
        self.plan.patches.truncate(self.given);
        let scope = 0..self.plan.documents.len();
        for file in &adopted.patches {
            let read = Patch::read(&Source::new(file.path.clone(), file.text.clone()), tried);
            self.plan.patches.extend(read.map(|patch| Scoped { patch: Arc::new(patch), scope: scope.clone() }));
        }
        let built = if tried.has_errors() { None } else { build::build(&self.plan, &[], tried) };
        let Some(built) = built else { return self.blamed(tried) };
        let result = manifest::read(&Source::new("the result", built.text), tried).unwrap_or_default();
        let result = if self.opened { manifest::flatten(result) } else { result };
        let mut digests: HashMap<String, usize> = HashMap::new();
        for entry in result {
            *digests.entry(digest::content(&entry.value)).or_default() += 1;
        }
        let paired = self.pairs.iter().enumerate().filter(|(_, pair)| pair.0.is_some());
        let mut is_there = |after: &Entry| match digests.get_mut(&digest::content(&after.value)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        };
        let missing =
            paired.filter(|(_, pair)| pair.1.and_then(|at| self.after.get(at)).is_some_and(|after| !is_there(after)));
        missing.map(|(index, _)| index).collect()
    }

    /// The pairs of the patches that failed; all, where that is not known.
    fn blamed(&self, tried: &Findings) -> Vec<usize> {
        let failed = tried.iter().filter(|finding| finding.is_error()).filter_map(|finding| finding.patch.as_ref());
        let mut pairs: Vec<usize> = failed.filter_map(|name| self.about.get(name)).flatten().copied().collect();
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.is_empty() { (0..self.pairs.len()).collect() } else { pairs }
    }

    /// Goes to a coarser level for those pairs; false where none of them has one.
    fn coarsen(&mut self, pairs: &[usize]) -> bool {
        let mut any = false;
        for pair in pairs {
            if let Some(level) = self.levels.get_mut(*pair)
                && let Some(coarser) = level.coarser()
            {
                *level = coarser;
                any = true;
            }
        }
        any
    }

    fn refused(&self, wrong: &[usize]) -> Diagnostic {
        let names: Vec<String> = wrong.iter().take(5).map(|pair| self.name(*pair)).collect();
        let message = format!("no patch was found that makes {} what {} says", names.join(", "), self.file.name);
        Diagnostic::new(Code::EditRefused, message)
            .note("What follows says why the last try failed.")
            .help("Write the patch by hand.")
    }
}

/// Where an operation is; of an item that comes into a list, which one and which list.
fn place(operation: &Operation) -> String {
    let segments = operation.path.segments().len();
    match &operation.act {
        Act::Add(value) if operation.item == Some(segments) => {
            let name = value.get("name").and_then(Value::as_str);
            format!("{} to {}", name.unwrap_or("an item"), operation.path.first(segments - 1))
        }
        _ => operation.path.to_string(),
    }
}

fn as_documents(entries: &[Entry]) -> Vec<Document<'_>> {
    entries.iter().map(|entry| Document { identity: entry.identity.clone(), value: &entry.value }).collect()
}

fn patch_file(file: &PatchFile<'_>) -> File {
    let path = format!("patches/{}.yaml", file.name);
    File { path, text: write::patch(file), summary: file.summary.clone(), is_secret: false }
}

fn with_line_break(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
