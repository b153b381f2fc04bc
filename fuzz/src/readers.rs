//! What reads: YAML, paths, and the files that people write.

use overlay::config::{self, Findings};
use overlay::diag::Source;
use overlay::layer::base::Base;
use overlay::layer::lock::Lock;
use overlay::layer::root::Located;
use overlay::patch::Patch;
use overlay::patch::path::Path;
use overlay::report::OverlayReport;
use overlay::yaml::load::load_text;
use overlay::yaml::tree::Tree;
use serde_json::Value;

use super::lab::{LAB, MANIFEST};

/// Our reader against libyaml's: what both read has the same shape, and texts that both take for texts are the same.
pub fn reader(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(tree) = Tree::parse(text) else { return };
    for (id, node) in tree.nodes() {
        assert!(text.get(node.span.clone()).is_some(), "{id:?} lies at {:?}, which is no place", node.span);
    }
    let Ok(ours) = load_text(text) else { return };
    // Tags mean other things to the other reader, and it does not merge.
    if text.contains(['!', '%']) || text.contains("<<") {
        return;
    }
    // kubectl ends a last line that has no end before it reads, and so do we.
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let Ok(theirs) = serde_yaml::from_str::<serde_yaml::Value>(&format!("{text}{end}")) else { return };
    assert!(alike(&ours.value, &theirs), "we read {}, and they {theirs:?}", ours.value);
}

fn alike(ours: &Value, theirs: &serde_yaml::Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), serde_yaml::Value::Mapping(theirs)) => {
            // Keys that are different scalars may be one text.
            ours.len() <= theirs.len()
                && (ours.len() < theirs.len() || ours.values().zip(theirs.values()).all(|(o, t)| alike(o, t)))
        }
        (Value::Array(ours), serde_yaml::Value::Sequence(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(o, t)| alike(o, t))
        }
        (Value::Object(_) | Value::Array(_), _)
        | (_, serde_yaml::Value::Mapping(_) | serde_yaml::Value::Sequence(_)) => false,
        (Value::String(ours), serde_yaml::Value::String(theirs)) => ours == theirs,
        _ => true,
    }
}

/// A path that is read prints as one that is read the same.
pub fn path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(path) = Path::parse(text) else { return };
    let printed = path.to_string();
    let again = Path::parse(&printed).unwrap_or_else(|error| panic!("{text:?} prints as {printed:?}: {error}"));
    assert_eq!(again.to_string(), printed, "from {text:?}");
    assert_eq!(again.segments(), path.segments(), "from {text:?} by {printed:?}");
}

/// Each kind of file of ours: it is read, or what is wrong is told at a place in it. A lock that was read is written
/// and read again as it was.
pub fn files(data: &[u8]) {
    let Ok(source) = config::source("some.yaml", data.to_vec()) else { return };
    let folder = Located { path: "/".into(), name: ".".into() };
    told(|findings| Patch::read(&source, findings).is_some());
    told(|findings| Base::read(&folder, source.clone(), findings).is_some());
    told(|findings| {
        let Some(lock) = Lock::read(&source, findings) else { return false };
        let again = Lock::read(&Source::new("again.yaml", lock.write()), &mut Findings::new());
        assert_eq!(again.as_ref(), Some(&lock));
        true
    });
    let stream = Source::new("-", MANIFEST);
    LAB.with(|lab| told(|findings| lab.of_file(&source, &stream, findings).is_some()));
}

/// What is not taken has an error, and every finding can be shown in every form.
fn told(read: impl FnOnce(&mut Findings) -> bool) {
    let mut findings = Findings::new();
    let taken = read(&mut findings);
    assert!(taken || findings.has_errors(), "it is not taken, and nothing is said");
    super::shown(OverlayReport { findings: findings.into_vec(), ..OverlayReport::default() });
}
