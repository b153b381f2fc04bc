//! `base.yaml`: where the documents of a base come from, which of them are kept, and what the vendored files are called.

use std::sync::Arc;

use super::root::{Located, Root};
use crate::config::{self, Fields, File, Findings, Form, Spanned, View};
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::patch;
use crate::resource::Target;

/// The name of the file in a base's folder.
pub const FILE_NAME: &str = "base.yaml";

/// Names that a vendored file cannot have, because they mean something in the folder.
const OUR_NAMES: [&str; 3] = [FILE_NAME, super::lock::FILE_NAME, super::overlay::FILE_NAME];

const FORM: Form = Form::new("Base");

/// A base: the content of its `base.yaml`.
#[derive(Clone, Debug)]
pub struct Base {
    /// Its folder.
    pub folder: Located,
    /// Its `base.yaml`.
    pub source: Arc<Source>,
    /// What reports call it.
    pub name: Spanned<String>,
    /// One line on what it is.
    pub description: Option<String>,
    /// Upstream's licence, as an SPDX expression.
    pub license: Option<String>,
    /// Where upstream publishes.
    pub origin: Origin,
    /// The files there, in order; at least one.
    pub files: Vec<Published>,
    /// Which documents are kept; `None` keeps all.
    pub keep: Option<Vec<Spanned<Target>>>,
}

/// Where upstream publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A repository on GitHub.
    GitHub {
        /// `owner/name`.
        repository: String,
        /// The commit and what it is followed by.
        revision: Revision,
    },
    /// A release on GitHub.
    Release {
        /// `owner/name`.
        repository: String,
        /// The release's tag.
        release: String,
    },
    /// A git repository anywhere.
    Git {
        /// The repository's address.
        url: String,
        /// The commit and what it is followed by.
        revision: Revision,
    },
    /// Addresses.
    Url,
    /// A file in the root.
    File,
}

/// A pinned commit, and the branch or tag that newer ones are looked for on. At least one is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The branch or tag.
    pub follows: Option<Spanned<String>>,
    /// The commit, 40 or 64 hexadecimal digits.
    pub commit: Option<String>,
}

/// One file that upstream publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// What it is called there: a path in the repository, an asset, an address, or a path of ours.
    pub path: Spanned<String>,
    /// What the vendored file is called.
    pub vendored: String,
}

impl Origin {
    /// Where a file is, as the lock records it; `None` while no commit is pinned.
    pub fn address(&self, file: &Published) -> Option<String> {
        let path = &file.path.value;
        match self {
            Origin::GitHub { repository, revision } => {
                let commit = revision.commit.as_deref()?;
                Some(format!("https://raw.githubusercontent.com/{repository}/{commit}/{}", escaped(path)))
            }
            Origin::Release { repository, release } => {
                let release = escaped(release);
                Some(format!("https://github.com/{repository}/releases/download/{release}/{}", escaped(path)))
            }
            Origin::Git { url, revision } => {
                let commit = revision.commit.as_deref()?;
                Some(format!("git+{url}@{commit}#{path}"))
            }
            Origin::Url | Origin::File => Some(path.clone()),
        }
    }

    /// The commit and what it is followed by, where the source is a repository.
    pub fn revision(&self) -> Option<&Revision> {
        match self {
            Origin::GitHub { revision, .. } | Origin::Git { revision, .. } => Some(revision),
            Origin::Release { .. } | Origin::Url | Origin::File => None,
        }
    }

    /// Whether the bytes behind an address can never change by right: a commit or a release is named.
    pub fn is_pinned(&self) -> bool {
        match self {
            Origin::GitHub { revision, .. } | Origin::Git { revision, .. } => revision.commit.is_some(),
            Origin::Release { .. } => true,
            Origin::Url | Origin::File => false,
        }
    }
}

