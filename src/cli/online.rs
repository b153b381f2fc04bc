//! `overlay verify --online`: what upstream and registries say of what is pinned.

use std::collections::HashMap;
use std::path::PathBuf;

use super::progress::Line;
use super::verify::{Verified, as_overlay};
use crate::config::Date;
use crate::fetch::{self, Network};
use crate::layer::base::Base;
use crate::layer::root::Root;
use crate::resource::answer::Answer;
use crate::resource::reference::{Digest, Reference};
use crate::source::registry::{Registries, Which};
use crate::subject::Subject;
use crate::verify::online::{self, Ask, Pinned};

/// Asks for every overlay, and adds what is found to its report. What several overlays have is asked for once.
pub(super) fn ask(verified: &mut [Verified], today: Date, network: &Network) {
    bases(verified, network);
    images(verified, today, &Registries::new(&network.http, &network.environment));
}

/// Holds upstream against the locks of all bases that are as locked; of the others enough is told.
fn bases(verified: &mut [Verified], network: &Network) {
    let mut distinct: Vec<(&Root, &Base)> = Vec::new();
    let mut numbers: HashMap<PathBuf, usize> = HashMap::new();
    let mut of_overlays: Vec<Vec<usize>> = Vec::new();
    for one in verified.iter() {
        let mut own = Vec::new();
        for base in one.subject.iter().flat_map(Subject::bases_as_locked) {
            let number = *numbers.entry(base.folder.path.clone()).or_insert(distinct.len());
            if number == distinct.len() {
                distinct.push((&one.root, base));
            }
            if !own.contains(&number) {
                own.push(number);
            }
        }
        of_overlays.push(own);
    }
    let line = Line::new(distinct.iter().map(|(_, base)| base.files.len()).sum());
    let found = fetch::hold(network, &distinct, &|file, progress| line.tell(file, progress));
    for (one, own) in verified.iter_mut().zip(of_overlays) {
        let findings = own.into_iter().filter_map(|number| found.get(number)).flatten();
        one.report.findings.extend(findings.cloned());
    }
}

/// Asks registries for the images that results pin.
fn images(verified: &mut [Verified], today: Date, registries: &Registries<'_>) {
    let of = |one: &Verified| match (&one.subject, &one.result) {
        (Some(subject), Some(result)) => online::pinned(&as_overlay(subject, today), result),
        _ => Vec::new(),
    };
    let pinned: Vec<Vec<Pinned>> = verified.iter().map(of).collect();
    let images: Vec<&Reference> = pinned.iter().flatten().map(|pinned| &pinned.image).collect();
    let mut standings = online::look(&images, registries).into_iter();
    for (one, pinned) in verified.iter_mut().zip(&pinned) {
        let found = pinned.iter().zip(standings.by_ref()).filter_map(|(pinned, standing)| pinned.finding(&standing));
        one.report.findings.extend(found);
    }
}

impl Ask for Registries<'_> {
    fn tag(&self, image: &Reference, tag: &str) -> Answer {
        match self.ask(image, Which::Tag(tag)) {
            // It is going to be told, and perhaps pinned.
            Answer::Found(digest) if image.digest.as_ref() != Some(&digest) => self.proven(image, Which::Tag(tag)),
            answer => answer,
        }
    }

    fn digest(&self, image: &Reference, digest: &Digest) -> Answer {
        self.ask(image, Which::Digest(digest))
    }
}
