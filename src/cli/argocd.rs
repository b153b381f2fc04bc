//! `overlay argocd`: the three commands that an Argo CD plugin server runs, in the folder of the Application. This is
//! the one place that reads the environment that Argo CD sets.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Context;
use super::end::{End, Failure};
use super::over::Over;
use super::verify::as_overlay;
use crate::argocd::{self, ENVIRONMENT_PREFIX, PARAMETERS, Settings};
use crate::build::Built;
use crate::config::Findings;
use crate::diag;
use crate::layer::overlay::FILE_NAME;
use crate::layer::root::Root;
use crate::report::Report;
use crate::subject::Subject;
use crate::verify::{annotate, overlay};

/// Serve as a configuration management plugin of Argo CD
///
/// Argo CD starts these commands in the Application's folder. `argocd/plugin.yaml` of this project names them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cd overlays/lab && overlay argocd generate       what Argo CD gets of this folder, or its error")]
pub struct ArgocdArgs {
    #[command(subcommand)]
    command: ArgocdCommand,
}

#[derive(Subcommand, Debug)]
enum ArgocdCommand {
    /// Print the result of the overlay in this folder, proven before it is printed
    ///
    /// What is wrong is told shortly, the gravest first, as Argo CD shows it on one line. The result is never empty.
    /// Of the environment, `ARGOCD_APP_PARAMETERS` and `ARGOCD_ENV_OVERLAY`, `ARGOCD_ENV_ANNOTATE`, `ARGOCD_ENV_STRICT`
    /// are honoured.
    #[command(after_help = "\
Examples:
  overlay argocd generate                          the result of the overlay here
  ARGOCD_ENV_STRICT=true overlay argocd generate   nothing, where there is as much as a warning")]
    Generate {
        /// Print the result without the proof that nothing but the documented patches differs
        #[arg(long)]
        no_verify: bool,
    },
    /// Say whether this folder holds an overlay: prints its file's name if so, and nothing otherwise
    #[command(after_help = "\
Examples:
  overlay argocd discover                          ./overlay.yaml")]
    Discover,
    /// Print the parameters that an Application may set, as JSON
    #[command(after_help = "\
Examples:
  overlay argocd parameters | jq -r '.[].name'     overlay, annotate, strict, and one for each patch")]
    Parameters,
}

/// Runs one of the three.
pub fn run(args: &ArgocdArgs, context: &mut Context) -> Result<End, Failure> {
    match args.command {
        ArgocdCommand::Generate { no_verify } => generate(!no_verify, context),
        ArgocdCommand::Discover => discover(context),
        ArgocdCommand::Parameters => parameters(context),
    }
}

/// The texts of the documents of a build.
fn documents(built: &Built) -> impl Iterator<Item = &str> {
    built.documents.iter().filter_map(|(_, range)| built.text.get(range.clone()))
}

fn generate(proven: bool, context: &mut Context) -> Result<End, Failure> {
    let settings = settings()?;
    let root = root(context)?;
    let mut findings = Findings::new();
    let subject = open(&root, &settings, &mut findings);
    if let Some(subject) = &subject {
        settings.check_patches(names(subject))?;
    }
    let subject = subject.map(|subject| without(subject, &settings));
    let built = subject.as_ref().and_then(|subject| subject.build(&mut findings));
    let mut findings = match &subject {
        Some(subject) if proven => {
            let result = built.as_ref().map(|built| built.text.as_str());
            let report = overlay::report(&as_overlay(subject, context.today()), result, findings);
            Report::new(vec![report], settings.strict).overlays.into_iter().flat_map(|o| o.findings).collect()
        }
        _ => {
            let mut findings = findings.into_vec();
            diag::sort(&mut findings);
            findings
        }
    };
    if built.as_ref().is_some_and(|built| argocd::takes_for_nothing(documents(built))) {
        findings.push(argocd::nothing());
    }
    let is_refused = argocd::told(&findings, settings.strict).is_some();
    let text = match (&subject, built) {
        (Some(subject), Some(built)) if settings.annotate && !is_refused => {
            let mut found = Findings::new();
            let text = annotate::annotated(&as_overlay(subject, context.today()), &built.text, &mut found);
            findings.extend(found.into_vec());
            text
        }
        (_, built) => built.map(|built| built.text),
    };
    if let Some(wrong) = argocd::told(&findings, settings.strict) {
        context.terminal.aside(&wrong);
        return Ok(End::of(&findings, settings.strict));
    }
    context.terminal.product(text.ok_or(Failure::Unexplained)?.as_bytes())?;
    Ok(End::Clean)
}

