//! A file cut into its documents, each with its name, and each read in full when someone first asks for it.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::separators;
use crate::config::Findings;
use crate::diag::Source;
use crate::resource::Identity;
use crate::yaml::edit;
use crate::yaml::load::LoadError;
use crate::yaml::stream::Piece;
use crate::yaml::tree::Bytes;

/// A file and its documents.
#[derive(Clone, Debug)]
pub(super) struct CutFile {
    pub(super) source: Arc<Source>,
    pub(super) documents: Vec<CutDocument>,
}

const BOM: char = '\u{feff}';

/// One document of a file.
#[derive(Clone, Debug)]
pub(super) struct CutDocument {
    /// Its bytes, from what leads it to the next marker.
    pub(super) range: Bytes,
    /// The bytes of it that go when it is deleted: from its own marker on.
    pub(super) own: Bytes,
    /// What it is called; `None` for a piece without content.
    pub(super) identity: Option<Arc<Identity>>,
    pub(super) reading: Reading,
}

/// What a document says in its file. All copies of a reading share what the first of them that was asked has read.
#[derive(Clone, Debug, Default)]
pub struct Reading(Arc<OnceLock<Result<Read, LoadError>>>);

/// A document that was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// Its text.
    pub text: Arc<edit::Source<'static>>,
    /// Its value.
    pub value: Arc<Value>,
}

impl Reading {
    /// What the document says, whose text this is.
    pub(super) fn of(&self, text: &str) -> Result<Read, LoadError> {
        let read = || {
            let text = edit::Source::read(text.to_owned())?;
            Ok(Read { value: Arc::new(text.value().clone()), text: Arc::new(text) })
        };
        self.0.get_or_init(read).clone()
    }
}

impl CutFile {
    /// A file cut into `pieces`; those with content take their names from `identities`, in order.
    pub(super) fn new(
        source: &Arc<Source>,
        pieces: Vec<Piece>,
        identities: impl IntoIterator<Item = Identity>,
        findings: &mut Findings,
    ) -> CutFile {
        findings.extend(separators::check(source, &pieces));
        let mut identities = identities.into_iter();
        let document = |piece: Piece| {
            // A byte order mark is of the file, not of its first document.
            let mark = if piece.range.start == 0 && source.text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
            let start = piece.range.start + mark;
            let own = piece.marker.map_or(start, |m| m.start)..piece.range.end;
            let identity = if piece.content { identities.next().map(Arc::new) } else { None };
            CutDocument { range: piece.range, own, identity, reading: Reading::default() }
        };
        CutFile { source: Arc::clone(source), documents: pieces.into_iter().map(document).collect() }
    }
}
