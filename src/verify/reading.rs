//! The two streams that are compared, read with their trees: the base from its files, the result from its text.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::base::Read;
use super::claims::{Act, Claim};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::layer::plan::Plan;
use crate::patch::path::{Path, Segment};
use crate::resource::identity::Written;
use crate::resource::{Identity, Target};
use crate::yaml::load::{self, Loaded};
use crate::yaml::stream;
use crate::yaml::tree::{Bytes, Tree};

/// A document of the base.
pub(super) struct BaseDocument<'a> {
    /// Its index among the plan's documents, which scopes speak of.
    pub(super) planned: usize,
    /// What it is called.
    pub(super) identity: Identity,
    /// Its file.
    pub(super) source: &'a Arc<Source>,
    /// Where its text begins in the file.
    pub(super) start: usize,
    /// The bytes of its text that go when it is deleted.
    pub(super) own: Bytes,
    /// Its text.
    pub(super) text: &'a str,
    /// The text's tree.
    pub(super) tree: Rc<Tree>,
    /// The tree's value.
    pub(super) loaded: Rc<Loaded>,
}

impl BaseDocument<'_> {
    /// It, as the checks of the base take it.
    pub(super) fn as_read(&self) -> Read<'_> {
        Read {
            source: self.source,
            start: self.start,
            tree: &self.tree,
            loaded: &self.loaded,
            identity: &self.identity,
        }
    }
}

/// A document of the result.
pub(super) struct ResultDocument {
    /// What it is called.
    pub(super) identity: Identity,
    /// Where its text begins in the result.
    pub(super) start: usize,
    /// Its text.
    pub(super) text: String,
    /// The text's tree.
    pub(super) tree: Rc<Tree>,
    /// The tree's value.
    pub(super) loaded: Rc<Loaded>,
}

/// The documents of the base that have content. One that cannot be read is told and left out.
pub(super) fn base<'a>(plan: &'a Plan, findings: &mut Findings) -> Vec<BaseDocument<'a>> {
    let mut read = Vec::new();
    for (planned, document) in plan.documents.iter().enumerate().filter(|(_, d)| d.identity.is_some()) {
        let (Some(source), text) = (plan.files.get(document.file), plan.text(document)) else { continue };
        match parse(source, document.range.start, text) {
            Ok((tree, loaded)) => read.push(BaseDocument {
                planned,
                identity: document.identity.as_deref().cloned().unwrap_or_default(),
                source,
                start: document.range.start,
                own: document.own.start - document.range.start..document.own.end - document.range.start,
                text,
                tree,
                loaded,
            }),
            Err(finding) => findings.add(*finding),
        }
    }
    read
}

