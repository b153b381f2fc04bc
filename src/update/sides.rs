//! The documents of an overlay on one upstream, while its patches change them.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::Value;

use crate::change::pointer;
use crate::config::Findings;
use crate::diag::{Diagnostic, Source};
use crate::embedded;
use crate::layer::documents::{self, Document};
use crate::layer::plan::Plan;
use crate::patch::lower::{Attempt, Site};
use crate::resource::{Identity, Target};

/// A document, or an item of a List.
pub(super) struct Resource {
    /// What it is called in the base.
    pub(super) identity: Identity,
    /// Its file, as an index of the plan's.
    pub(super) file: usize,
    /// What it says in the base.
    pub(super) original: Arc<Value>,
    /// What it says now.
    pub(super) state: Value,
    pub(super) deleted: bool,
    /// The texts in it that patches changed, by where they are: the string that is in `state`, and what it came to
    /// mean. They are not written back, because no text is made here.
    texts: HashMap<Vec<String>, (String, Value)>,
}

/// The documents on one upstream.
#[derive(Default)]
pub(super) struct Side(pub(super) Vec<Resource>);

/// A change, tried on a resource.
pub(super) struct Tried {
    /// The value before: the document's, or that of the text in it.
    pub(super) before: Value,
    /// What the operations do.
    pub(super) attempt: Attempt,
    text: Option<(Vec<String>, String)>,
    /// The value as upstream has it, before any patch, where that can be read.
    pub(super) published: Option<Arc<Value>>,
}

impl Side {
    /// The documents of a plan as its files have them. `replaced` gives the documents of a file in the place of its own.
    pub(super) fn new<'d>(
        plan: &Plan,
        replaced: impl Fn(&Arc<Source>) -> Option<Vec<&'d Document>>,
        findings: &mut Findings,
    ) -> Option<Side> {
        let mut side = Side::default();
        for (file, source) in plan.files.iter().enumerate() {
            match replaced(source) {
                Some(documents) => documents.into_iter().for_each(|d| side.push(file, d)),
                None => documents::read(source, findings)?.iter().for_each(|d| side.push(file, d)),
            }
        }
        Some(side)
    }

    /// Takes a document of a file in; the items of a List behind it.
    pub(super) fn push(&mut self, file: usize, document: &Document) {
        let resource = |identity: Identity, value: &Value| Resource {
            identity,
            file,
            original: Arc::new(value.clone()),
            state: value.clone(),
            deleted: false,
            texts: HashMap::new(),
        };
        self.0.push(resource(document.identity.clone(), &document.value));
        if document.identity.is_list() {
            let items = document.value.get("items").and_then(Value::as_array);
            self.0.extend(items.into_iter().flatten().map(|item| resource(Identity::of(item), item)));
        }
    }

    /// The resources of some files that a target means, by their indices.
    pub(super) fn meant(&self, files: &RangeInclusive<usize>, target: &Target) -> Vec<usize> {
        let meant = |r: &Resource| !r.deleted && files.contains(&r.file) && target.matches(&r.identity, &r.original);
        self.0.iter().enumerate().filter(|(_, r)| meant(r)).map(|(index, _)| index).collect()
    }

    /// Takes a resource out, and gives it.
    pub(super) fn take_out(&mut self, index: Option<usize>) -> Option<&Resource> {
        let resource = self.0.get_mut(index?)?;
        resource.deleted = true;
        Some(resource)
    }
}

impl Resource {
    /// Tries a change on it.
    ///
    /// # Errors
    /// When the text that the change is about is not there, or not of its language.
    pub(super) fn attempt(&self, site: &Site<'_>) -> Result<Tried, Box<Diagnostic>> {
        let Some(found) = site.text_within(&self.state)? else {
            let published = Some(Arc::clone(&self.original));
            return Ok(Tried { before: self.state.clone(), attempt: site.attempt(&self.state), text: None, published });
        };
        let before = match self.texts.get(&found.path) {
            Some((text, value)) if text == found.text => value.clone(),
            _ => embedded::read(found.language, found.text)
                .map_err(|error| Box::new(site.unreadable(found.text, &error, None)))?,
        };
        let attempt = site.attempt(&before);
        let published = match at(&self.original, &found.path).and_then(Value::as_str) {
            Some(text) if text == found.text && !self.texts.contains_key(&found.path) => Some(before.clone()),
            text => text.and_then(|text| embedded::read(found.language, text).ok()),
        };
        let published = published.map(Arc::new);
        Ok(Tried { before, attempt, text: Some((found.path, found.text.to_owned())), published })
    }

    /// Takes over what a change did.
    pub(super) fn take(&mut self, tried: Tried) {
        match tried.text {
            None => self.state = tried.attempt.run.value,
            Some((path, text)) => {
                self.texts.insert(path, (text, tried.attempt.run.value));
            }
        }
    }
}

/// What is at a place of a value.
pub(super) fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    value.pointer(&pointer(path))
}
