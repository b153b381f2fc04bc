//! Each limit of docs/limits.md that is not held by a test beside its code: at it, and beyond it.

use std::os::unix::fs::symlink;

use overlay::change::{Action, Change, apply_edits};
use overlay::embedded::{self, Language, MAX_TOML_NESTING};
use overlay::patch::lower::MAX_WRITTEN;
use overlay::resource::identity::Written;
use overlay::resource::reference::Reference;
use overlay::yaml::edit::{EditError, edit};
use overlay::yaml::load::{MAX_ALIAS_BYTES, MAX_ALIAS_NODES, Problem, load_text};
use overlay::yaml::tree::{MAX_DEPTH, Tree};

use super::project::Project;
use super::{config_map, lab, patch};

/// A text that nests as deeply as it is told to.
type Shape<'a> = &'a dyn Fn(usize) -> String;

/// Whether a text is read, or what is said against it.
fn read(text: &str) -> Result<(), String> {
    load_text(text).map(drop).map_err(|error| error.to_string())
}

#[test]
fn collections_of_every_kind_nest_as_deep_as_the_limit_and_no_deeper() {
    let indented = |mark: &str, depth: usize| {
        let lines: Vec<String> = (0..depth).map(|level| format!("{}{mark}\n", "  ".repeat(level))).collect();
        lines.concat()
    };
    let shapes: [(&str, Shape); 6] = [
        ("flow sequences", &|depth| format!("{}{}\n", "[".repeat(depth), "]".repeat(depth))),
        ("flow mappings", &|depth| format!("{}{}\n", "{a: ".repeat(depth), "}".repeat(depth))),
        ("flow in block", &|depth| format!("a: {}{}\n", "[".repeat(depth - 1), "]".repeat(depth - 1))),
        ("block sequences", &|depth| format!("{}x\n", "- ".repeat(depth))),
        ("block mappings", &|depth| indented("a:", depth)),
        ("keys", &|depth| format!("{}a: b\n", "? ".repeat(depth - 1))),
    ];
    for (what, shape) in shapes {
        assert!(
            Tree::parse(&shape(MAX_DEPTH)).is_ok(),
            "{what} at the limit: {:?}",
            Tree::parse(&shape(MAX_DEPTH)).err()
        );
        assert!(Tree::parse(&shape(MAX_DEPTH + 1)).is_err(), "{what} beyond the limit");
        assert!(Tree::parse(&shape(2_000)).is_err(), "{what} far beyond the limit");
    }
}

#[test]
fn aliases_expand_to_as_many_nodes_as_the_limit_and_no_more() {
    // An alias of a list of 999 items is 1,000 nodes.
    let list = format!("a: &a [{}]\n", vec!["x"; 999].join(", "));
    let aliases =
        |count: usize, more: &str| format!("{list}b: [{}]\nc: &c x\nd: [{more}]\n", vec!["*a"; count].join(", "));
    assert_eq!(read(&aliases(MAX_ALIAS_NODES / 1_000, "")), Ok(()));
    assert_eq!(read(&aliases(MAX_ALIAS_NODES / 1_000, "*c")), Err(Problem::TooManyNodes.to_string()));
}

#[test]
fn aliases_expand_to_as_many_bytes_as_the_limit_and_no_more() {
    let length = 1 << 16;
    let aliases = |count: usize, more: &str| {
        format!("a: &a {}\nb: [{}]\nc: &c x\nd: [{more}]\n", "x".repeat(length), vec!["*a"; count].join(", "))
    };
    assert_eq!(read(&aliases(MAX_ALIAS_BYTES / length, "")), Ok(()));
    assert_eq!(read(&aliases(MAX_ALIAS_BYTES / length, "*c")), Err(Problem::TooManyBytes.to_string()));
}