/// The documents of a result that have content; `None` where one cannot be read. What has the bytes of a document of
/// the base says what that says, and is not read again.
pub(super) fn result(
    source: &Arc<Source>,
    base: &[BaseDocument<'_>],
    findings: &mut Findings,
) -> Option<Vec<ResultDocument>> {
    let known: HashMap<&str, &BaseDocument<'_>> = base.iter().map(|d| (d.text, d)).collect();
    let pieces = stream::split(&source.text).into_iter().filter(|p| p.content);
    let document = |piece: stream::Piece| {
        let text = piece.text(&source.text);
        let (tree, loaded) = match known.get(text) {
            Some(same) => (Rc::clone(&same.tree), Rc::clone(&same.loaded)),
            None => findings.keep(parse(source, piece.range.start, text))?,
        };
        let identity = tree.root().map(|root| Written::of(&tree, root).identity).unwrap_or_default();
        Some(ResultDocument { identity, start: piece.range.start, text: text.to_owned(), tree, loaded })
    };
    pieces.map(document).collect()
}

/// A text's tree and value.
type Parsed = (Rc<Tree>, Rc<Loaded>);

fn parse(source: &Arc<Source>, start: usize, text: &str) -> Result<Parsed, Box<Diagnostic>> {
    let unreadable = |message: String, span: Bytes| {
        let place = Place::new(source, start + span.start..start + span.end);
        Box::new(Diagnostic::new(Code::Syntax, format!("{} cannot be read as YAML", source.name)).at(place, message))
    };
    let tree = Tree::parse(text).map_err(|e| unreadable(e.message, e.offset..e.offset))?;
    let loaded = load::load(&tree, text).map_err(|e| unreadable(e.to_string(), e.at.clone()))?;
    Ok((Rc::new(tree), Rc::new(loaded)))
}

/// What a target means: a document of the base, or an item of a List.
pub(super) struct Hit {
    /// The document's index in the base.
    pub(super) document: usize,
    /// The item's index in `items` of the base, or once [`Hit::after`] was asked, where it is then.
    pub(super) item: Option<usize>,
}

impl Hit {
    /// The same where those claims leave it; `None` once it is gone.
    pub(super) fn after(&self, claims: &[Claim]) -> Option<Hit> {
        let acts = acts_on(self.document, claims);
        if acts.iter().any(|act| matches!(act, Act::Delete)) {
            return None;
        }
        let item = match self.item {
            None => None,
            Some(number) => Some(now(number, &acts)?),
        };
        Some(Hit { document: self.document, item })
    }

    /// A path in the resource, as a path in its document.
    pub(super) fn path(&self, path: &Path) -> Path {
        let Some(item) = self.item else { return path.clone() };
        let mut whole = Path::of_keys(["items".to_owned(), item.to_string()]);
        path.segments().iter().for_each(|segment| whole.push(segment.clone()));
        whole
    }

    /// What a deletion of the resource claims.
    pub(super) fn deletion(&self) -> Act {
        match self.item {
            None => Act::Delete,
            Some(_) => Act::Remove { path: self.path(&Path::default()) },
        }
    }
}

/// What claims do to a document itself, and not to a text in it.
fn acts_on(document: usize, claims: &[Claim]) -> Vec<&Act> {
    claims.iter().filter(|c| c.document == document && c.within.is_none()).map(|c| &c.act).collect()
}

/// What a target means among the documents of a scope, as the base has them.
pub(super) fn hits(base: &[BaseDocument<'_>], scope: &Range<usize>, target: &Target) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, document) in base.iter().enumerate().filter(|(_, d)| scope.contains(&d.planned)) {
        if target.matches(&document.identity, &document.loaded.value) {
            hits.push(Hit { document: index, item: None });
        }
        let is_list = document.identity.is_list();
        let items = document.loaded.value.get("items").and_then(|i| i.as_array()).filter(|_| is_list);
        for (number, item) in items.into_iter().flatten().enumerate() {
            if target.matches(&Identity::of(item), item) {
                hits.push(Hit { document: index, item: Some(number) });
            }
        }
    }
    hits
}

/// Where the item of that index stands after the acts; `None` once it is gone.
fn now(number: usize, acts: &[&Act]) -> Option<usize> {
    acts.iter().try_fold(number, |at, act| {
        let (path, added) = match act {
            Act::Remove { path } => (path, false),
            Act::Add { path, .. } => (path, true),
            _ => return Some(at),
        };
        let [Segment::Key(items), Segment::Key(index)] = path.segments() else { return Some(at) };
        match index.parse::<usize>() {
            Ok(index) if items == "items" && added && index <= at => Some(at + 1),
            Ok(index) if items == "items" && !added && index == at => None,
            Ok(index) if items == "items" && !added && index < at => Some(at - 1),
            _ => Some(at),
        }
    })
}

/// The comment behind a node on its last line, with its bytes.
pub(super) fn trailing_comment<'t>(tree: &Tree, text: &'t str, path: &[String]) -> Option<(Bytes, &'t str)> {
    let node = tree.node(load::find(tree, path)?);
    let end = node.span.end;
    let line_end = text.get(end..)?.find(['\n', '\r']).map_or(text.len(), |at| end + at);
    let span = tree.comment_in(end..line_end)?;
    Some((span.clone(), text.get(span)?))
}
