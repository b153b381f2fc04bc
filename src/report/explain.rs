//! What an overlay departs in and why, for people: as text, and as Markdown for a README or a pull request.

use super::paint::Paint;
use super::text::{added, push_departures, push_head, without_commands};
use super::value::{shown, shown_pair};
use super::{ChangeKind, Departure, OverlayReport, PatchReport, Report};
use crate::diag::render::Dress;
use crate::diag::visible::visible;

/// What `overlay explain` prints.
pub fn explain_text(report: &Report, dress: Dress) -> String {
    let paint = Paint(dress);
    let overlays: Vec<String> = report.overlays.iter().map(|overlay| overlay_text(overlay, paint)).collect();
    without_commands(overlays.join("\n"))
}

fn overlay_text(overlay: &OverlayReport, paint: Paint) -> String {
    let mut out = String::new();
    push_head(&mut out, overlay, paint);
    if !overlay.description.is_empty() {
        out.push_str(&format!("  {}\n", visible(overlay.description.trim_end())));
    }
    for base in &overlay.bases {
        let license = base.license.as_ref().map_or(String::new(), |license| format!(", {}", visible(license)));
        out.push_str(&format!("  on {}, {}{license}\n", visible(&base.name), visible(&base.source)));
    }
    for document in added(&overlay.documents) {
        out.push_str(&format!("  adds {}\n", visible(&document)));
    }
    for patch in &overlay.patches {
        out.push('\n');
        push_patch_text(&mut out, patch, paint);
    }
    out
}

fn push_patch_text(out: &mut String, patch: &PatchReport, paint: Paint) {
    out.push_str(&format!("{}  {}\n", paint.name(&visible(&patch.name)), visible(&patch.summary)));
    out.push_str(&format!("  {}\n", paint.quiet(&visible(&patch.file))));
    if !patch.why.trim().is_empty() {
        out.push('\n');
    }
    for line in patch.why.trim_end().lines() {
        out.push_str(format!("  {}", visible(line)).trim_end());
        out.push('\n');
    }
    let facts = facts(patch);
    let has_facts = !facts.is_empty();
    if has_facts || !patch.departures.is_empty() {
        out.push('\n');
    }
    for (name, fact) in facts {
        out.push_str(&format!("  {} {}\n", paint.quiet(name), visible(&fact)));
    }
    if has_facts && !patch.departures.is_empty() {
        out.push('\n');
    }
    push_departures(out, &patch.departures, paint);
}

/// What a patch tells beside its reason.
fn facts(patch: &PatchReport) -> Vec<(&'static str, String)> {
    let mut facts: Vec<_> = patch.evidence.iter().map(|evidence| ("shown by:", evidence.clone())).collect();
    let named = [("checked on:", &patch.verified), ("check again by:", &patch.review), ("upstream:", &patch.upstream)];
    facts.extend(named.into_iter().filter_map(|(name, fact)| Some((name, fact.clone()?))));
    facts
}

/// What `overlay explain --format markdown` prints. A patch's `why` is taken as the Markdown that it may be, except that
/// it cannot begin a heading, and that HTML in it is shown and not taken.
pub fn explain_markdown(report: &Report) -> String {
    let overlays: Vec<String> = report.overlays.iter().map(overlay_markdown).collect();
    without_commands(overlays.join("\n"))
}

fn overlay_markdown(overlay: &OverlayReport) -> String {
    let mut out = format!("## {}\n\n", escaped(&overlay.name));
    if !overlay.description.is_empty() {
        out.push_str(&format!("{}\n\n", escaped(overlay.description.trim_end())));
    }
    for base in &overlay.bases {
        let license = base.license.as_ref().map_or(String::new(), |license| format!(", {}", escaped(license)));
        out.push_str(&format!("Base: {}, {}{license}.\n\n", escaped(&base.name), escaped(&base.source)));
    }
    for added in &overlay.documents.added {
        out.push_str(&format!("Added: {}, from {}.\n\n", code(&added.resource), code(&added.file)));
    }
    let patches: Vec<String> = overlay.patches.iter().map(patch_markdown).collect();
    out.push_str(&patches.join("\n"));
    out
}

fn patch_markdown(patch: &PatchReport) -> String {
    let mut out = format!("### {}: {}\n\n", escaped(&patch.name), escaped(&patch.summary));
    for line in patch.why.trim_end().lines() {
        out.push_str(&format!("{}\n", without_heading(without_html(&visible(line)).trim_end())));
    }
    out.push('\n');
    if !patch.departures.is_empty() {
        out.push_str("| document | place | upstream | here |\n|---|---|---|---|\n");
        for departure in &patch.departures {
            out.push_str(&row(departure));
        }
        out.push('\n');
    }
    for (name, fact) in facts(patch) {
        out.push_str(&format!("- {name} {}\n", linked(&fact)));
    }
    out
}

/// A line of Markdown in which no `<` begins HTML. An address between `<` and `>` stays a link.
fn without_html(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (at, part) in line.split('<').enumerate() {
        let is_address = part.starts_with("https://") || part.starts_with("http://");
        if at > 0 {
            out.push_str(if is_address { "<" } else { "&lt;" });
        }
        out.push_str(part);
    }
    out
}

