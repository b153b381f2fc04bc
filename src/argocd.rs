//! What Argo CD hands to a plugin and wants of it, as data: parameters in, an announcement of parameters out, errors
//! that fit on its page, and which folders are ours.
//!
//! Argo CD starts the plugin in the folder of the Application, in a work folder that holds what it chose to hand over
//! of the repository. Everything that it says comes through environment variables; they are read in `cli` and given in
//! here. Nothing here reads a file or knows the terminal.
//!
//! The rules are those of Argo CD's configuration management plugins (v2, sidecars): parameters are a JSON list in
//! `ARGOCD_APP_PARAMETERS`; what the Application sets under `plugin.env` comes with the prefix `ARGOCD_ENV_`; a command
//! that fails is shown as `failed exit status N:` and its standard error, mostly in one line.

use serde::Serialize;
use serde_json::Value;

use crate::diag::render;
use crate::diag::visible::{shortened, visible};
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::patch::Patch;
use crate::yaml::load::load_text;

/// The variable that the Application's parameters come in.
pub const PARAMETERS: &str = "ARGOCD_APP_PARAMETERS";

/// What the variables begin with that an Application sets itself.
pub const ENVIRONMENT_PREFIX: &str = "ARGOCD_ENV_";

/// The parameters that every overlay has. Each can be set as a variable too, in capital letters behind the prefix.
const GENERAL: [&str; 3] = ["overlay", "annotate", "strict"];

/// What the parameter of a patch begins with; its name follows.
const PATCH_PREFIX: &str = "patch.";

/// How many findings an error tells; the rest are counted.
const MAX_TOLD: usize = 5;

/// How long a line of an error may be, in characters.
const MAX_LINE: usize = 400;

/// The annotation of an Application that narrows what Argo CD hands over.
const PATHS_ANNOTATION: &str = "argocd.argoproj.io/manifest-generate-paths";

/// What an Application wants of the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The overlay's folder, relative to the Application's.
    pub overlay: Option<String>,
    /// Whether the result has comments that name the patch at each departure.
    pub annotate: bool,
    /// Whether a warning is as bad as an error.
    pub strict: bool,
    /// The patches that are left out, by name.
    pub without: Vec<String>,
}

/// What is wrong with the parameters of an Application.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// They are not what Argo CD writes.
    #[error("{PARAMETERS} is not a list of parameters as Argo CD writes it: {0}")]
    Unreadable(String),
    /// There is no such parameter.
    #[error("the Application sets `{name}`, and overlay has no such parameter{}; there are {there_are}", near.as_ref().map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default())]
    Unknown {
        /// As the Application writes it.
        name: String,
        /// The one that is probably meant.
        near: Option<String>,
        /// All of them.
        there_are: String,
    },
    /// One parameter is set twice.
    #[error("the Application sets the parameter `{0}` twice")]
    Twice(String),
    /// A parameter is a list or a map.
    #[error("the parameter `{0}` takes a string, and the Application sets no string")]
    NotText(String),
    /// A switch has another value than its two.
    #[error("the parameter `{name}` is `true` or `false`, and the Application sets `{value}`")]
    NotSwitch {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
    },
}

impl Settings {
    /// What an Application wants: the content of [`PARAMETERS`], if it is there, and the variables that begin with
    /// [`ENVIRONMENT_PREFIX`], without it. A parameter goes before a variable.
    ///
    /// # Errors
    /// When anything of it is not known here: an Application with a misspelt parameter would quietly get another
    /// result than its author thinks.
    pub fn read(parameters: Option<&str>, environment: &[(String, String)]) -> Result<Settings, Mistake> {
        let mut settings = Settings::default();
        for (name, value) in environment {
            let Some(parameter) = GENERAL.iter().find(|parameter| parameter.to_uppercase() == *name) else {
                let known = GENERAL.map(str::to_uppercase);
                return Err(unknown(name, ENVIRONMENT_PREFIX, &known.each_ref().map(String::as_str)));
            };
            settings.set(parameter, value)?;
        }
        let mut seen: Vec<String> = Vec::new();
        for (name, value) in list(parameters.unwrap_or_default())? {
            if seen.contains(&name) {
                return Err(Mistake::Twice(name));
            }
            settings.set(&name, &value.ok_or_else(|| Mistake::NotText(name.clone()))?)?;
            seen.push(name);
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Mistake> {
        match name {
            "overlay" => self.overlay = Some(value.to_owned()).filter(|v| !v.is_empty()),
            "annotate" => self.annotate = switch(name, value)?,
            "strict" => self.strict = switch(name, value)?,
            _ => match name.strip_prefix(PATCH_PREFIX) {
                Some(patch) if !switch(name, value)? => self.without.push(patch.to_owned()),
                Some(_) => {}
                None => return Err(unknown(name, "", &GENERAL)),
            },
        }
        Ok(())
    }

    /// Whether every patch that is left out is one of these.
    ///
    /// # Errors
    /// When one is not.
    pub fn check_patches<'p>(&self, patches: impl Iterator<Item = &'p str>) -> Result<(), Mistake> {
        let known: Vec<&str> = patches.collect();
        match self.without.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(unknown(name, PATCH_PREFIX, &known)),
        }
    }
}

