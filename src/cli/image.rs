//! `overlay image`: the digest that a tag has now, and its way into a patch.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Context;
use super::end::{End, Failure};
use super::network::NetworkArgs;
use super::vendor::turn;
use crate::config::{self, Findings};
use crate::diag::visible::visible;
use crate::diag::{Code, Diagnostic, nearest};
use crate::fsio;
use crate::layer::root::{Located, Root};
use crate::patch::Patch;
use crate::pinning::{self, Pin};
use crate::report::image::{FoundImage, ImageReport, PlatformImage, image_json, image_text};
use crate::resource::answer::Answer;
use crate::resource::reference::{Digest, Reference, near};
use crate::source::registry::{Manifest, Platform, Registries, Which};

/// Ask a registry which digest a tag has now, and write it into a patch
///
/// Prints the image's name with the digest, as manifests take it. The registry is asked anonymously, or with the log-in
/// that `docker login` or `podman login` left. With --pin, the images of a patch get the digests that their tags have
/// now; the tag stays where the patch has it: in the name, in `comment:`, or in the comment behind the value.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay image ghcr.io/team/app:v1.2              ghcr.io/team/app:v1.2@sha256:…
  overlay image ghcr.io/team/app:v1.2 --format json | jq '.images[].platforms'
  overlay image --pin overlays/lab/patches/image.yaml
                                                   every image of the patch, by its tag there
  overlay image ghcr.io/team/app:v1.3 --pin overlays/lab/patches/image.yaml
                                                   this one, by another tag

Exit codes: 0 the digest is known, 1 the registry has no such image, 2 it did not say or could not
run.")]
pub struct ImageArgs {
    /// The image, as `[REGISTRY/]REPOSITORY[:TAG]`; with --pin, which of the patch's images, and the tag that it is to
    /// have now
    #[arg(value_name = "REF", required_unless_present = "pin")]
    pub reference: Option<String>,
    /// Write the digest into this patch
    #[arg(long, value_name = "PATCH")]
    pub pin: Option<PathBuf>,
    /// With --pin, the image in this line of the patch
    #[arg(long, value_name = "LINE", requires = "pin")]
    pub line: Option<usize>,
    /// The form of what is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: ImageFormat,
    /// How to ask
    #[command(flatten)]
    pub network: NetworkArgs,
}

/// A form of what is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ImageFormat {
    /// The name with the digest
    #[default]
    Text,
    /// For programs: overlay/image/v1, with media type and platforms
    Json,
}

/// Asks, prints, and with `--pin` writes.
pub fn run(args: &ImageArgs, context: &mut Context) -> Result<End, Failure> {
    let wanted = args.reference.as_deref().map(parse).transpose()?;
    let mut findings = Findings::new();
    let target = match &args.pin {
        Some(file) => open(file, context, &mut findings)?,
        None => None,
    };
    if findings.has_errors() {
        return Ok(context.stop(findings));
    }
    let Some(network) = args.network.open(context, &mut findings)? else { return Ok(context.stop(findings)) };
    let client = Client(Registries::new(&network.http, &network.environment));
    let report = match (&target, &wanted) {
        (Some(target), wanted) => pin(target, wanted.as_ref(), args.line, &client, context, &mut findings)?,
        (None, Some(reference)) => Some(look(reference, &client, context)?),
        (None, None) => return Err(Failure::Usage("name an image, or a patch with --pin")),
    };
    let Some(report) = report else { return Ok(context.stop(findings)) };
    let text = match args.format {
        ImageFormat::Text => image_text(&report),
        ImageFormat::Json => image_json(&report),
    };
    context.terminal.product(text.as_bytes())?;
    Ok(End::Clean)
}

fn parse(text: &str) -> Result<Reference, Failure> {
    let told = |error| Failure::NoReference { error, near: near(text).map(|reference| reference.to_string()) };
    Reference::parse(text).map_err(told)
}

/// What the registry says of one image.
fn look(reference: &Reference, client: &Client<'_>, context: &mut Context) -> Result<ImageReport, Failure> {
    if reference.tag.is_none() && reference.digest.is_none() {
        context.terminal.aside(&format!("note: no tag is named, and so `{reference}:latest` is meant\n"));
    }
    let manifest = client.ask(reference)?;
    if let Some(old) = reference.digest.as_ref().filter(|old| **old != manifest.digest) {
        context.terminal.aside(&format!("note: the tag has moved: it is no longer {old}\n"));
    }
    let named = reference.with_digest(manifest.digest.clone());
    Ok(ImageReport::new(vec![found(reference, &named, &manifest)]))
}

/// Registries, asked for whole manifests: a digest that is shown or written is computed from what it stands for.
struct Client<'a>(Registries<'a>);

impl Client<'_> {
    /// The image by its tag, or without one by its digest.
    fn ask(&self, reference: &Reference) -> Result<Manifest, Failure> {
        let tag = reference.effective_tag();
        let answer = match (tag, &reference.digest) {
            (Some(tag), _) => self.0.manifest(reference, Which::Tag(tag)),
            (None, Some(digest)) => self.0.manifest(reference, Which::Digest(digest)),
            (None, None) => return Err(Failure::Usage("name a tag")),
        };
        match answer {
            Answer::Found(manifest) => Ok(manifest),
            Answer::Gone(reason) => Err(Failure::NoImage {
                image: reference.to_string(),
                reason,
                near: tag.and_then(|tag| self.near(reference, tag)),
            }),
            Answer::Unknown(unanswered) => Err(Failure::Unanswered {
                image: reference.to_string(),
                reason: unanswered.reason,
                help: unanswered.why.help(reference.registry()),
            }),
        }
    }

    /// The image of the repository whose tag is nearest.
    fn near(&self, reference: &Reference, tag: &str) -> Option<String> {
        let tags = self.0.tags(reference);
        let near = nearest(tag, tags.iter().map(String::as_str))?;
        Some(Reference::parse(&format!("{}:{near}", reference.name())).ok()?.to_string())
    }
}

