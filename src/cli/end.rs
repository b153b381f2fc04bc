//! How a run ends: with an exit code, or with the failure that kept it from running.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::diag::secret::masked;
use crate::diag::visible::visible;
use crate::diag::{Diagnostic, Severity, nearest};
use crate::fsio::{self, Entry, FsError};
use crate::pinning::ChoiceError;
use crate::resource::reference::ReferenceError;
use crate::source::http::HttpError;

/// How a run that could run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is wrong.
    Clean,
    /// The content of a file is wrong.
    Wrong,
    /// A file could not be read or fetched, and nothing else is wrong.
    CouldNotRun,
}

impl End {
    /// The end that findings call for. Under `strict`, a warning is as bad as an error.
    pub fn of<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>, strict: bool) -> End {
        let mut end = End::Clean;
        for finding in findings {
            match finding.severity {
                Severity::Error if finding.code.keeps_from_running() => end = End::CouldNotRun,
                Severity::Error => return End::Wrong,
                Severity::Warning if strict => return End::Wrong,
                Severity::Warning | Severity::Note => {}
            }
        }
        end
    }
}

impl End {
    /// The same, but wrong where `wrong` says so and it would be clean.
    #[must_use]
    pub fn or(self, wrong: bool) -> End {
        if wrong && self == End::Clean { End::Wrong } else { self }
    }
}

impl From<End> for ExitCode {
    fn from(end: End) -> ExitCode {
        ExitCode::from(match end {
            End::Clean => 0,
            End::Wrong => 1,
            End::CouldNotRun => 2,
        })
    }
}