/// A line of Markdown that neither is a heading (`#`) nor makes one of the line above it (`===`, `---`).
fn without_heading(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    let underlines = |c: char| !text.is_empty() && text.chars().all(|of| of == c);
    if text.starts_with('#') || underlines('=') || underlines('-') {
        let indentation = &line[..line.len() - text.len()];
        return format!("{indentation}\\{text}");
    }
    line.to_owned()
}

/// A row of the table of departures.
fn row(departure: &Departure) -> String {
    let within = departure.within.as_ref().map_or(String::new(), |within| format!(" in {}", code(within)));
    let place = match departure.path.as_str() {
        "" => "all of it".to_owned(),
        path => code(path),
    };
    let (before, after) = match (&departure.before, &departure.after) {
        (Some(before), Some(after)) if departure.change == ChangeKind::Move => {
            (format!("index {}", shown(before)), format!("index {}", shown(after)))
        }
        (Some(before), Some(after)) => {
            let (before, after) = shown_pair(before, after);
            (code(&before), code(&after))
        }
        (before, after) => {
            let cell = |value: &Option<_>| value.as_ref().map_or(String::new(), |value| code(&shown(value)));
            (cell(before), cell(after))
        }
    };
    format!("| {} | {place}{within} | {before} | {after} |\n", code(&departure.resource))
}

/// Text as a code span of a table cell: fenced with more backticks than it has in a row, its pipes escaped.
fn code(text: &str) -> String {
    let text = visible(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if "\\`*_[]<>#|&~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// An address as a link, other text as it is.
fn linked(text: &str) -> String {
    let is_address = text.starts_with("https://") && !text.contains(|c: char| c.is_whitespace() || "<>".contains(c));
    if is_address { format!("<{}>", visible(text)) } else { escaped(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_text_gives_each_patch_with_its_reason_and_places() {
        let wanted = "\
lab  overlays/lab
  The net agent in the lab
  on net, example/net-agent at 0123456789ab

bindir  Tell the agent where the plugins are
  overlays/lab/patches/bindir.yaml

  The agent looks for plugins in its own mounts.

  This host has another folder for them.

  shown by: https://example.org/net-agent/issues/7
  checked on: 2026-08-24
  check again by: 2027-02-24
  upstream: not-needed

    ConfigMap/kube-system/net-config, in /data/net.json
      + /binDir: \"/var/lib/cni\"

pin  Pin the image
  overlays/lab/patches/pin.yaml

  Tags move.

    Deployment.apps/web
      ~ /spec/template/spec/containers/[name=web]/image: \"web:1\" → \"web@sha256:77\"
        so it is
      - /spec/paused: true
      > /spec/order/[=b]: from index 1 to 0
";
        assert_eq!(explain_text(&sample::report(), Dress::Plain), wanted);
    }

    #[test]
    fn the_markdown_is_fit_for_a_readme() {
        let wanted = "\
## lab

The net agent in the lab

Base: net, example/net-agent at 0123456789ab.

### bindir: Tell the agent where the plugins are

The agent looks for plugins in its own mounts.

This host has another folder for them.

| document | place | upstream | here |
|---|---|---|---|
| `ConfigMap/kube-system/net-config` | `/binDir` in `/data/net.json` |  | `\"/var/lib/cni\"` |

- shown by: <https://example.org/net-agent/issues/7>
- checked on: 2026-08-24
- check again by: 2027-02-24
- upstream: not-needed

### pin: Pin the image

Tags move.

| document | place | upstream | here |
|---|---|---|---|
| `Deployment.apps/web` | `/spec/template/spec/containers/[name=web]/image` | `\"web:1\"` | `\"web@sha256:77\"` |
| `Deployment.apps/web` | `/spec/paused` | `true` |  |
| `Deployment.apps/web` | `/spec/order/[=b]` | index 1 | index 0 |

";
        assert_eq!(explain_markdown(&sample::report()), wanted);
    }

    #[test]
    fn values_cannot_break_out_of_their_cell() {
        assert_eq!(code("a|b`c``d"), "```a\\|b`c``d```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("x\n\u{202e}"), "`x\\n\\u202E`");
        assert_eq!(escaped("<b> [x](y) #1"), "\\<b\\> \\[x\\](y) \\#1");
        assert_eq!(linked("https://example.org/a b"), "https://example.org/a b");
    }

    #[test]
    fn a_reason_cannot_bring_html_nor_command_a_runner() {
        let mut report = sample::report();
        report.overlays[0].patches[1].why =
            "</details><img src=x>\n<!-- a\n<https://example.org/> 1 < 2 \\<b>\n ::error file=x::forged ##[add-path]y"
                .into();
        let wanted = "\n&lt;/details>&lt;img src=x>\n&lt;!-- a\n<https://example.org/> 1 &lt; 2 \\&lt;b>\n \\::error file=x::forged #\\#[add-path]y\n";
        assert!(explain_markdown(&report).contains(wanted), "{}", explain_markdown(&report));
        let text = explain_text(&report, Dress::Plain);
        assert!(text.contains("\n   \\::error file=x::forged #\\#[add-path]y\n"), "{text}");
    }

    #[test]
    fn a_reason_cannot_begin_a_heading() {
        let mut report = sample::report();
        report.overlays[0].patches[1].why = "# Loud\nand *Markdown*\n  ---\n\n- a\n".into();
        assert!(explain_markdown(&report).contains("\n\\# Loud\nand *Markdown*\n"));
    }
}