/// A manifest as the report has it, for what was asked, under the name that it gets.
fn found(asked: &Reference, named: &Reference, manifest: &Manifest) -> FoundImage {
    let platform = |platform: &Platform| PlatformImage {
        os: platform.os.clone(),
        architecture: platform.architecture.clone(),
        variant: platform.variant.clone(),
        digest: platform.digest.clone(),
    };
    FoundImage {
        reference: named.to_string(),
        registry: asked.registry().to_owned(),
        repository: asked.repository().to_owned(),
        tag: asked.effective_tag().map(str::to_owned),
        digest: manifest.digest.to_string(),
        media_type: manifest.media_type.clone(),
        platforms: manifest.platforms.iter().map(platform).collect(),
    }
}

/// A patch that digests are written into, and its file.
struct Target {
    root: Root,
    file: Located,
    patch: Patch,
}

/// The patch that was named. `None` where it cannot be taken, which the findings tell.
fn open(file: &Path, context: &Context, findings: &mut Findings) -> Result<Option<Target>, Failure> {
    let current = context.current()?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let root = Root::find(folder, context.root.as_deref(), &current)?;
    let file = match root.locate(file) {
        Ok(file) => file,
        Err(error) => {
            findings.add(error.diagnose(None));
            return Ok(None);
        }
    };
    let Some(source) = findings.keep(config::source(file.name.clone(), root.read(&file)?)) else { return Ok(None) };
    Ok(Patch::read(&source, findings).map(|patch| Target { root, file, patch }))
}

/// Writes the patch's new text, unless the file is no longer the one that was read: then a finding says so.
fn write(target: &Target, text: &str, findings: &mut Findings) -> Result<bool, Failure> {
    let Target { root, file, patch } = target;
    let folder = file.path.parent().map(|folder| root.located(folder.to_owned()));
    let _turn = turn(&folder, true)?;
    let now = config::source(file.name.clone(), root.read(file)?);
    if now.is_ok_and(|now| now.text == patch.source().text) {
        fsio::commit(&[fsio::Write { path: file.path.clone(), bytes: text.as_bytes() }], &[])?;
        return Ok(true);
    }
    let message = format!("{} was changed by another program after it was read", file.name);
    findings.add(Diagnostic::new(Code::FileUnreadable, message).help("Try again."));
    Ok(false)
}

/// Asks for the digests of a patch's images, and writes them. `None` where the patch cannot be edited, or was changed
/// meanwhile, which the findings tell.
fn pin(
    target: &Target,
    wanted: Option<&Reference>,
    line: Option<usize>,
    client: &Client<'_>,
    context: &mut Context,
    findings: &mut Findings,
) -> Result<Option<ImageReport>, Failure> {
    if wanted.is_some_and(|wanted| wanted.digest.is_some()) {
        return Err(Failure::Usage("with --pin, name a tag: its digest is asked for"));
    }
    let Target { file, patch, .. } = target;
    let mut answers: Vec<(Reference, Manifest)> = Vec::new();
    let mut images: Vec<FoundImage> = Vec::new();
    let mut pins: Vec<(Pin<'_>, Digest)> = Vec::new();
    for pin in pinning::choose(patch, wanted, line)? {
        let asked = pin.asks();
        let known = answers.iter().find(|(other, _)| *other == asked).map(|(_, manifest)| manifest.clone());
        let manifest = known.map_or_else(|| client.ask(&asked), Ok)?;
        let image = found(&asked, &pin.named(&manifest.digest), &manifest);
        if !images.contains(&image) {
            images.push(image);
        }
        pins.push((pin, manifest.digest.clone()));
        answers.push((asked, manifest));
    }
    let text = match pinning::write(patch, &pins) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the digest cannot be written into {}: {error}", file.name);
            findings.add(Diagnostic::new(Code::EditRefused, message).help("Write it there yourself."));
            return Ok(None);
        }
    };
    let written = text != patch.source().text;
    let name = visible(&file.name);
    if written {
        if !write(target, &text, findings)? {
            return Ok(None);
        }
        context.terminal.aside(&format!("wrote {name}\n"));
    } else {
        context
            .terminal
            .aside(&format!("{name} has {} already\n", if pins.len() == 1 { "this digest" } else { "these digests" }));
    }
    context.terminal.aside(&outdated(patch, &pins, &name));
    Ok(Some(ImageReport::of_patch(file.name.clone(), written, images)))
}

/// What is said of lines for people that speak of what was pinned before; empty where there are none.
fn outdated(patch: &Patch, pins: &[(Pin<'_>, Digest)], name: &str) -> String {
    let mut lines: Vec<usize> = pins.iter().flat_map(|(pin, digest)| pin.outdated(patch, digest)).collect();
    lines.sort_unstable();
    lines.dedup();
    let numbers = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match lines.len() {
        0 => String::new(),
        1 => format!("note: line {numbers} of {name} speaks of what was pinned before: see whether it is still true\n"),
        _ => format!(
            "note: lines {numbers} of {name} speak of what was pinned before: see whether they are still true\n"
        ),
    }
}
