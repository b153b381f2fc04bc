//! Two manifests held against each other: which documents belong together, and what differs in them.
//!
//! This says what differs, and of no difference whether it may: it knows neither patches nor locks.

use crate::diff::{Document, Pairing, diff_streams};
use crate::layer::manifest::Entry;
use crate::report::comparison::DocumentComparison;
use crate::report::{ChangeKind, Departure};
use crate::resource::Identity;

/// Two manifests and what is between them.
#[derive(Debug)]
pub struct Compared<'a> {
    before: &'a [Entry],
    after: &'a [Entry],
    /// A pairing for every document, as [`diff_streams`] orders them.
    pub pairings: Vec<Pairing>,
}

impl<'a> Compared<'a> {
    /// Compares two manifests, document by document.
    pub fn new(before: &'a [Entry], after: &'a [Entry]) -> Compared<'a> {
        let documents = |entries: &'a [Entry]| -> Vec<Document<'a>> {
            entries.iter().map(|entry| Document { identity: entry.identity.clone(), value: &entry.value }).collect()
        };
        let pairings = diff_streams(&documents(before), &documents(after), &[], &|_, _| None);
        Compared { before, after, pairings }
    }

    /// The document before; `None` where it is new.
    pub fn before(&self, pairing: &Pairing) -> Option<&'a Entry> {
        self.before.get(pairing.before?)
    }

    /// The document after; `None` where it is gone.
    pub fn after(&self, pairing: &Pairing) -> Option<&'a Entry> {
        self.after.get(pairing.after?)
    }

    /// What a document is called: before, or after where it is new.
    pub fn resource(&self, pairing: &Pairing) -> String {
        let entry = self.before(pairing).or_else(|| self.after(pairing));
        entry.map(|entry| entry.identity.to_string()).unwrap_or_default()
    }

    /// The differences of a document, as reports have them.
    pub fn departures(&self, pairing: &Pairing) -> Vec<Departure> {
        let resource = self.resource(pairing);
        let value = |entry: Option<&'a Entry>| entry.map(|entry| &entry.value);
        let sides = (value(self.before(pairing)), value(self.after(pairing)));
        pairing.differences.iter().map(|difference| Departure::of(&resource, sides, difference, None)).collect()
    }

    /// The documents that are not the same on both sides.
    pub fn documents(&self) -> Vec<DocumentComparison> {
        let differing = self.pairings.iter().filter(|pairing| !pairing.differences.is_empty());
        differing.map(|pairing| self.document(pairing)).collect()
    }

    fn document(&self, pairing: &Pairing) -> DocumentComparison {
        let (before, after) = (self.before(pairing), self.after(pairing));
        let change = match (before, after) {
            (None, _) => ChangeKind::Add,
            (_, None) => ChangeKind::Remove,
            _ => ChangeKind::Replace,
        };
        let told = |identity: &Identity| format!("{identity} ({})", identity.api_version());
        let renamed = before.zip(after).filter(|(before, after)| before.identity != after.identity);
        DocumentComparison {
            resource: self.resource(pairing),
            now: renamed.map(|(_, after)| told(&after.identity)),
            change,
            from: None,
            differences: self.departures(pairing).into_iter().map(Into::into).collect(),
        }
    }
}
