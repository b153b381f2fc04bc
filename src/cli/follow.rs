//! Where `update` takes a base: to the commit or release that the arguments name, else to what upstream calls newest;
//! and upstream's bytes there and here.

use std::path::Path;

use super::Context;
use super::end::Failure;
use super::network::fetch_all;
use super::update::UpdateArgs;
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::fetch::{self, Asks, Job, Network};
use crate::fsio;
use crate::layer::base::{Base, Origin};
use crate::layer::check;
use crate::layer::digest;
use crate::layer::pin::{self, Pin};
use crate::layer::root::Root;
use crate::layer::vendor::{Fetched, Step};
use crate::report::update::Revision;

/// A base, and where it goes.
pub(super) struct Followed {
    /// Its root.
    pub(super) root: Root,
    /// The base as it stands.
    pub(super) base: Base,
    /// The base as it is to be.
    pub(super) moved: Base,
    /// What writes that into its `base.yaml`; `None` where nothing is to be written.
    pub(super) pinned: Option<Step>,
    /// From where to where, where something is pinned.
    pub(super) revision: Option<Revision>,
    /// Upstream's bytes there.
    pub(super) new: Vec<Fetched>,
    /// Upstream's bytes here, if they are at hand.
    pub(super) old: Option<Vec<Fetched>>,
}

/// Where a base goes.
enum Goal {
    /// It has no pins: its source is what it is.
    Here,
    /// Another pin, and the branch or tag that led to it.
    To(Pin, Option<String>),
    /// Its commit is pinned, and it follows nothing.
    Nowhere,
}

/// Finds out where each base goes, and has upstream's bytes there. A base that cannot go is left out, and the findings
/// say why.
pub(super) fn follow(
    args: &UpdateArgs,
    opened: Vec<(Root, Base)>,
    context: &mut Context,
    findings: &mut Findings,
) -> Result<Vec<Followed>, Failure> {
    let current = context.current()?;
    let given = args.from.as_deref().map(|file| read(&current, file)).transpose()?;
    let old = args.old.as_deref().map(|file| read(&current, file)).transpose()?;
    if (given.is_some() || old.is_some()) && opened.iter().any(|(_, base)| base.files.len() != 1) {
        return Err(Failure::Usage("--from and --old go with a base whose source is one file"));
    }
    let mut network = None;
    if given.is_none() && opened.iter().any(|(_, base)| fetch::is_remote(base)) {
        network = args.network.open(context, findings)?;
        if network.is_none() {
            return Ok(Vec::new());
        }
    }
    let mut going = Vec::new();
    for (root, base) in opened {
        going.extend(go(args, root, base, network.as_ref(), context, findings)?);
    }
    let followed = match given {
        Some(given) => going.into_iter().map(|going| Followed { new: vec![given.clone()], ..going }).collect(),
        None => with_new(going, network.as_ref(), findings),
    };
    Ok(followed.into_iter().map(|followed| with_old(followed, old.as_ref(), network.as_ref(), context)).collect())
}

fn read(current: &Path, file: &Path) -> Result<Fetched, Failure> {
    let name = file.to_string_lossy().into_owned();
    let bytes = fsio::read(&current.join(file), fsio::MAX_FILE).map_err(|e| e.named(&name))?;
    Ok(Fetched::new(name, bytes))
}

/// Where a base goes, without any bytes yet.
fn go(
    args: &UpdateArgs,
    root: Root,
    base: Base,
    network: Option<&Network>,
    context: &mut Context,
    findings: &mut Findings,
) -> Result<Option<Followed>, Failure> {
    let (moved, pinned, revision) = match goal(args, &base, network, findings)? {
        None => return Ok(None),
        Some(Goal::Here) => (base.clone(), None, None),
        Some(Goal::Nowhere) => {
            let name = visible(&base.folder.name);
            context.terminal.aside(&format!("note: {name} pins a commit and has no `ref` to follow\n"));
            return Ok(None);
        }
        Some(Goal::To(pin, follows)) => {
            let revision = Revision { follows, from: pinned_now(&base), to: pinned_by(&pin) };
            let Some((moved, step)) = pin::pin(&root, &base, &pin, findings) else { return Ok(None) };
            (moved, step, Some(revision))
        }
    };
    Ok(Some(Followed { root, base, moved, pinned, revision, new: Vec::new(), old: None }))
}

fn pinned_now(base: &Base) -> Option<String> {
    match &base.origin {
        Origin::Release { release, .. } => Some(release.clone()),
        origin => origin.revision()?.commit.clone(),
    }
}

fn pinned_by(pin: &Pin) -> String {
    match pin {
        Pin::Commit { commit, .. } => commit.clone(),
        Pin::Release(name) => name.clone(),
    }
}