#[test]
fn a_base_beyond_a_limit_is_refused_with_the_limit_and_builds_nothing() {
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    let mut bomb = "x\n  l0: &l0 [x, x, x, x, x, x, x, x, x, x]".to_owned();
    for n in 1..9 {
        let aliases = vec![format!("*l{}", n - 1); 10].join(", ");
        bomb = format!("{bomb}\n  l{n}: &l{n} [{aliases}]");
    }
    for (value, told) in [(deep, "nest"), (bomb, "400000 nodes")] {
        let project = lab("x");
        project.write("up/net.yaml", &config_map(&value));
        let ran = project.run(&["vendor", "base/net"]);
        assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(project.run(&["build", "overlays/lab"]).exit, Some(0), "the base is as it was");
    }
}

#[test]
fn a_file_beyond_the_limit_is_refused_before_it_is_read() {
    let project = lab("x");
    // A file with a hole takes no room on the disk.
    let file = std::fs::File::create(project.path("base/net/net.yaml")).unwrap();
    file.set_len(overlay::fsio::MAX_FILE + 1).unwrap();
    let ran = project.run(&["build", "overlays/lab"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("is larger than 64 MiB"), "{}", ran.stderr);
    project.write("overlays/lab/patches/case.yaml", "");
    std::fs::File::options()
        .write(true)
        .open(project.path("overlays/lab/patches/case.yaml"))
        .unwrap()
        .set_len(overlay::fsio::MAX_FILE + 1)
        .unwrap();
    let ran = project.run(&["build", "overlays/lab"]);
    assert!(ran.stderr.contains("case.yaml is larger than 64 MiB"), "{}", ran.stderr);
}

#[test]
fn a_patch_with_too_many_operations_is_refused_where_they_begin() {
    let project = lab("x");
    let many = vec!["- {op: test, path: /kind, value: ConfigMap}"; 1_001].join("\n  ");
    project.write("overlays/lab/patches/case.yaml", &patch(&many));
    let ran = project.run(&["build", "overlays/lab"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("the patch has more than 1000 operations"), "{}", ran.stderr);
    assert!(ran.stderr.contains("case.yaml:1010:"), "{}", ran.stderr);
}

#[test]
fn texts_of_every_language_nest_as_deep_as_the_limit_and_no_deeper() {
    let lists = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // A value of eighty brackets below a key of eighty parts below a header of forty is as deep as anything may be.
    let mixed = |depth: usize| format!("[{}a]\n{}a = {}\n", "a.".repeat(depth - 161), "a.".repeat(79), lists(80));
    let whole = format!("nests deeper than {MAX_DEPTH} levels");
    let toml = format!(
        "this TOML nests deeper than {MAX_TOML_NESTING} brackets, or a key of it has more than {MAX_TOML_NESTING} parts"
    );
    let shapes: [(Language, usize, &str, Shape); 9] = [
        (Language::Json, MAX_DEPTH, &whole, &lists),
        (Language::Json, MAX_DEPTH, &whole, &|depth| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))),
        (Language::Yaml, MAX_DEPTH, "nested deeper than 200 levels", &lists),
        (Language::Yaml, MAX_DEPTH, "nested deeper than 200 levels", &|depth| format!("{}x\n", "- ".repeat(depth))),
        (Language::Toml, MAX_TOML_NESTING, &toml, &|depth| format!("a = {}\n", lists(depth))),
        (Language::Toml, MAX_TOML_NESTING, &toml, &|depth| {
            format!("a = {}1{}\n", "{a = ".repeat(depth), "}".repeat(depth))
        }),
        (Language::Toml, MAX_TOML_NESTING, &toml, &|depth| format!("{}a = 1\n", "a.".repeat(depth - 1))),
        (Language::Toml, MAX_TOML_NESTING, &toml, &|depth| format!("[{}a]\n", "a.".repeat(depth - 1))),
        (Language::Toml, MAX_DEPTH, &whole, &mixed),
    ];
    for (language, limit, told, shape) in shapes {
        let read = |depth: usize| embedded::read(language, &shape(depth)).map(drop).map_err(|error| error.message);
        assert_eq!(read(limit), Ok(()), "{}", language.name());
        for depth in [limit + 1, 2_000, 100_000] {
            let error = read(depth).unwrap_err();
            // Where a part of it nests too deeply of itself, that is told.
            assert!(error.ends_with(told) || error.ends_with(&toml), "{} at {depth}: {error}", language.name());
        }
    }
}

