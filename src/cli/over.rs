//! `--base FILE` and `--allow-no-match`: documents that are handed over in the place of an overlay's base.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::Context;
use super::end::Failure;
use crate::build::NoMatch;
use crate::config::Findings;
use crate::diag::{Diagnostic, Source};
use crate::layer::manifest;
use crate::layer::root::Root;
use crate::layer::shelf::Shelf;
use crate::layer::sources::Sources;
use crate::subject::Subject;

/// The two options.
#[derive(Args, Debug)]
pub(super) struct OverArgs {
    /// Take the documents of this file for those of the base, without a lock; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) base: Option<PathBuf>,
    /// Let a change pass that means no document: the documents are a part of those that the overlay was written for
    #[arg(long, requires = "base")]
    allow_no_match: bool,
}

impl OverArgs {
    /// Reads what is handed over.
    pub(super) fn read(&self, context: &Context) -> Result<Over, Failure> {
        let stream = self.base.as_ref().map(|file| context.input(file)).transpose()?;
        let stream = stream.map(|read| read.and_then(|source| manifest::not_empty(&source).map(|()| source)));
        let no_match = if self.allow_no_match { NoMatch::Passes } else { NoMatch::Fails };
        Ok(Over { file: self.base.clone(), stream, no_match })
    }
}

/// What stands in the place of the base, if anything does.
#[derive(Debug, Default)]
pub(super) struct Over {
    /// What was handed over, if anything; what is inside `Err` is for bytes that are no text.
    stream: Option<Result<Arc<Source>, Box<Diagnostic>>>,
    /// Its file.
    file: Option<PathBuf>,
    no_match: NoMatch,
}

impl Over {
    /// Opens an overlay over it, or over its own base where nothing was handed over.
    pub(super) fn open(&self, root: &Root, folder: &Path, findings: &mut Findings) -> Option<Subject> {
        self.open_beside(root, &Shelf::default(), folder, findings)
    }

    /// Like [`Over::open`], of one overlay among others of the same run, whose bases are on the shelf.
    pub(super) fn open_beside(
        &self,
        root: &Root,
        bases: &Shelf,
        folder: &Path,
        findings: &mut Findings,
    ) -> Option<Subject> {
        let subject = match &self.stream {
            None => Subject::open_beside(root, bases, folder, findings)?,
            Some(Ok(source)) => Subject::open_over(root, folder, source, findings)?,
            Some(Err(finding)) => {
                findings.add(finding.as_ref().clone());
                return None;
            }
        };
        Some(Subject { no_match: self.no_match, ..subject })
    }

    /// The files that a result is made of, what was handed over among them.
    pub(super) fn sources(&self, current: &Path, subject: &Subject) -> Sources {
        let mut sources = Sources::of(&subject.layer);
        if let Some(file) = &self.file {
            sources.add(&current.join(file));
        }
        sources
    }
}