fn unknown(name: &str, prefix: &str, known: &[&str]) -> Mistake {
    let near = nearest(name, known.iter().copied()).map(|near| format!("{prefix}{near}"));
    let mut there_are: Vec<String> = known.iter().map(|k| format!("{prefix}{k}")).collect();
    if prefix.is_empty() {
        there_are.push(format!("{PATCH_PREFIX}NAME"));
    }
    Mistake::Unknown { name: format!("{prefix}{name}"), near, there_are: there_are.join(", ") }
}

fn switch(name: &str, value: &str) -> Result<bool, Mistake> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Mistake::NotSwitch { name: name.to_owned(), value: value.to_owned() }),
    }
}

/// The parameters with their values; `None` where a value is no string. Argo CD writes `null` where there are none.
fn list(parameters: &str) -> Result<Vec<(String, Option<String>)>, Mistake> {
    if parameters.trim().is_empty() {
        return Ok(Vec::new());
    }
    let unreadable = |why: String| Mistake::Unreadable(why);
    let items = match serde_json::from_str(parameters).map_err(|e| unreadable(e.to_string()))? {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items,
        _ => return Err(unreadable("it is no list".to_owned())),
    };
    let read = |item: &Value| {
        let name = item.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| unreadable("an item has no name".to_owned()))?;
        Ok((name.to_owned(), item.get("string").and_then(Value::as_str).map(str::to_owned)))
    };
    items.iter().map(read).collect()
}

/// A parameter as Argo CD shows it (`ParameterAnnouncement`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Announced {
    name: String,
    title: String,
    tooltip: String,
    required: bool,
    item_type: &'static str,
    collection_type: &'static str,
    /// The value that it has where the Application does not set it.
    string: String,
}

/// The parameters that an Application may set, as the JSON that Argo CD reads: those of the plugin, and one for each
/// patch, with its summary and its reason.
pub fn announcement<'p>(patches: impl Iterator<Item = &'p Patch>) -> String {
    let announced = |name: String, title: String, tooltip: String, item_type, default: &str| Announced {
        name,
        title,
        tooltip,
        required: false,
        item_type,
        collection_type: "string",
        string: default.to_owned(),
    };
    let mut all = vec![
        announced(
            "overlay".to_owned(),
            "Overlay".to_owned(),
            "The overlay's folder, relative to the Application's".to_owned(),
            "string",
            ".",
        ),
        announced(
            "annotate".to_owned(),
            "Annotate".to_owned(),
            "Whether comments name the patch at each departure, for who runs the command by hand; Argo CD drops comments"
                .to_owned(),
            "boolean",
            "false",
        ),
        announced(
            "strict".to_owned(),
            "Strict".to_owned(),
            "Whether a warning keeps the manifests from being generated".to_owned(),
            "boolean",
            "false",
        ),
    ];
    all.extend(patches.map(|patch| {
        let text = |field: &Option<crate::config::Spanned<String>>| {
            field.as_ref().map(|f| f.value.trim_end().to_owned()).unwrap_or_default()
        };
        let name = format!("{PATCH_PREFIX}{}", patch.name.value);
        announced(name, text(&patch.summary), text(&patch.why), "boolean", "true")
    }));
    // Strings and booleans always serialise.
    let mut json = serde_json::to_string(&all).unwrap_or_default();
    json.push('\n');
    json
}

/// What is wrong, so short that Argo CD's page shows it: the gravest first, each in a line with one for what to do.
/// `None` where nothing keeps the result from being taken.
pub fn told(findings: &[Diagnostic], strict: bool) -> Option<String> {
    let fails = |d: &&Diagnostic| d.is_error() || (strict && d.severity == Severity::Warning);
    let mut wrong: Vec<&Diagnostic> = findings.iter().filter(fails).collect();
    wrong.sort_by_key(|d| d.severity);
    let (first, rest) = wrong.split_at(wrong.len().min(MAX_TOLD));
    let mut text: String = first.iter().map(|finding| told_one(finding)).collect();
    if !rest.is_empty() {
        text.push_str(&format!("and {} more: `overlay verify` tells them all\n", rest.len()));
    }
    Some(text).filter(|text| !text.is_empty())
}