/// Why a command could not run. What is wrong with the *content* of a file is a finding instead.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] FsError),
    /// The current folder is gone, or closed to us.
    #[error("the current folder cannot be read: {0}")]
    CurrentFolder(io::Error),
    /// The arguments do not go together, for a reason that their parser does not know.
    #[error("{0}")]
    Usage(&'static str),
    /// The same, where there is something to write instead.
    #[error("{message}")]
    Advice {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// The overlay has no such patch.
    #[error("there is no patch `{name}`{}; there is {}", near.as_ref().map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default(), if names.is_empty() { "none at all".to_owned() } else { names.join(", ") })]
    NoSuchPatch {
        /// What was asked for.
        name: String,
        /// The name that is probably meant.
        near: Option<String>,
        /// What there is.
        names: Vec<String>,
    },
    /// The overlay has no such document, or several.
    #[error(
        "{}{}",
        match (wanted, hits) {
            (None, _) => "the overlay has several documents, and none is named".to_owned(),
            (Some(wanted), 0) => format!("there is no document `{wanted}`"),
            (Some(wanted), _) => format!("`{wanted}` means {hits} documents"),
        },
        near.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
    )]
    NoSuchDocument {
        /// What was asked for.
        wanted: Option<String>,
        /// How many documents that means.
        hits: usize,
        /// The name that is probably meant.
        near: Option<String>,
        /// What there is.
        names: Vec<String>,
    },
    /// A patch has that name already.
    #[error("there is a patch `{name}` already, {file}, and nothing is overwritten")]
    Taken {
        /// The name.
        name: String,
        /// Its file.
        file: String,
    },
    /// The person's editor did not end well.
    #[error("the editor `{program}` failed ({why}); nothing was written")]
    Editor {
        /// What was run.
        program: String,
        /// How it ended.
        why: String,
    },
    /// The network cannot be used as it is to be.
    #[error(transparent)]
    Network(HttpError),
    /// What was given is no reference to an image.
    #[error("{error}")]
    NoReference {
        /// Why not.
        error: ReferenceError,
        /// The reference that is probably meant.
        near: Option<String>,
    },
    /// A registry says that there is no such image.
    #[error("there is no image `{image}`")]
    NoImage {
        /// What was asked for.
        image: String,
        /// What the registry said.
        reason: String,
        /// The image that is probably meant.
        near: Option<String>,
    },
    /// A registry did not say.
    #[error("it is not known which digest `{image}` has")]
    Unanswered {
        /// What was asked for.
        image: String,
        /// Why there is no answer.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A patch has no such image, or several.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The Application that Argo CD renders asks for something that there is not.
    #[error(transparent)]
    Parameter(#[from] crate::argocd::Mistake),
    /// What came in is nothing that a KRM function takes.
    #[error(transparent)]
    Function(#[from] crate::krm::Mistake),
    /// The results cannot be written into the `ResourceList` that came in.
    #[error("the results cannot be written into the ResourceList: {0}")]
    Results(crate::yaml::edit::EditError),
    /// A file stands where one of ours should go.
    #[error("{path} is there already, and no account says that overlay wrote it{}", if *more > 0 { format!(" ({more} more)") } else { String::new() })]
    Stranger {
        /// The file.
        path: String,
        /// How many more there are.
        more: usize,
    },
    /// A result was to go where a file is that it is made of.
    #[error("{path} is a file that the result is made of, or lies in the folder of its base; nothing was written")]
    OverSource {
        /// The file.
        path: String,
    },
    /// A build gave nothing and no reason: a mistake of this program.
    #[error("nothing was built, and nothing says why")]
    Unexplained,
    /// Standard input broke.
    #[error("standard input cannot be read: {0}")]
    Input(io::Error),
    /// What was to be printed could not be.
    #[error("standard output cannot be written: {0}")]
    Output(io::Error),
}

impl Failure {
    /// What to do about it, where the message does not say that itself.
    fn help(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Failure::Usage(_) => return None,
            Failure::Disk(FsError::Missing { path }) => match near(Path::new(path)) {
                Some(near) => return Some(format!("Did you mean {}?", visible(&near)).into()),
                None => "Check the name, and the folder that you are in.",
            },
            Failure::Advice { help, .. } => return Some(visible(help)),
            Failure::Disk(FsError::NotRegular { .. }) => "Name a regular file.",
            Failure::Disk(FsError::TooLarge { path, .. }) if path.ends_with(fsio::IGNORE) => {
                "It names folders, one a line; take out what is not needed."
            }
            Failure::Disk(FsError::TooLarge { .. }) => "A manifest is smaller than this; is it the right file?",
            Failure::Disk(FsError::Io { source, .. }) if is_full(source) => {
                "Make room on its disk, or raise the limit that is set for it."
            }
            Failure::Disk(FsError::Io { source, .. }) if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                "Choose a place that can be written to."
            }
            Failure::Disk(FsError::Io { .. }) => "Check the permissions of the file and of the folders above it.",
            Failure::Disk(FsError::HalfWritten { .. }) => "See what `git status` says before you go on.",
            Failure::Disk(FsError::NoJournal { .. }) => {
                "Move it away. If this program was killed there, `git status` tells which files it changed."
            }
            Failure::Disk(FsError::InUse { .. }) => "Try again when it has ended.",
            Failure::CurrentFolder(_) => "Change to a folder that exists.",
            Failure::NoSuchPatch { names, .. } if names.is_empty() => "Leave the name out.",
            Failure::NoSuchPatch { .. } => "Name one of these, or leave the name out.",
            Failure::NoSuchDocument { near, names, .. } => {
                let one = near.as_ref().or(names.first()).map_or("ConfigMap/settings", String::as_str);
                return Some(format!("Name one of these with --target: `--target {}`.", visible(one)).into());
            }
            Failure::Taken { .. } => "Choose another name, or edit the file that is there.",
            Failure::Editor { .. } => "Set $EDITOR to a program that waits until the file is closed.",
            Failure::Parameter(_) => "Correct `spec.source.plugin` of the Application.",
            Failure::Function(_) => "See what `overlay krm --help` says of the functionConfig.",
            Failure::Results(_) => "Leave `results` out of what comes in.",
            Failure::Stranger { .. } => "Move it away, or split into another folder.",
            Failure::OverSource { .. } => "Write the result to a file of its own, outside the folders of bases.",
            Failure::Unexplained => "This is a mistake in overlay. Please report it with the base and the patches.",
            Failure::Network(_) => "Check the file of certificates and the proxy that the environment names.",
            Failure::NoReference { near: Some(near), .. } | Failure::NoImage { near: Some(near), .. } => {
                return Some(format!("Did you mean `{}`?", visible(near)).into());
            }
            Failure::NoReference { .. } => "An image is `[REGISTRY/]REPOSITORY[:TAG]`, as in `ghcr.io/team/app:v1`.",
            Failure::NoImage { .. } => "Check the repository and the tag; letter case counts.",
            Failure::Unanswered { help, .. } => help,
            Failure::Choice(ChoiceError::None { .. }) => "Name a patch that sets an image.",
            Failure::Choice(ChoiceError::NoSuch { .. }) => "Name one of these images, or a line that has one.",
            Failure::Choice(ChoiceError::Ambiguous { .. }) => "Say which one with --line.",
            Failure::Choice(ChoiceError::Shared { .. }) => "Write each tag into its image's name, before the `@`.",
            Failure::Choice(ChoiceError::NoTag { repository, .. }) => {
                return Some(format!("Name the tag: `overlay image {}:TAG --pin PATCH`.", visible(repository)).into());
            }
            Failure::Output(_) => "Check that its disk has room and that it is open.",
            Failure::Input(_) => "Check what writes to it.",
        }))
    }

    /// What else is to be known of it.
    fn notes(&self) -> &[String] {
        match self {
            Failure::NoImage { reason, .. } | Failure::Unanswered { reason, .. } => std::slice::from_ref(reason),
            Failure::Choice(error) => error.choices(),
            Failure::NoSuchDocument { names, .. } => names,
            _ => &[],
        }
    }

    /// How a run ends that it keeps from going on. A registry that answers is no hindrance, whatever it answers.
    pub fn end(&self) -> End {
        match self {
            Failure::NoImage { .. } => End::Wrong,
            _ => End::CouldNotRun,
        }
    }

    /// The failure as it is told on standard error: without any password of an address.
    pub fn told(&self) -> String {
        let mut told = format!("error: {}\n", visible(&self.to_string()));
        for note in self.notes() {
            told.push_str(&format!("  = note: {}\n", visible(note)));
        }
        if let Some(help) = self.help() {
            told.push_str(&format!("  = help: {help}\n"));
        }
        masked(&told).into_owned()
    }
}