/// A build of the lab with another path to its patch.
fn with_path(project: &Project, path: &str) -> Result<String, String> {
    let overlay =
        format!("apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\npatches:\n- {path}\n");
    project.write("overlays/lab/overlay.yaml", &overlay);
    let ran = project.run(&["build", "overlays/lab"]);
    if ran.exit == Some(0) { Ok(ran.stdout) } else { Err(ran.stderr) }
}

#[test]
fn a_path_is_as_long_as_the_limit_and_no_longer() {
    let project = lab("x");
    let built = Ok(config_map("changed"));
    let longest = format!("{}patches//case.yaml", "./".repeat(2_039));
    assert_eq!((longest.len(), with_path(&project, &longest)), (4_096, built));
    let longer = with_path(&project, &format!("{}patches/case.yaml", "./".repeat(2_040))).unwrap_err();
    assert!(longer.contains("is not a path: it is longer than 4096 bytes"), "{longer}");
}

#[test]
fn a_path_goes_through_as_many_links_as_the_limit_and_no_more() {
    let project = lab("x");
    let link = |number: usize| project.path(&format!("overlays/lab/link{number}"));
    symlink("patches", link(1)).unwrap();
    for number in 2..=41 {
        symlink(format!("link{}", number - 1), link(number)).unwrap();
    }
    assert_eq!(with_path(&project, "link40/case.yaml"), Ok(config_map("changed")));
    let more = with_path(&project, "link41/case.yaml").unwrap_err();
    assert!(more.contains("it goes through more than 40 symbolic links"), "{more}");
}

#[test]
fn a_glob_is_as_long_as_the_limit_and_costs_little_however_it_is_written() {
    let project = lab("x");
    let build = |name: &str| {
        let patch = patch("- {op: replace, path: /data/key, value: changed}");
        let target = format!("target: {{kind: ConfigMap, name: \"{name}\"}}");
        project.write("overlays/lab/patches/case.yaml", &patch.replace("target: {kind: ConfigMap}", &target));
        project.run(&["build", "overlays/lab"])
    };
    let longest = build(&"*".repeat(1_024));
    assert_eq!((longest.exit, longest.stdout), (Some(0), config_map("changed")), "{}", longest.stderr);
    // A matcher that goes back to every `*` takes longer than anyone waits for this one.
    let back = build(&"*s".repeat(512));
    assert!(back.exit == Some(1) && back.stderr.contains("target-missing"), "{}", back.stderr);
    let longer = build(&"*".repeat(1_025));
    assert_eq!(longer.exit, Some(1));
    assert!(longer.stderr.contains("the glob of `name` is longer than 1024 bytes"), "{}", longer.stderr);
}

#[test]
fn a_change_writes_as_much_as_the_limit_and_no_more() {
    let project = lab("x");
    // A text counts as its bytes and its quotes.
    let most = MAX_WRITTEN - 2;
    for (length, exit) in [(most, Some(0)), (most + 1, Some(1))] {
        let operation = format!("- {{op: replace, path: /data/key, value: {}}}", "x".repeat(length));
        project.write("overlays/lab/patches/case.yaml", &patch(&operation));
        let ran = project.run(&["build", "overlays/lab"]);
        assert_eq!(ran.exit, exit, "{}", ran.stderr.get(..400).unwrap_or(&ran.stderr));
        let told = ran.stderr.contains("the change would write more than 16 MiB into the document");
        assert_eq!(told, exit == Some(1));
        assert_eq!(ran.stderr.contains("^ this is too much\n"), told, "the place is right");
    }
}