fn told_one(finding: &Diagnostic) -> String {
    let mut text = shortened(render::short(finding).trim_end(), MAX_LINE);
    text.push('\n');
    let hint = handed_over(finding);
    for help in finding.help.iter().chain(&hint) {
        text.push_str(&format!("  {}\n", shortened(&visible(help), MAX_LINE)));
    }
    text
}

/// What to say of a file that may be in the repository and was not handed over: with the annotation, Argo CD hands over
/// what lies below the paths that it names, and what they have in common is the root.
fn handed_over(finding: &Diagnostic) -> Option<String> {
    match (&finding.absent, finding.code) {
        (Some(file), _) => Some(format!(
            "If it is in the repository, the annotation {PATHS_ANNOTATION} of the Application must name it too: {}",
            visible(file)
        )),
        (None, Code::PathOutsideRoot) => Some(format!(
            "If that lies in the repository, name it in the annotation {PATHS_ANNOTATION} of the Application too"
        )),
        (None, _) => None,
    }
}

/// Whether Argo CD gets no manifest out of these documents. It takes a document apart that has `items` at its top,
/// whatever its kind and name, and passes over one whose `items` are null; an Application that is left with nothing is
/// pruned. A document that cannot be read counts as one.
pub fn takes_for_nothing<'t>(mut documents: impl Iterator<Item = &'t str>) -> bool {
    let is_nothing = |text: &str| match load_text(text).map(|loaded| loaded.value) {
        Ok(Value::Null) => true,
        Ok(value) => value.get("items").is_some_and(|items| match items {
            Value::Null => value.get("spec").is_none() && value.get("status").is_none(),
            items => items.as_array().is_some_and(Vec::is_empty),
        }),
        Err(_) => false,
    };
    documents.all(is_nothing)
}

/// What is wrong with such a result.
pub fn nothing() -> Diagnostic {
    Diagnostic::new(
        Code::ResultEmpty,
        "every document of the result has empty `items`, and Argo CD takes it for no manifest",
    )
    .help("Leave at least one manifest: where none is left, Argo CD deletes what the Application deployed.")
}

