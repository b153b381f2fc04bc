//! Moving a base along: another commit, branch or release in its `base.yaml`, every other byte of which stays.

use super::base::{self, Base, Origin};
use super::root::Root;
use super::vendor::Step;
use crate::change::{Action, Change, New, apply_edits};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Source};
use crate::yaml::edit;

/// Where a base goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// To a commit of its repository.
    Commit {
        /// The commit.
        commit: String,
        /// The branch or tag that it follows from now on; `None` leaves it.
        follows: Option<String>,
    },
    /// To a release.
    Release(String),
}

/// The base as it is there, and the step that writes its `base.yaml`, where that does not say so already. `None` where
/// the source has no pin of that kind, or the new one is none, which the findings tell.
pub fn pin(root: &Root, base: &Base, to: &Pin, findings: &mut Findings) -> Option<(Base, Option<Step>)> {
    let old = &base.source;
    let text = findings.keep(pinned(base, to))?;
    if text == old.text {
        return Some((base.clone(), None));
    }
    let pinned = Base::read(&base.folder, Source::new(old.name.clone(), text.clone()), findings)?;
    let file = root.resolve(&base.folder.path, base::FILE_NAME).map_err(|e| Box::new(e.diagnose(None)));
    let file = findings.keep(file)?;
    let note = match to {
        Pin::Commit { commit, .. } => format!("commit {commit}"),
        Pin::Release(name) => format!("release {name}"),
    };
    Some((pinned, Some(Step { file, bytes: Some(text.into_bytes()), note })))
}

/// The text of the `base.yaml` with the new pin in it.
fn pinned(base: &Base, to: &Pin) -> Result<String, Box<Diagnostic>> {
    let kind = match &base.origin {
        Origin::GitHub { .. } | Origin::Release { .. } => "github",
        _ => "git",
    };
    let text = base.source.text.clone();
    match (to, base.origin.revision(), &base.origin) {
        (Pin::Commit { commit, follows }, Some(revision), _) => {
            let old = revision.follows.as_ref().map(|follows| follows.value.as_str());
            let text = match follows {
                Some(name) => set(base, text, [kind, "ref"], old, name)?,
                None => text,
            };
            set(base, text, [kind, "commit"], revision.commit.as_deref(), commit)
        }
        (Pin::Release(name), _, Origin::Release { release, .. }) => {
            set(base, text, [kind, "release"], Some(release), name)
        }
        _ => Err(Box::new(Diagnostic::new(Code::Syntax, format!("{} pins nothing of that kind", base.source.name)))),
    }
}

/// The text with a value at a key of `source`, in the place of the old one.
fn set(
    base: &Base,
    text: String,
    [kind, key]: [&str; 2],
    old: Option<&str>,
    value: &str,
) -> Result<String, Box<Diagnostic>> {
    if old == Some(value) {
        return Ok(text);
    }
    let value = value.into();
    let new = New { value: &value, spelled: None, comment: None };
    let action = if old.is_none() { Action::Add(new) } else { Action::Replace(new) };
    let path = ["source", kind, key].map(str::to_owned);
    let edits = edit::edit(&text, &Change { action, path: &path }).map_err(|error| {
        let message = format!("`{key}` cannot be written into {}: {error}", base.source.name);
        Box::new(Diagnostic::new(Code::EditRefused, message).help(format!("Write `{key}:` there yourself.")))
    })?;
    Ok(apply_edits(&text, &edits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::testing::Project;

    /// The `base.yaml` with that source behind the step, and what its files' addresses are then.
    fn moved(source: &str, to: &Pin) -> Result<(Option<String>, Vec<String>), Vec<String>> {
        let head = "# ours\napiVersion: overlay/v1\nkind: Base\nname: b\nsource:\n";
        let project = Project::new(&[("b/base.yaml", &format!("{head}{source}"))]);
        let mut findings = Findings::new();
        let pinned = pin(&project.root, &project.base("b"), to, &mut findings);
        let (base, step) = pinned.ok_or_else(|| project.told(&findings))?;
        let text = step.map(|step| String::from_utf8(step.bytes.unwrap()).unwrap());
        let text = text.map(|text| text.strip_prefix(head).unwrap().to_owned());
        Ok((text, base.files.iter().map(|file| base.origin.address(file).unwrap()).collect()))
    }

    fn commit(digit: &str, follows: Option<&str>) -> Pin {
        Pin::Commit { commit: digit.repeat(40), follows: follows.map(Into::into) }
    }

    #[test]
    fn a_commit_and_what_it_follows_take_the_place_of_the_old_ones() {
        let source = "  github: # there\n    repository: o/r\n    ref: v1 # the last one\n    commit: 1111111111111111111111111111111111111111\n    path: a.yaml\n";
        let address = |digit: &str| format!("https://raw.githubusercontent.com/o/r/{}/a.yaml", digit.repeat(40));
        let (text, addresses) = moved(source, &commit("a", Some("v2"))).unwrap();
        assert_eq!(text.unwrap(), source.replace("v1", "v2").replace(&"1".repeat(40), &"a".repeat(40)));
        assert_eq!(addresses, [address("a")]);
        assert_eq!(moved(source, &commit("1", None)).unwrap(), (None, vec![address("1")]));
    }

    #[test]
    fn a_base_that_only_follows_gets_its_commit() {
        let (text, _) =
            moved("  git: {url: 'https://git.example/r', ref: main, path: a.yaml}\n", &commit("b", None)).unwrap();
        let expected =
            format!("  git: {{url: 'https://git.example/r', ref: main, path: a.yaml, commit: {}}}\n", "b".repeat(40));
        assert_eq!(text.unwrap(), expected);
    }

    #[test]
    fn a_release_is_gone_to_by_its_name() {
        let source = "  github: {repository: o/r, release: v1.0, asset: a.yaml}\n";
        let (text, addresses) = moved(source, &Pin::Release("v1.1".into())).unwrap();
        assert_eq!(text.unwrap(), source.replace("v1.0", "v1.1"));
        assert_eq!(addresses, ["https://github.com/o/r/releases/download/v1.1/a.yaml"]);
        assert_eq!(
            moved(source, &Pin::Release("no release".into())).unwrap_err(),
            ["b/base.yaml:6:38 syntax: the name of a branch or tag is expected, not `no release`"]
        );
    }

    #[test]
    fn a_source_without_pins_has_nothing_to_move() {
        let told = ["syntax: b/base.yaml pins nothing of that kind"];
        assert_eq!(moved("  file: a.yaml\n", &commit("c", None)).unwrap_err(), told);
        assert_eq!(moved("  file: a.yaml\n", &Pin::Release("v1".into())).unwrap_err(), told);
    }
}