/// Whether a text has the form of an SPDX licence expression: identifiers with operators between them, in brackets that
/// match (SPDX specification, annex "SPDX license expressions"). Whether there is such an identifier is not asked.
fn is_license(text: &str) -> bool {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let is_identifier =
        |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | ':'));
    let (mut depth, mut wants_one) = (0_usize, true);
    for word in spaced.split_whitespace() {
        match word {
            "(" if wants_one => depth += 1,
            ")" if !wants_one && depth > 0 => depth -= 1,
            "AND" | "OR" | "WITH" if !wants_one => wants_one = true,
            _ if wants_one && !matches!(word, "(" | ")" | "AND" | "OR" | "WITH") && is_identifier(word) => {
                wants_one = false;
            }
            _ => return false,
        }
    }
    depth == 0 && !wants_one
}

impl Base {
    /// Reads the `base.yaml` of a folder; what is wrong with it is told with its line.
    pub fn load(root: &Root, folder: &Located, findings: &mut Findings) -> Option<Base> {
        let source = own_file(root, folder, FILE_NAME, findings)?;
        Base::read(folder, source, findings)
    }

    /// The base that a text says which stands, or is to stand, in the `base.yaml` of a folder.
    pub fn read(folder: &Located, source: Arc<Source>, findings: &mut Findings) -> Option<Base> {
        let file = findings.keep(File::open(&source, FORM))?;
        let top = file.top(&["name", "description", "license", "source", "keep"], findings)?;
        let name = top.require("name", findings).and_then(|v| v.text(findings));
        let description = top.given("description").and_then(|v| v.text(findings));
        let license = top.given("license").and_then(|v| Some((v, v.text(findings)?)));
        if let Some((view, license)) = &license
            && !is_license(&license.value)
        {
            let message = format!("`{}` is no SPDX expression", license.value);
            let finding = view.file().syntax(message, view.span(), "a licence belongs here");
            findings.add(finding.help("Write the identifier of spdx.org/licenses, such as `Apache-2.0`, or `MIT OR Apache-2.0`; for any other, `LicenseRef-NAME`."));
        }
        let upstream = top.require("source", findings).and_then(|v| read_source(v, findings));
        let keep = match top.get("keep") {
            None => Some(None),
            Some(view) => read_keep(view, findings).map(Some),
        };
        let (origin, files) = upstream?;
        check_names(&file, &files, findings);
        Some(Base {
            folder: folder.clone(),
            source,
            name: name?,
            description: description.map(|d| d.value),
            license: license.map(|(_, license)| license.value),
            origin,
            files,
            keep: keep?,
        })
    }

    /// A place in the `base.yaml`.
    pub fn place<T>(&self, spanned: &Spanned<T>) -> Place {
        Place::new(&self.source, spanned.span.clone())
    }
}

/// One of the files that give a folder its meaning, read from the folder. `None` and a finding where it cannot be.
pub(super) fn own_file(root: &Root, folder: &Located, name: &str, findings: &mut Findings) -> Option<Arc<Source>> {
    let located = match root.resolve(&folder.path, name) {
        Ok(located) => located,
        Err(error) => {
            findings.add(error.diagnose(None));
            return None;
        }
    };
    match root.read(&located) {
        Ok(bytes) => findings.keep(config::source(located.name, bytes)),
        Err(error) => {
            findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string()));
            None
        }
    }
}

type Upstream = (Origin, Vec<Published>);

const KINDS: [&str; 4] = ["github", "url", "git", "file"];

fn read_source(view: View<'_>, findings: &mut Findings) -> Option<Upstream> {
    let fields = view.fields("`source`", &["github", "url", "git", "file", "as"], findings)?;
    let mut given = KINDS.into_iter().filter(|kind| fields.get(kind).is_some());
    let kind = given.next();
    if kind.is_none() || given.next().is_some() {
        let message = "a base has one source: `github`, `url`, `git` or `file`";
        findings.add(view.file().syntax(message, view.span(), "one of them belongs here"));
        return None;
    }
    let name = fields.get("as");
    match kind? {
        "github" => read_github(fields.get("github")?, name, findings),
        "git" => read_git(fields.get("git")?, name, findings),
        "url" => Some((Origin::Url, read_published(fields.get("url")?, name, "url", web_address, findings)?)),
        _ => Some((Origin::File, vec![read_one(fields.get("file")?, name, relative_path, findings)?])),
    }
}