/// Argo CD takes any output for a yes, and any failure for an error that it shows for every Application of every
/// repository. So a folder that cannot be looked at is none of ours.
fn discover(context: &mut Context) -> Result<End, Failure> {
    let folder = settings().ok().and_then(|settings| settings.overlay).unwrap_or_else(|| ".".to_owned());
    let root = root(context)?;
    let file = root.locate(Path::new(".")).and_then(|at| root.resolve(&at.path, &format!("{folder}/{FILE_NAME}")));
    let Ok(file) = file else { return Ok(End::Clean) };
    let bytes = root.read(&file).unwrap_or_default();
    if argocd::is_ours(&String::from_utf8_lossy(&bytes)) {
        context.terminal.product(format!("{folder}/{FILE_NAME}\n").as_bytes())?;
    }
    Ok(End::Clean)
}

fn parameters(context: &mut Context) -> Result<End, Failure> {
    let settings = settings()?;
    let root = root(context)?;
    let mut findings = Findings::new();
    let subject = open(&root, &settings, &mut findings);
    let findings = findings.into_vec();
    if let Some(wrong) = argocd::told(&findings, false) {
        context.terminal.aside(&wrong);
    }
    let patches = subject.iter().flat_map(|s| &s.plan.patches).map(|scoped| scoped.patch.as_ref());
    let announcement = argocd::announcement(patches);
    context.terminal.product(announcement.as_bytes())?;
    Ok(End::of(&findings, false))
}

/// The root: the checkout folder, which is found from where Argo CD started us. What `ARGOCD_APP_SOURCE_PATH` says is
/// the place in the repository, and only a part of that may have been handed over.
fn root(context: &Context) -> Result<Root, Failure> {
    Ok(Root::find(Path::new("."), context.root.as_deref(), &context.current()?)?)
}

fn open(root: &Root, settings: &Settings, findings: &mut Findings) -> Option<Subject> {
    let folder = match &settings.overlay {
        None => PathBuf::from("."),
        Some(written) => {
            let found = root.locate(Path::new(".")).and_then(|at| root.resolve(&at.path, written));
            match found {
                Ok(folder) => folder.path,
                Err(error) => {
                    findings.add(error.diagnose(None));
                    return None;
                }
            }
        }
    };
    Over::default().open(root, &folder, findings)
}

fn names(subject: &Subject) -> impl Iterator<Item = &str> {
    subject.plan.patches.iter().map(|scoped| scoped.patch.name.value.as_str())
}

/// The overlay less the patches that the Application leaves out.
fn without(mut subject: Subject, settings: &Settings) -> Subject {
    subject.plan.patches.retain(|scoped| !settings.without.contains(&scoped.patch.name.value));
    subject
}

/// What the Application wants, out of the environment.
#[allow(clippy::disallowed_methods, reason = "here the edge reads what Argo CD sets")]
fn settings() -> Result<Settings, Failure> {
    let parameters = std::env::var_os(PARAMETERS).map(|value| value.to_string_lossy().into_owned());
    let mut environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix(ENVIRONMENT_PREFIX)?.to_owned();
            Some((name, value.to_string_lossy().into_owned()))
        })
        .collect();
    environment.sort();
    Ok(Settings::read(parameters.as_deref(), &environment)?)
}
