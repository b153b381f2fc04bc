//! Plays docs/tutorial.md on the very file that Multus publishes, and compares all that it prints. `OVERWRITE=1` writes
//! what is printed into the page. tests/docs.rs plays it without the corpus.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may run a shell, and fail")]

mod support;
#[path = "support/tutorial.rs"]
mod tutorial;

use std::fs;

const UPSTREAM: &str = "../upstream/multus/95a0932350f0060cd232096876e24672a1de83fa/multus-daemonset-thick.yml";

#[test]
fn the_tutorial_prints_what_it_shows() {
    let Some(corpus) = support::corpus() else { return };
    let page = fs::read_to_string(tutorial::file()).unwrap();
    let played = tutorial::played(&page, &corpus.join(UPSTREAM));
    if std::env::var_os("OVERWRITE").is_some() {
        fs::write(tutorial::file(), &played).unwrap();
    } else {
        assert!(played == page, "{}", similar::TextDiff::from_lines(&page, &played).unified_diff());
    }
}