/// Whether there is no room for what was to be written.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// What is probably meant by a path of the command line that leads nowhere: the same, with the name that is near where
/// it first goes astray. Where what would come behind that name is not there either, it ends with it.
fn near(path: &Path) -> Option<String> {
    let is_there = |path: &Path| fsio::entry(path).is_ok_and(|entry| entry != Entry::Missing);
    let missing = path.ancestors().take_while(|at| !at.as_os_str().is_empty() && !is_there(at)).last()?;
    let folder = missing.parent()?;
    let listed = fsio::names(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let wanted = missing.file_name()?.to_string_lossy();
    // Nobody means a hidden one who writes no dot.
    let candidates = listed.iter().filter(|name| !name.starts_with('.') || wanted.starts_with('.'));
    let near = folder.join(nearest(&wanted, candidates.map(String::as_str))?);
    let behind = path.strip_prefix(missing).ok().filter(|rest| !rest.as_os_str().is_empty());
    let whole = behind.map(|rest| near.join(rest)).filter(|whole| is_there(whole));
    Some(whole.unwrap_or(near).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    fn end(codes: &[Code], strict: bool) -> End {
        let findings: Vec<_> = codes.iter().map(|code| Diagnostic::new(*code, "m")).collect();
        End::of(&findings, strict)
    }

    #[test]
    fn errors_decide_and_warnings_do_when_strict() {
        assert_eq!(end(&[], true), End::Clean);
        assert_eq!(end(&[Code::Unguarded, Code::ReviewDue], false), End::Clean);
        assert_eq!(end(&[Code::Unguarded], true), End::Clean);
        assert_eq!(end(&[Code::ReviewDue], true), End::Wrong);
        assert_eq!(end(&[Code::ReviewDue, Code::Syntax], false), End::Wrong);
    }

    #[test]
    fn a_file_that_cannot_be_read_decides_only_where_nothing_else_is_wrong() {
        assert_eq!(end(&[Code::FileUnreadable, Code::ReviewDue], false), End::CouldNotRun);
        assert_eq!(end(&[Code::UpstreamUnreachable], false), End::CouldNotRun);
        assert_eq!(end(&[Code::FileUnreadable, Code::Syntax], false), End::Wrong);
        assert_eq!(end(&[Code::Syntax, Code::FileUnreadable], false), End::Wrong);
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let missing = Failure::from(FsError::Missing { path: "no\u{1b}where/x".into() });
        assert_eq!(
            missing.told(),
            "error: no\\x1Bwhere/x: no such file or folder\n  = help: Check the name, and the folder that you are in.\n"
        );
        let refused = io::Error::from_raw_os_error(13);
        let refused = FsError::Io { action: "read", path: "overlays/x".into(), source: refused };
        assert_eq!(
            Failure::from(refused).told(),
            "error: cannot read overlays/x: Permission denied (os error 13)\n  \
             = help: Check the permissions of the file and of the folders above it.\n"
        );
        for (code, said) in [(28, "No space left on device"), (122, "Disk quota exceeded"), (27, "File too large")] {
            let full =
                FsError::Io { action: "write", path: "out.yaml".into(), source: io::Error::from_raw_os_error(code) };
            assert_eq!(
                Failure::from(full).told(),
                format!(
                    "error: cannot write out.yaml: {said} (os error {code})\n  \
                     = help: Make room on its disk, or raise the limit that is set for it.\n"
                )
            );
        }
        let fixed = FsError::Io { action: "write", path: "out.yaml".into(), source: io::Error::from_raw_os_error(30) };
        let help = "  = help: Choose a place that can be written to.\n";
        assert!(Failure::from(fixed).told().ends_with(help));
    }
}
