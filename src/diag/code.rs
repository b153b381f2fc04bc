//! The stable codes of findings. The word is the code id, the anchor in `docs/findings.md` and the name of the case
//! folder under `tests/cases/`; a test holds the three together.

use std::fmt;

/// How grave a finding is. Errors make a command exit with 1; so do warnings under `--strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is wrong.
    Error,
    /// Something should be looked at.
    Warning,
    /// Something worth knowing.
    Note,
}

impl Severity {
    /// The word as it stands in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! codes {
    ($(#[doc = $doc:literal] $name:ident = $word:literal, $severity:ident;)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $doc] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table in `docs/findings.md`.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code's word, kebab-case.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $word,)* }
            }

            /// What findings of this code are about, in a sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => $doc.trim_ascii_start(),)* }
            }

            /// How grave findings of this code are.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A file of ours is not YAML, or not of the form that its kind has.
    Syntax = "syntax", Error;
    /// A key that the kind does not have.
    UnknownKey = "unknown-key", Error;
    /// A bare scalar in a file of ours that YAML 1.1, YAML 1.2 and go-yaml do not all read alike.
    AmbiguousScalar = "ambiguous-scalar", Error;
    /// A patch without a change, or a change without an operation.
    PatchEmpty = "patch-empty", Error;
    /// More than one document in a patch file.
    PatchSeveralDocuments = "patch-several-documents", Error;
    /// A patch file beside those of an overlay that its overlay.yaml does not list.
    PatchUnlisted = "patch-unlisted", Warning;
    /// A file that one of ours names is not there, or cannot be read: commands exit with 2 where this is all that is wrong.
    FileUnreadable = "file-unreadable", Error;
    /// A file that an overlay names lies outside the root.
    PathOutsideRoot = "path-outside-root", Error;
    /// The vendored file is not the one that the lock records.
    BaseFileChanged = "base-file-changed", Error;
    /// A document of the vendored file does not mean what the lock records.
    BaseContentChanged = "base-content-changed", Error;
    /// There is no lock, or it does not cover the base.
    BaseNotLocked = "base-not-locked", Error;
    /// kubectl cuts a manifest into other documents than we do, or cannot read it.
    ManifestUnreadable = "manifest-unreadable", Error;
    /// Two documents of the result are one resource.
    DuplicateDocument = "duplicate-document", Error;
    /// The files of a base were being written when that was cut off.
    BaseHalfWritten = "base-half-written", Error;
    /// Upstream's bytes at the pinned commit are not the recorded ones.
    UpstreamChanged = "upstream-changed", Error;
    /// Upstream has no such file, commit, branch or release.
    UpstreamGone = "upstream-gone", Error;
    /// Upstream did not answer, or not with the file: commands exit with 2 where this is all that is wrong.
    UpstreamUnreachable = "upstream-unreachable", Error;
    /// A change that names nothing as its target.
    TargetEmpty = "target-empty", Error;
    /// A change whose target is no document of the base.
    TargetMissing = "target-missing", Error;
    /// A change that hits another number of documents than it says.
    TargetCount = "target-count", Error;
    /// Nothing would be left.
    ResultEmpty = "result-empty", Error;
    /// A path that is not of the path language.
    PathInvalid = "path-invalid", Error;
    /// A path that leads nowhere.
    PathMissing = "path-missing", Error;
    /// A selector that more than one item meets.
    SelectorAmbiguous = "selector-ambiguous", Error;
    /// The value that a `was` or `test` names is not there.
    ValueMismatch = "value-mismatch", Error;
    /// An `add` of a mapping key that has another value.
    AddOverExisting = "add-over-existing", Error;
    /// An item whose merge key is in the list already, with other content.
    DuplicateItem = "duplicate-item", Error;
    /// An `add` below something that is not there.
    ParentMissing = "parent-missing", Error;
    /// A change that fits the value and cannot be written into the text.
    EditRefused = "edit-refused", Error;
    /// The text at `within` is not valid in its language.
    EmbeddedUnreadable = "embedded-unreadable", Error;
    /// A difference that no patch claims.
    UndocumentedDeparture = "undocumented-departure", Error;
    /// A claim of a patch that does not show.
    ClaimMissing = "claim-missing", Error;
    /// A patch without a summary or a reason.
    PatchUndocumented = "patch-undocumented", Error;
    /// A patch, or an operation, that changes nothing.
    AlreadyUpstream = "already-upstream", Warning;
    /// A later patch changes the same place.
    Overridden = "overridden", Warning;
    /// The day of review has passed.
    ReviewDue = "review-due", Warning;
    /// A `replace` or `remove` without `was`.
    Unguarded = "unguarded", Note;
    /// A patch that names no evidence.
    EvidenceMissing = "evidence-missing", Note;
    /// A trailing comment that stays behind a changed value.
    CommentKept = "comment-kept", Note;
    /// An image by tag alone.
    ImageNotPinned = "image-not-pinned", Warning;
    /// A path under `images` leads to no text.
    ImagePathMissing = "image-path-missing", Warning;
    /// A patch takes an image's digest away.
    PinDropped = "pin-dropped", Error;
    /// A digest that is none.
    DigestMalformed = "digest-malformed", Error;
    /// An image's tag and the base are of two releases of one repository.
    ReleaseDiffers = "release-differs", Note;
    /// The tag beside a digest names another image now.
    TagMoved = "tag-moved", Warning;
    /// The registry no longer has the digest.
    DigestGone = "digest-gone", Error;
    /// The registry did not say.
    RegistryUnknown = "registry-unknown", Warning;
    /// A base has two documents of one resource.
    BaseDuplicateDocument = "base-duplicate-document", Warning;
    /// A base gives a mapping key twice.
    BaseDuplicateKey = "base-duplicate-key", Warning;
    /// A base gives a list item's key twice.
    BaseDuplicateItem = "base-duplicate-item", Warning;
    /// A base's identity is read by Kubernetes as something other than text.
    BaseIdentityNotText = "base-identity-not-text", Warning;
    /// A base has a bare scalar that readers do not agree on.
    BaseAmbiguousScalar = "base-ambiguous-scalar", Note;
    /// A result that was asked for with comments can have none.
    AnnotationLeftOut = "annotation-left-out", Warning;
    /// The committed result is not what the build gives.
    RenderedStale = "rendered-stale", Error;
    /// The two roads of a build disagree: a mistake in this program.
    Internal = "internal", Error;
}

impl Code {
    /// Whether it says that a run could not do its work, rather than that the content of a file is wrong.
    pub fn keeps_from_running(self) -> bool {
        matches!(self, Code::FileUnreadable | Code::UpstreamUnreachable)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