#[test]
fn overlays_are_looked_for_as_deep_as_the_limit_and_no_deeper() {
    let project = lab("x");
    let overlay = |base: &str| {
        format!("apiVersion: overlay/v1\nkind: Overlay\nname: deep\nbases: [{base}base/net]\npatches: []\n")
    };
    for (depth, exit) in [(64, Some(0)), (65, Some(2))] {
        let folder = format!("at{depth}/{}", "d/".repeat(depth));
        project.write(&format!("{folder}overlay.yaml"), &overlay(&"../".repeat(depth + 1)));
        let ran = project.command(&["verify"]).current_dir(project.path(&format!("at{depth}"))).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), exit, "{stderr}");
        let deepest = "d/".repeat(65);
        let told = format!("note: passed over {}, more than 64 folders deep;", deepest.trim_end_matches('/'));
        assert_eq!(stderr.starts_with(&told), depth > 64, "{stderr}");
    }
}

#[test]
fn a_name_is_looked_for_in_as_many_mappings_as_the_limit() {
    // The name is in none of the mappings that are merged over the one that has it.
    let document = |merged: usize| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nodd: &a {{}}\nmetadata: {{name: far, <<: [{}]}}\n",
            vec!["*a"; merged].join(", ")
        )
    };
    let name = |merged: usize| {
        let tree = Tree::parse(&document(merged)).unwrap();
        Written::of(&tree, tree.root().unwrap()).identity.name
    };
    assert_eq!(name(990), "far");
    assert_eq!(name(1_001), "");
}

#[test]
fn a_key_is_removed_that_stands_as_often_as_the_limit_and_no_oftener() {
    let removed = |times: usize| {
        let text = format!("a: x\n{}", "k: y\n".repeat(times));
        let edits = edit(&text, &Change { action: Action::Remove, path: &["k".to_owned()] })?;
        Ok::<_, EditError>(apply_edits(&text, &edits))
    };
    assert_eq!(removed(64).unwrap(), "a: x\n");
    assert!(matches!(removed(65), Err(EditError::Unwritable { .. })), "{:?}", removed(65));
}

#[test]
fn a_list_of_ignored_folders_is_as_large_as_the_limit_and_no_larger() {
    let project = lab("x");
    for (size, exit) in [(1 << 20, 0), ((1 << 20) + 1, 2)] {
        project.write(".overlayignore", &("#".repeat(size - 1) + "\n"));
        let ran = project.run(&["verify"]);
        assert_eq!(ran.exit, Some(exit), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains(".overlayignore is larger than 1 MiB"), exit == 2, "{}", ran.stderr);
        assert!(!ran.stderr.contains("manifest is smaller"), "{}", ran.stderr);
    }
}

#[test]
fn a_journal_beyond_the_limit_is_refused_unread() {
    let project = lab("x");
    for (size, told) in [(4 << 20, "names no files as one does"), ((4 << 20) + 1, "larger than 4 MiB")] {
        project.write("base/net/.overlay-journal", &"x".repeat(size));
        let ran = project.run(&["vendor", "base/net"]);
        assert!(ran.exit == Some(2) && ran.stderr.contains(told), "{:?} {}", ran.exit, ran.stderr);
    }
}

#[test]
fn names_and_tags_of_images_are_as_long_as_the_limit_and_no_longer() {
    let named = |length: usize| Reference::parse(&format!("r.example/{}", "a".repeat(length - "r.example/".len())));
    assert!(named(255).is_ok());
    assert!(named(256).unwrap_err().to_string().ends_with("it has more than 255 characters"));
    let tagged = |length: usize| Reference::parse(&format!("r.example/a:{}", "1".repeat(length)));
    assert!(tagged(128).is_ok());
    assert!(tagged(129).unwrap_err().to_string().contains("a tag is up to 128 letters"));
}