fn read_github(view: View<'_>, outer: Option<View<'_>>, findings: &mut Findings) -> Option<Upstream> {
    let known = ["repository", "ref", "commit", "path", "paths", "release", "asset", "as"];
    let fields = view.fields("`github`", &known, findings)?;
    let name = fields.get("as").or(outer);
    let repository = checked(fields.require("repository", findings), repository, findings);
    if fields.get("release").is_some() || fields.get("asset").is_some() {
        for key in ["ref", "commit", "path", "paths"] {
            if let Some(span) = fields.key_span(key) {
                findings.add(view.file().syntax(
                    format!("`{key}` does not go with a release"),
                    span,
                    "a release is named by `release` and `asset` alone",
                ));
            }
        }
        let release = checked(fields.require("release", findings), revision_name, findings);
        let asset = fields.require("asset", findings).and_then(|v| read_one(v, name, file_name, findings));
        return Some((Origin::Release { repository: repository?, release: release? }, vec![asset?]));
    }
    let revision = read_revision(&fields, findings);
    let files = match (fields.get("path"), fields.get("paths")) {
        (Some(path), None) => read_one(path, name, repository_path, findings).map(|f| vec![f]),
        (None, Some(paths)) => read_published(paths, name, "path", repository_path, findings),
        (None, None) => fields.require("path", findings).and(None),
        (Some(_), Some(paths)) => {
            findings.add(view.file().syntax("`path` and `paths` do not go together", paths.span(), "or this one"));
            None
        }
    };
    Some((Origin::GitHub { repository: repository?, revision: revision? }, files?))
}

fn read_git(view: View<'_>, outer: Option<View<'_>>, findings: &mut Findings) -> Option<Upstream> {
    let fields = view.fields("`git`", &["url", "ref", "commit", "path", "as"], findings)?;
    let name = fields.get("as").or(outer);
    let url = checked(fields.require("url", findings), web_address, findings);
    let revision = read_revision(&fields, findings);
    let file = fields.require("path", findings).and_then(|v| read_one(v, name, repository_path, findings));
    Some((Origin::Git { url: url?, revision: revision? }, vec![file?]))
}

fn read_revision(fields: &Fields<'_>, findings: &mut Findings) -> Option<Revision> {
    let (follows, commit) = (fields.get("ref"), fields.get("commit"));
    if follows.is_none() && commit.is_none() {
        return fields.require("commit", findings).and(None);
    }
    let read = |view: Option<View<'_>>, rule: Rule, findings: &mut Findings| match view {
        None => Some(None),
        Some(view) => checked_spanned(view, rule, findings).map(Some),
    };
    let follows = read(follows, revision_name, findings);
    let commit = read(commit, commit_id, findings);
    Some(Revision { follows: follows?, commit: commit?.map(|c| c.value) })
}

/// One or several published files: a text, or a list of texts and of mappings with the key `key` and `as`.
fn read_published(
    view: View<'_>,
    name: Option<View<'_>>,
    key: &'static str,
    rule: Rule,
    findings: &mut Findings,
) -> Option<Vec<Published>> {
    if !view.is_list() {
        return read_one(view, name, rule, findings).map(|file| vec![file]);
    }
    if let Some(name) = name {
        let label = format!("write `{{{key}: …, as: …}}` in the list");
        findings.add(view.file().syntax("`as` does not say which file of the list it means", name.span(), label));
    }
    let items = view.items(findings)?;
    if items.is_empty() {
        return view.unexpected("at least one file", findings);
    }
    let read = |item: &View<'_>, findings: &mut Findings| {
        if !item.is_mapping() {
            return read_one(*item, None, rule, findings);
        }
        let fields = item.fields("a file of the list", &[key, "as"], findings)?;
        read_one(fields.require(key, findings)?, fields.get("as"), rule, findings)
    };
    let files: Vec<Option<Published>> = items.iter().map(|item| read(item, findings)).collect();
    files.into_iter().collect()
}