/// Whether the text of an `overlay.yaml` is one of ours. It need not be sound: a broken overlay that nobody takes for
/// one would be rendered by Argo CD as a folder of plain manifests, and what it deployed before would be pruned.
pub fn is_ours(text: &str) -> bool {
    let says = |key: &str, value: &str| {
        text.trim_start_matches('\u{feff}').lines().any(|line| {
            let rest = line.trim_start_matches(['{', ' ']).strip_prefix(key).map(str::trim_start);
            let rest = rest
                .and_then(|rest| rest.strip_prefix(':'))
                .map(|rest| rest.trim_start_matches([' ', '\t', '"', '\'']));
            rest.and_then(|rest| rest.strip_prefix(value)).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    };
    says("apiVersion", "overlay/v1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parameters: &str, environment: &[(&str, &str)]) -> Result<Settings, String> {
        let environment: Vec<_> = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Settings::read(Some(parameters), &environment).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn an_application_that_sets_nothing_gets_the_defaults() {
        for nothing in ["", "null", "[]", " \n"] {
            assert_eq!(read(nothing, &[]), Ok(Settings::default()), "{nothing:?}");
        }
        assert_eq!(Settings::read(None, &[]), Ok(Settings::default()));
    }

    #[test]
    fn parameters_go_before_variables() {
        let environment = [("OVERLAY", "a"), ("STRICT", "true"), ("ANNOTATE", "true")];
        let set = read(r#"[{"name":"overlay","string":"b"},{"name":"patch.x","string":"false"}]"#, &environment);
        let wanted = Settings { overlay: Some("b".into()), annotate: true, strict: true, without: vec!["x".into()] };
        assert_eq!(set, Ok(wanted));
        assert_eq!(read(r#"[{"name":"patch.x","string":"true"}]"#, &[]), Ok(Settings::default()));
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        let refused = |parameters: &str, environment: &[(&str, &str)]| read(parameters, environment).unwrap_err();
        assert_eq!(
            refused(r#"[{"name":"strcit","string":"true"}]"#, &[]),
            "the Application sets `strcit`, and overlay has no such parameter (did you mean `strict`?); there are \
             overlay, annotate, strict, patch.NAME"
        );
        assert_eq!(
            refused("", &[("STRCIT", "true")]),
            "the Application sets `ARGOCD_ENV_STRCIT`, and overlay has no such parameter (did you mean \
             `ARGOCD_ENV_STRICT`?); there are ARGOCD_ENV_OVERLAY, ARGOCD_ENV_ANNOTATE, ARGOCD_ENV_STRICT"
        );
        assert_eq!(
            refused(r#"[{"name":"strict","string":"yes"}]"#, &[]),
            "the parameter `strict` is `true` or `false`, and the Application sets `yes`"
        );
        assert_eq!(
            refused(r#"[{"name":"overlay","array":["a"]}]"#, &[]),
            "the parameter `overlay` takes a string, and the Application sets no string"
        );
        let twice = r#"[{"name":"overlay","string":"a"},{"name":"overlay","string":"b"}]"#;
        assert_eq!(refused(twice, &[]), "the Application sets the parameter `overlay` twice");
        let list = "ARGOCD_APP_PARAMETERS is not a list of parameters as Argo CD writes it: ";
        assert_eq!(refused("{}", &[]), format!("{list}it is no list"));
        assert_eq!(refused("[1]", &[]), format!("{list}an item has no name"));
        assert!(refused("[", &[]).starts_with(list));
    }

    #[test]
    fn a_patch_that_is_not_there_cannot_be_left_out() {
        let settings = Settings { without: vec!["bindri".into()], ..Settings::default() };
        assert_eq!(settings.check_patches(["bindri", "x"].into_iter()), Ok(()));
        let mistake = settings.check_patches(["bindir", "x"].into_iter()).unwrap_err();
        assert_eq!(
            mistake.to_string(),
            "the Application sets `patch.bindri`, and overlay has no such parameter (did you mean `patch.bindir`?); \
             there are patch.bindir, patch.x"
        );
    }

    #[test]
    fn an_error_is_short_and_begins_with_what_is_gravest() {
        let warning = Diagnostic::new(Code::ReviewDue, "review");
        let error = Diagnostic::new(Code::TargetMissing, "m".repeat(1000)).help("Do this.");
        assert_eq!(told(std::slice::from_ref(&warning), false), None);
        assert_eq!(told(std::slice::from_ref(&warning), true).unwrap(), "warning[review-due]: review\n");
        let text = told(&[warning, error.clone()], true).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(first.starts_with("error[target-missing]: mmm") && first.contains('…'), "{text}");
        assert_eq!(first.chars().count(), MAX_LINE);
        assert_eq!(rest, "  Do this.\nwarning[review-due]: review\n");
        let many = told(&vec![error; 1000], false).unwrap();
        assert!(many.len() < 4096 && many.ends_with("and 995 more: `overlay verify` tells them all\n"), "{many}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named_with_the_annotation_that_may_keep_it_away() {
        let absent = Diagnostic::new(Code::FileUnreadable, "../base: no such file").absent("../base");
        assert_eq!(
            told(&[absent], false).unwrap(),
            "error[file-unreadable]: ../base: no such file\n  If it is in the repository, the annotation \
             argocd.argoproj.io/manifest-generate-paths of the Application must name it too: ../base\n"
        );
        let outside = told(&[Diagnostic::new(Code::PathOutsideRoot, "out")], false).unwrap();
        assert!(outside.contains("manifest-generate-paths"), "{outside}");
    }

    #[test]
    fn documents_that_argo_cd_takes_apart_into_nothing_are_no_manifests() {
        let nothing = |documents: &[&str]| takes_for_nothing(documents.iter().copied());
        let (list, null) = ("kind: List\nitems: []\n", "kind: List\nitems: null\n");
        let named = "kind: Foo\nmetadata: {name: a}\nitems: []\n";
        assert!(nothing(&[]) && nothing(&[list]) && nothing(&[null]) && nothing(&[list, "---\n# c\n", null, named]));
        for one in ["kind: ConfigMap\n", "kind: List\nitems: [{kind: A}]\n", "kind: A\nitems: null\nspec: {}\n", "{"] {
            assert!(!nothing(&[list, one]), "{one:?}");
        }
    }

    #[test]
    fn an_overlay_is_ours_by_its_api_version_even_where_it_is_broken() {
        for ours in [
            "apiVersion: overlay/v1\nkind: Overlay\n",
            "# c\napiVersion: \"overlay/v1\"\n\tbroken",
            "{apiVersion: overlay/v1, kind: Overlay}",
            "\u{feff}apiVersion: overlay/v1 # c\r\n",
            "apiVersion : 'overlay/v1'\nname: [",
        ] {
            assert!(is_ours(ours), "{ours:?}");
        }
        for other in
            ["", "kind: Overlay\n", "apiVersion: overlay/v10\n", "# apiVersion: overlay/v1\n", "apiVersion: v1\n"]
        {
            assert!(!is_ours(other), "{other:?}");
        }
    }
}
