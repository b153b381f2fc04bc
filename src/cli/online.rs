//! `overlay verify --online`: what upstream and registries say of what is pinned.

use super::Context;
use super::end::Failure;
use super::verify::{Verified, as_overlay};
use crate::config::Date;
use crate::resource::answer::Answer;
use crate::resource::reference::{Digest, Reference};
use crate::source::registry::{Registries, Which};
use crate::verify::online::{self, Ask, Pinned};

/// Asks for every overlay, and adds what is found to its report. What several overlays have is asked for once.
pub(super) fn ask(verified: &mut [Verified], today: Date, context: &mut Context) -> Result<(), Failure> {
    let (http, environment) = super::image::client(context)?;
    images(verified, today, &Registries::new(&http, &environment));
    Ok(())
}

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
        self.ask(image, Which::Tag(tag))
    }

    fn digest(&self, image: &Reference, digest: &Digest) -> Answer {
        self.ask(image, Which::Digest(digest))
    }
}