fn read_one(view: View<'_>, name: Option<View<'_>>, rule: Rule, findings: &mut Findings) -> Option<Published> {
    let path = checked_spanned(view, rule, findings);
    let name = match name {
        Some(name) => Some(checked(Some(name), file_name, findings)?),
        None => None,
    };
    let path = path?;
    let Some(vendored) = name.or_else(|| base_name(&path.value).map(str::to_owned)) else {
        let finding = view.file().syntax("no file name can be told from this", view.span(), "it names no file");
        findings.add(finding.help("Say what the vendored file is called with `as: NAME`."));
        return None;
    };
    Some(Published { path, vendored })
}

/// The last segment of a path or address, without query and fragment, if it can be a file's name.
fn base_name(path: &str) -> Option<&str> {
    let path = match path.split_once("://") {
        Some((_, rest)) => rest.split(['?', '#']).next().and_then(|rest| rest.split_once('/'))?.1,
        None => path,
    };
    path.rsplit('/').next().filter(|name| file_name(name).is_ok())
}

/// What is wrong with the names of the vendored files: one that means something in the folder, or one name twice.
fn check_names(file: &File, files: &[Published], findings: &mut Findings) {
    for (i, published) in files.iter().enumerate() {
        let name = &published.vendored;
        let span = published.path.span.clone();
        if OUR_NAMES.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
            let message = format!("the vendored file would be called {name}, which means something else here");
            findings.add(file.syntax(message, span, "").help("Give it another name with `as: NAME`."));
        } else if let Some(first) = files[..i].iter().find(|f| f.vendored == *name) {
            findings.add(
                file.syntax(format!("two vendored files would be called {name}"), span, "this one")
                    .related(file.place(first.path.span.clone()), "and this one")
                    .help("Give one of them another name with `as: NAME`."),
            );
        }
    }
}

fn read_keep(view: View<'_>, findings: &mut Findings) -> Option<Vec<Spanned<Target>>> {
    let items = view.items(findings)?;
    if items.is_empty() {
        return view.unexpected("at least one target", findings);
    }
    let read = |item: &View<'_>, findings: &mut Findings| {
        patch::target(*item, findings).map(|value| Spanned { value, span: item.span() })
    };
    let targets: Vec<Option<_>> = items.iter().map(|item| read(item, findings)).collect();
    targets.into_iter().collect()
}

/// What a text must be: `Err` says what is expected instead.
type Rule = fn(&str) -> Result<(), &'static str>;

fn checked(view: Option<View<'_>>, rule: Rule, findings: &mut Findings) -> Option<String> {
    checked_spanned(view?, rule, findings).map(|t| t.value)
}

fn checked_spanned(view: View<'_>, rule: Rule, findings: &mut Findings) -> Option<Spanned<String>> {
    let text = view.text(findings)?;
    match rule(&text.value) {
        Ok(()) => Some(text),
        Err(expected) => view.unexpected(expected, findings),
    }
}

fn require(holds: bool, expected: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(expected) }
}

fn repository(text: &str) -> Result<(), &'static str> {
    let part = |p: &str| {
        !matches!(p, "" | "." | "..") && p.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    let both = text.split_once('/').is_some_and(|(owner, name)| part(owner) && part(name));
    require(both, "a repository as `owner/name`")
}

fn commit_id(text: &str) -> Result<(), &'static str> {
    let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    require(matches!(text.len(), 40 | 64) && digits, "a commit of 40 hexadecimal digits")
}

/// A branch or tag, by the rules of git-check-ref-format(1) that matter here.
fn revision_name(text: &str) -> Result<(), &'static str> {
    let bad = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let well = !text.is_empty()
        && !text.contains(bad)
        && !text.contains("..")
        && !text.starts_with('-')
        && text.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    require(well, "the name of a branch or tag")
}

