//! Each limit of docs/limits.md that is not held by a test beside its code: at it, and beyond it.

use overlay::yaml::load::{MAX_ALIAS_BYTES, MAX_ALIAS_NODES, Problem, load_text};
use overlay::yaml::tree::{MAX_DEPTH, Tree};

use super::{config_map, lab, patch};

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
    let shapes: [(&str, &dyn Fn(usize) -> String); 6] = [
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
    assert!(ran.stderr.contains("is larger than 67108864 bytes"), "{}", ran.stderr);
    project.write("overlays/lab/patches/case.yaml", "");
    std::fs::File::options()
        .write(true)
        .open(project.path("overlays/lab/patches/case.yaml"))
        .unwrap()
        .set_len(overlay::fsio::MAX_FILE + 1)
        .unwrap();
    let ran = project.run(&["build", "overlays/lab"]);
    assert!(ran.stderr.contains("case.yaml is larger than 67108864 bytes"), "{}", ran.stderr);
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