/// Where the arguments, or what `base.yaml` follows, send a base. `None` where upstream does not say, which the findings
/// tell.
fn goal(
    args: &UpdateArgs,
    base: &Base,
    network: Option<&Network>,
    findings: &mut Findings,
) -> Result<Option<Goal>, Failure> {
    let is_repository = base.origin.revision().is_some();
    let is_release = matches!(base.origin, Origin::Release { .. });
    if args.commit.is_some() && !is_repository {
        return Err(Failure::Usage("--commit goes with a base whose source is a repository"));
    }
    if args.to_ref.is_some() && !is_repository && !is_release {
        return Err(Failure::Usage("--ref goes with a base whose source is a repository or a release"));
    }
    if let Some(commit) = &args.commit {
        let pin = Pin::Commit { commit: commit.clone(), follows: None };
        return Ok(Some(Goal::To(pin, None)));
    }
    match (&base.origin, network) {
        (Origin::Release { repository, .. }, network) => {
            let name = match (&args.to_ref, network) {
                (Some(name), _) => Some(name.clone()),
                (None, Some(network)) => findings.keep(fetch::latest_release(network, base, repository)),
                (None, None) if args.write => {
                    return Err(Failure::Usage(
                        "base.yaml pins a release: name the one that the new bytes are of with --ref",
                    ));
                }
                (None, None) => return Ok(Some(Goal::Here)),
            };
            Ok(name.map(|name| Goal::To(Pin::Release(name), None)))
        }
        (Origin::GitHub { revision, .. } | Origin::Git { revision, .. }, Some(network)) => {
            let place = revision.follows.as_ref().filter(|_| args.to_ref.is_none()).map(|follows| base.place(follows));
            let own = revision.follows.as_ref().map(|follows| follows.value.clone());
            let Some(name) = args.to_ref.clone().or(own) else {
                return match args.base {
                    Some(_) => {
                        Err(Failure::Usage("base.yaml has no `ref` to follow: say where to go with --ref or --commit"))
                    }
                    None => Ok(Some(Goal::Nowhere)),
                };
            };
            let commit = findings.keep(fetch::commit_of(network, base, &name, place));
            let pin = commit.map(|commit| Pin::Commit { commit, follows: args.to_ref.clone() });
            Ok(pin.map(|pin| Goal::To(pin, Some(name))))
        }
        (Origin::GitHub { .. } | Origin::Git { .. }, None) if args.to_ref.is_some() => Err(Failure::Usage(
            "--ref asks the network; with --from, name the commit that the file is of with --commit",
        )),
        (Origin::GitHub { .. } | Origin::Git { .. }, None) if args.write => {
            Err(Failure::Usage("base.yaml pins a commit: name the one that the new bytes are of with --commit"))
        }
        _ => Ok(Some(Goal::Here)),
    }
}

/// The bases with upstream's bytes at their goals, all fetched at once.
fn with_new(going: Vec<Followed>, network: Option<&Network>, findings: &mut Findings) -> Vec<Followed> {
    let jobs: Vec<Job<'_>> =
        going.iter().flat_map(|going| fetch::jobs(&going.root, &going.moved, Asks::News)).collect();
    let came: Vec<Option<Fetched>> = fetch_all(network, &jobs).into_iter().map(|file| findings.keep(file)).collect();
    let mut came = came.into_iter();
    let mut followed = Vec::new();
    for going in going {
        let files: Vec<Option<Fetched>> = came.by_ref().take(going.moved.files.len()).collect();
        let new: Option<Vec<Fetched>> = files.into_iter().collect();
        followed.extend(new.map(|new| Followed { new, ..going }));
    }
    followed
}

/// The base with upstream's bytes as they are now, where it takes them to tell what changed: documents that are left
/// out are known to the lock by digests alone. They are a help, and so it is no error where they cannot be had.
fn with_old(followed: Followed, given: Option<&Fetched>, network: Option<&Network>, context: &mut Context) -> Followed {
    if let Some(old) = given {
        return Followed { old: Some(vec![old.clone()]), ..followed };
    }
    let Followed { root, base, new, .. } = &followed;
    if network.is_none() || !base.origin.is_pinned() || !leaves_changes_out(root, base, new) {
        return followed;
    }
    let jobs: Vec<Job<'_>> = fetch::jobs(root, base, Asks::Whole).collect();
    match fetch_all(network, &jobs).into_iter().collect::<Result<Vec<Fetched>, _>>() {
        Ok(old) => Followed { old: Some(old), ..followed },
        Err(finding) => {
            let told = visible(&finding.message).into_owned();
            context
                .terminal
                .aside(&format!("note: what changed in documents that are left out is not known: {told}\n"));
            followed
        }
    }
}

/// Whether a file has other bytes than the lock records, and documents that the base leaves out.
fn leaves_changes_out(root: &Root, base: &Base, new: &[Fetched]) -> bool {
    // A lock that cannot be taken is told by whoever looks at the base next.
    let Some(lock) = check::lock(root, base, &mut Findings::new()) else { return false };
    lock.files.iter().zip(new).any(|(locked, new)| {
        locked.documents.iter().any(|d| !d.kept) && locked.upstream.sha256 != digest::sha256(&new.bytes)
    })
}