fn web_address(text: &str) -> Result<(), &'static str> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let well = rest.is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !host.is_empty() && !host.contains('@') && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
    });
    require(well, "an address that begins with `https://`, without credentials,")
}

fn repository_path(text: &str) -> Result<(), &'static str> {
    let well = text.split('/').all(|part| !matches!(part, "" | "." | "..")) && !text.contains(char::is_control);
    require(well, "a path in the repository, without `.` and `..`,")
}

fn relative_path(text: &str) -> Result<(), &'static str> {
    require(!text.is_empty() && !text.contains(char::is_control), "the path of a file")
}

/// A name that a file of a folder can have on every system.
fn file_name(text: &str) -> Result<(), &'static str> {
    let bad = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let well = !text.is_empty() && text.len() <= 255 && !text.starts_with('.') && !text.contains(bad);
    require(well, "the name of a file, without a folder,")
}

/// A path as part of an address: the characters that would end a path, and those that no address has, as `%XX`
/// (RFC 3986, 3.3).
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::testing::Project;

    const HEAD: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\n";
    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    /// The address and vendored name of each file of a base with that `source:`.
    fn files(source: &str) -> Vec<(Option<String>, String)> {
        let project = Project::new(&[("b/base.yaml", &format!("{HEAD}source: {source}\n"))]);
        let base = project.base("b");
        base.files.iter().map(|f| (base.origin.address(f), f.vendored.clone())).collect()
    }

    /// The one address and vendored name.
    fn file(source: &str) -> (String, String) {
        let [(address, name)] = files(source).try_into().unwrap();
        (address.unwrap(), name)
    }

    #[test]
    fn licences_have_the_form_of_spdx_expressions() {
        for text in [
            "Apache-2.0",
            "GPL-2.0+",
            "MIT OR Apache-2.0",
            "(MIT AND BSD-3-Clause) OR GPL-2.0-only WITH x",
            "LicenseRef-own",
            "DocumentRef-a:LicenseRef-b",
        ] {
            assert!(is_license(text), "{text}");
        }
        for text in
            ["", "Apache License 2.0", "MIT OR", "OR MIT", "(MIT", "MIT)", "()", "MIT or BSD", "see LICENSE", "a/b"]
        {
            assert!(!is_license(text), "{text}");
        }
    }

    fn mistakes(rest: &str) -> Vec<String> {
        let project = Project::new(&[("b/base.yaml", &format!("{HEAD}{rest}"))]);
        let mut findings = Findings::new();
        Base::load(&project.root, &project.folder("b"), &mut findings);
        project.told(&findings).iter().map(|t| t.replace("b/base.yaml:", "")).collect()
    }

    fn pair(address: &str, name: &str) -> (String, String) {
        (address.to_owned(), name.to_owned())
    }

    #[test]
    fn every_source_gives_an_address_and_a_name() {
        assert_eq!(
            file(&format!("{{github: {{repository: o/r, ref: main, commit: {COMMIT}, path: deploy/a b.yaml}}}}")),
            pair(&format!("https://raw.githubusercontent.com/o/r/{COMMIT}/deploy/a%20b.yaml"), "a b.yaml")
        );
        assert_eq!(
            file("{github: {repository: o/r, release: v1.2.3, asset: install.yaml}}"),
            pair("https://github.com/o/r/releases/download/v1.2.3/install.yaml", "install.yaml")
        );
        assert_eq!(
            file("{url: 'https://example.org/x/y.yaml?raw=1'}"),
            pair("https://example.org/x/y.yaml?raw=1", "y.yaml")
        );
        assert_eq!(
            file(&format!("{{git: {{url: 'https://example.org/r.git', commit: {COMMIT}, path: a/b.yaml}}}}")),
            pair(&format!("git+https://example.org/r.git@{COMMIT}#a/b.yaml"), "b.yaml")
        );
        assert_eq!(file("{file: ../up/stream.yaml}"), pair("../up/stream.yaml", "stream.yaml"));
        assert_eq!(files("{github: {repository: o/r, ref: main, path: a.yaml}}"), [(None, "a.yaml".to_owned())]);
    }

    #[test]
    fn several_files_may_have_names_of_their_own() {
        let source = format!(
            "{{github: {{repository: o/r, commit: {COMMIT}, paths: [a/x.yaml, {{path: b/x.yaml, as: y.yaml}}]}}}}"
        );
        let names: Vec<String> = files(&source).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["x.yaml", "y.yaml"]);
        let names = files("{url: [https://example.org/a.yaml, {url: https://example.org/, as: b.yaml}]}");
        assert_eq!(names[1], (Some("https://example.org/".to_owned()), "b.yaml".to_owned()));
        assert_eq!(file("{file: ../base.yaml, as: upstream.yaml}").1, "upstream.yaml");
    }

    #[test]
    fn names_that_clash_are_refused() {
        assert_eq!(
            mistakes("source:\n  url:\n    - https://example.org/a/x.yaml\n    - https://example.org/b/x.yaml\n"),
            ["7:7 syntax: two vendored files would be called x.yaml"]
        );
        for name in ["base.yaml", "base.lock", "overlay.yaml", "Base.YAML"] {
            assert_eq!(
                mistakes(&format!("source:\n  file: ../{name}\n")),
                [format!("5:9 syntax: the vendored file would be called {name}, which means something else here")]
            );
        }
        for name in ["a/b", "..", ".hidden", "'a:b'", "''"] {
            assert_eq!(mistakes(&format!("source: {{file: ../x.yaml, as: {name}}}\n")).len(), 1, "{name}");
        }
        assert_eq!(
            mistakes("source:\n  url: https://example.org/\n"),
            ["5:8 syntax: no file name can be told from this"]
        );
    }

    #[test]
    fn a_source_that_cannot_be_is_told_with_its_line() {
        assert_eq!(mistakes(""), ["1:1 syntax: the key `source` is missing in the kind Base"]);
        let one = "a base has one source: `github`, `url`, `git` or `file`";
        assert_eq!(mistakes("source: {}\n"), [format!("4:9 syntax: {one}")]);
        assert_eq!(
            mistakes("source: {file: x.yaml, url: https://example.org/x.yaml}\n"),
            [format!("4:9 syntax: {one}")]
        );
        assert_eq!(
            mistakes("source:\n  github:\n    repository: o\n    commit: main\n    path: ../x.yaml\n"),
            [
                "6:17 syntax: a repository as `owner/name` is expected, not `o`",
                "7:13 syntax: a commit of 40 hexadecimal digits is expected, not `main`",
                "8:11 syntax: a path in the repository, without `.` and `..`, is expected, not `../x.yaml`",
            ]
        );
        assert_eq!(
            mistakes("source: {github: {repository: o/r, release: v1, asset: x.yaml, path: x.yaml}}\n"),
            ["4:64 syntax: `path` does not go with a release"]
        );
        assert_eq!(
            mistakes("source: {github: {repository: o/r, path: x.yaml}}\n"),
            ["4:18 syntax: the key `commit` is missing in `github`"]
        );
        for address in ["ftp://example.org/x.yaml", "https://user:secret@example.org/x.yaml", "https:///x.yaml"] {
            assert_eq!(mistakes(&format!("source: {{url: '{address}'}}\n")).len(), 1, "{address}");
        }
    }

    #[test]
    fn keep_names_at_least_one_document_by_known_fields() {
        let keep = |keep: &str| mistakes(&format!("source: {{file: x.yaml}}\nkeep: {keep}\n"));
        assert!(keep("[{kind: ConfigMap, name: n}]").is_empty());
        assert_eq!(keep("[]").len(), 1);
        assert_eq!(keep("[{}]"), ["5:8 target-empty: the target is empty: it would mean every document"]);
        assert_eq!(keep("[{knid: ConfigMap}]")[0], "5:9 unknown-key: a target has no key `knid`");
    }
}
