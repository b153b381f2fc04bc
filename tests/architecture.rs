//! Holds the modules to the order of ARCHITECTURE.md, and the proof to sharing no code with what it proves. What a file
//! uses is taken from its `use` lines and from the paths in its code; its unit tests may use anything.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read files, and fail")]

use std::path::{Path, PathBuf};

/// The modules, the lowest first. A module uses those before its row, and the others in it.
const ORDER: [&[&str]; 11] = [
    &["diag", "fsio"],
    &["yaml", "change"],
    &["resource", "config", "embedded"],
    &["patch"],
    &["diff", "layer", "source"],
    &["build", "report", "fetch", "pinning"],
    &["compare", "subject"],
    &["verify", "update"],
    &["adopt", "argocd", "krm", "split"],
    &["schema"],
    &["cli"],
];

/// What proves, and what made that which it proves.
const PROOF: [&str; 2] = ["verify", "diff"];
const PROVEN: [&str; 5] = ["build", "change", "patch::apply", "patch::lower", "yaml::edit"];

/// A file of the library: the path of its module, and its code without comments and unit tests.
struct Module {
    path: Vec<String>,
    code: String,
}

impl Module {
    fn new(file: &str, text: &str) -> Module {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap()).collect();
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        Module { path: path.split('/').map(str::to_owned).collect(), code: code.join("\n") }
    }

    /// The paths that the code uses, from the root of the library on.
    fn uses(&self) -> Vec<String> {
        let mut found = Vec::new();
        let words = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
        let mut at = 0;
        while let Some(start) = ["crate::", "super::"].iter().filter_map(|root| self.code[at..].find(root)).min() {
            let start = at + start;
            at = start + "crate::".len();
            if self.code[..start].ends_with(|c: char| !words(c)) {
                continue;
            }
            let tree = &self.code[start..];
            for path in expanded(&tree[..end_of(tree)]) {
                found.push(self.absolute(&path));
            }
        }
        found
    }

    /// A path without `crate` and `super`.
    fn absolute(&self, path: &str) -> String {
        let above = path.matches("super::").count();
        let rest = path.trim_start_matches("crate::").trim_start_matches("super::");
        let own = if above == 0 { &[][..] } else { &self.path[..self.path.len().saturating_sub(above)] };
        own.iter().map(String::as_str).chain([rest]).collect::<Vec<_>>().join("::")
    }
}

/// The end of a path, its braces taken in.
fn end_of(tree: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in tree.char_indices() {
        match c {
            '{' if tree[..at].ends_with("::") || depth > 0 => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' if depth > 1 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || c == '_' || c == ':' => {}
            _ => return at,
        }
    }
    tree.len()
}

/// The paths of a `use` tree.
fn expanded(tree: &str) -> Vec<String> {
    let Some((head, group)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.flat_map(expanded).map(|part| format!("{}{part}", head.trim())).collect()
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|row| row.contains(&module))
}

/// What a module uses and must not.
fn faults(module: &Module) -> Vec<String> {
    let own = module.path[0].as_str();
    let name = module.path.join("::");
    let mut faults = Vec::new();
    for path in module.uses() {
        let used = path.split("::").next().unwrap();
        if rank(used) > rank(own) {
            faults.push(format!("{name} uses {path}, which is above it"));
        }
        let is_proven = |proven: &str| path == proven || path.starts_with(&format!("{proven}::"));
        if PROOF.contains(&own) && PROVEN.iter().any(|proven| is_proven(proven)) {
            faults.push(format!("{name} uses {path}, which it has to prove"));
        }
    }
    faults
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn modules_use_what_is_below_them_and_the_proof_nothing_that_it_proves() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let name = |path: &Path| path.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
    let is_code = |file: &String| {
        !(file.ends_with("/tests.rs")
            || file.ends_with("/testing.rs")
            || ["lib.rs", "main.rs"].contains(&file.as_str()))
    };
    let names: Vec<String> = files(&src).iter().map(|path| name(path)).filter(is_code).collect();
    let modules: Vec<Module> =
        names.iter().map(|file| Module::new(file, &std::fs::read_to_string(src.join(file)).unwrap())).collect();
    let unranked: Vec<&str> = modules.iter().map(|m| m.path[0].as_str()).filter(|name| rank(name).is_none()).collect();
    assert!(unranked.is_empty(), "modules without a row: {unranked:?}");
    assert!(modules.iter().map(|m| m.uses().len()).sum::<usize>() > 500, "too few paths were found");
    let faults: Vec<String> = modules.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    let is_refused = |file: &str, text: &str| !faults(&Module::new(file, text)).is_empty();
    for text in [
        "use crate::patch::apply::apply;",
        "use crate::patch::{model, lower::{Run, Site}};",
        "use crate::{\n    diag,\n    yaml::{edit, load},\n};",
        "fn f() { crate::build::build(); }",
        "use super::super::super::change::Change;",
        "use crate::cli;",
    ] {
        assert!(is_refused("verify/shadow/apply.rs", text), "{text}");
    }
    for text in [
        "use crate::patch::{model, path::Path};",
        "// crate::build\nuse crate::yaml::load;",
        "#[cfg(test)]\nmod tests {\n    use crate::build;\n}",
        "use super::shadow::apply;",
    ] {
        assert!(!is_refused("verify/mod.rs", text), "{text}");
    }
    assert!(!is_refused("build/mod.rs", "use crate::patch::apply::apply;"));
    assert!(is_refused("yaml/load.rs", "use crate::resource::Identity;"));
}

#[test]
fn every_test_over_the_corpus_is_in_a_file_that_runs_with_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
    assert!(makefile.contains("cargo test --locked --test 'corpus_*' --test kubectl\n"));
    let tests = std::fs::read_dir(root.join("tests")).unwrap().map(|entry| entry.unwrap().path());
    let asks = |path: &PathBuf| {
        let text = if path.is_file() { std::fs::read_to_string(path).unwrap() } else { String::new() };
        ["support::manifests()", "support::corpus()"].iter().any(|way| text.contains(way))
            || text.contains(concat!("OVERLAY", "_SHARED"))
    };
    let asking: Vec<String> =
        tests.filter(asks).map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(asking.len() >= 10, "{asking:?}");
    let mut elsewhere = asking.iter().filter(|name| !name.starts_with("corpus_") && *name != "kubectl");
    // This file says what it looks for.
    assert_eq!(elsewhere.next(), Some(&"architecture".to_owned()));
    assert_eq!(elsewhere.next(), None, "these are never run with the corpus");
}
