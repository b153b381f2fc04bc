//! How long it takes to read, build and verify manifests that are made up here: `cargo bench`, or `cargo bench -- build`
//! for some of it. Each is measured at several sizes, so that growth shows. Whole processes, beside kubectl, are
//! scripts/bench.sh's.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench may lay out files, and fail")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput};
use overlay::config::{Date, Findings};
use overlay::layer::digest;
use overlay::layer::root::Root;
use overlay::subject::Subject;
use overlay::verify;
use overlay::yaml::load::load_text;
use overlay::yaml::stream;

/// Numbers of documents.
const SIZES: [u32; 3] = [100, 1_000, 8_000];

/// As many small `ConfigMap`s.
fn config_maps(count: u32) -> String {
    let mut text = String::new();
    for number in 0..count {
        write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{number:05}\n  namespace: lab\n\
             data:\n  key: \"value {number}\" # a comment\n  other: text\n"
        )
        .unwrap();
    }
    text
}

/// One `Deployment` of as many containers.
fn deployment(containers: u32) -> String {
    let mut text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n".to_owned();
    for number in 0..containers {
        write!(
            text,
            "      - name: c{number}\n        image: registry.example/team/app:{number}\n        args: [--one, \"--two={number}\"]\n        \
             env:\n        - {{name: MODE, value: \"on\"}}\n        - name: TEXT\n          value: |\n            one\n            two\n"
        )
        .unwrap();
    }
    text
}

/// A base with that manifest, and an overlay with one patch of one value.
fn project(manifest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".git/HEAD", "");
    write("up.yaml", manifest);
    write("base/net/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../up.yaml\n");
    write(
        "overlays/lab/overlay.yaml",
        "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\npatches: [patches/change.yaml]\n",
    );
    write(
        "overlays/lab/patches/change.yaml",
        "apiVersion: overlay/v1\nkind: Patch\nname: change\nsummary: Change one value\nwhy: To have something to measure.\n\
         evidence: [https://example.org/]\nchanges:\n- target: {kind: ConfigMap, name: config-00050}\n  patch:\n  \
         - {op: replace, path: /data/other, was: text, value: changed}\n",
    );
    lock(folder.path());
    folder
}

/// Locks the base, by the program's own command.
fn lock(project: &Path) {
    let args = ["overlay".into(), "vendor".into(), project.join("base/net").into_os_string()];
    overlay::cli::main(args);
    assert!(project.join("base/net/base.lock").is_file(), "the base could not be locked");
}

/// Builds the overlay, and verifies it if that is asked for; it must be in order.
fn run(project: &Path, verified: bool) -> String {
    let root = Root::find(project, None, project).unwrap();
    let mut findings = Findings::new();
    let subject = Subject::open(&root, &project.join("overlays/lab"), &mut findings).unwrap();
    let built = subject.build(&mut findings).unwrap();
    if verified {
        let Subject { folder, layer, plan, images, .. } = &subject;
        let today = Date::new(2026, 12, 1).unwrap();
        let overlay = verify::overlay::Overlay { folder: &folder.name, layer, plan, images, today };
        let report = verify::overlay::report(&overlay, Some(&built.text), findings);
        assert_eq!(report.patches[0].departures.len(), 1);
        assert!(report.undocumented.is_empty());
    }
    built.text
}

fn reading(bencher: &mut Criterion) {
    let mut group = bencher.benchmark_group("read");
    for size in [10, 100, 1_000] {
        let text = deployment(size);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("one document", size), &text, |b, text| {
            b.iter(|| load_text(black_box(text)).unwrap());
        });
        let value = load_text(&text).unwrap().value;
        group.bench_with_input(BenchmarkId::new("its content digest", size), &value, |b, value| {
            b.iter(|| digest::content(black_box(value)));
        });
    }
    for size in SIZES {
        let text = config_maps(size);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("cut at the markers", size), &text, |b, text| {
            b.iter(|| assert_eq!(stream::split(black_box(text)).len(), size as usize));
        });
    }
}

fn overlays(bencher: &mut Criterion) {
    for (name, verified) in [("build", false), ("verify", true)] {
        let mut group = bencher.benchmark_group(name);
        group.sample_size(20);
        for size in SIZES {
            let project = project(&config_maps(size));
            let changed = run(project.path(), verified);
            assert!(changed.contains("other: changed"));
            group.throughput(Throughput::Elements(u64::from(size)));
            group.bench_function(BenchmarkId::from_parameter(size), |b| b.iter(|| run(project.path(), verified)));
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    reading(&mut criterion);
    overlays(&mut criterion);
    criterion.final_summary();
}
