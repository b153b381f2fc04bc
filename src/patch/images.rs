//! The images that a patch writes: which texts of its values name one, where each stands in the patch file, and where
//! the file keeps the tag that its digest was taken from. `pin` changes them, `verify` points at them.

use serde_json::Value;

use super::model::{Op, Operation, Patch};
use super::path::{Path, Segment};
use crate::config::Spanned;
use crate::diag::Place;
use crate::resource::images::{ImageName, comment_tag, malformed};
use crate::resource::reference::Reference;
use crate::resource::walk::walk;
use crate::yaml::load;
use crate::yaml::tree::{Kind, NodeId};

/// An image in a value that a patch adds or puts in the place of another.
#[derive(Clone, Debug)]
pub struct PatchImage<'p> {
    /// Its name, as the patch writes it.
    pub name: &'p str,
    /// The name without its digest, and so without what may be wrong with that.
    pub reference: Reference,
    /// Where the file says the tag.
    pub tag: TagKept<'p>,
    /// Where it goes, for people: the path of the operation, and on into its value.
    pub path: Path,
    /// Where it stands in the patch file.
    pub place: Place,
    /// Where it stands in the patch file: mapping keys and indices from the file's top.
    pub at: Vec<String>,
    /// The `comment` of its operation, as a path like `at`; there is one where that is where the tag is kept.
    pub comment_at: Vec<String>,
}

/// Where a patch keeps the tag of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagKept<'p> {
    /// In the image's name.
    pub in_name: Option<&'p str>,
    /// As the whole `comment` of the operation, where that comes to stand behind the image: one word, beside a digest, that
    /// looks like a tag.
    pub in_comment: Option<&'p str>,
    /// So as the comment behind the value in the patch file.
    pub behind: Option<&'p str>,
}

impl<'p> TagKept<'p> {
    /// The tag.
    pub fn tag(&self) -> Option<&'p str> {
        self.in_name.or(self.in_comment).or(self.behind)
    }
}

impl PatchImage<'_> {
    /// The digest as it is written, sound or not.
    pub fn digest(&self) -> Option<&str> {
        ImageName::parse(self.name).digest
    }

    /// The tag that it is known by: the one that is kept, or the one that a name without tag and digest means.
    pub fn effective_tag(&self) -> Option<&str> {
        self.tag.tag().or_else(|| self.reference.effective_tag().filter(|_| self.digest().is_none()))
    }
}

/// The images that a patch writes, in the file's order: texts under a key `image`, texts with a sound digest, and
/// texts that name the repository of `wanted`.
pub fn images<'p>(patch: &'p Patch, wanted: Option<&Reference>) -> Vec<PatchImage<'p>> {
    let mut found = Vec::new();
    for (change, what) in patch.changes.iter().enumerate() {
        for (number, operation) in what.operations().iter().enumerate() {
            let (Op::Add(new) | Op::Replace(new)) = &operation.op else { continue };
            let home = ["changes".to_owned(), change.to_string(), "patch".to_owned(), number.to_string()];
            let site = Site { patch, operation, home: &home, wanted };
            found.extend(texts(&new.value).into_iter().filter_map(|(below, name)| site.image(&below, name)));
        }
    }
    found
}

/// The texts in a value, each with the mapping keys and indices that lead to it, in order.
fn texts(value: &Value) -> Vec<(Vec<String>, &str)> {
    let mut found = Vec::new();
    walk(value, Vec::new(), &mut |way, value| {
        if let Value::String(text) = value {
            found.push((way.iter().map(ToString::to_string).collect(), text.as_str()));
        }
    });
    found
}

/// One operation, and what is looked for in it.
struct Site<'p, 's> {
    patch: &'p Patch,
    operation: &'p Operation,
    /// Where the operation stands in the file.
    home: &'s [String],
    wanted: Option<&'s Reference>,
}

impl<'p> Site<'p, '_> {
    fn image(&self, below: &[String], name: &'p str) -> Option<PatchImage<'p>> {
        let parts = ImageName::parse(name);
        let bare = name.split_once('@').map_or(name, |(bare, _)| bare);
        let reference = Reference::parse(bare).ok()?;
        let mut path = self.operation.path.value.clone();
        for key in below {
            path.push(Segment::Key(key.clone()));
        }
        let named_so = matches!(path.segments().last(), Some(Segment::Key(key)) if key == "image");
        let pinned = parts.digest.is_some_and(|digest| malformed(digest).is_none());
        let is_wanted = self.wanted.is_some_and(|wanted| wanted.is_of_repository(&reference));
        if !(named_so || pinned || is_wanted) {
            return None;
        }
        let at = self.at("value", below);
        let node = load::find(self.patch.file.tree(), &at)?;
        let comment = self.operation.comment.as_ref().filter(|_| below.is_empty() || self.shares_its_line(node));
        Some(PatchImage {
            name,
            reference,
            tag: TagKept {
                in_name: parts.tag,
                in_comment: comment.and_then(|Spanned { value, .. }| comment_tag(&parts, value)),
                behind: self.comment_behind(node).and_then(|comment| comment_tag(&parts, comment)),
            },
            path,
            place: self.patch.place(self.patch.file.tree().node(node).span.clone()),
            at,
            comment_at: self.at("comment", &[]),
        })
    }

    fn at(&self, key: &str, below: &[String]) -> Vec<String> {
        self.home.iter().cloned().chain([key.to_owned()]).chain(below.iter().cloned()).collect()
    }

    /// Whether the operation's comment comes to stand behind a part of its value: behind all of a value between brackets,
    /// and otherwise on the line of the dash that the value follows, if it is an item.
    fn shares_its_line(&self, part: NodeId) -> bool {
        let tree = self.patch.file.tree();
        let Some(value) = load::find(tree, &self.at("value", &[])) else { return false };
        let (value, part) = (tree.node(value), &tree.node(part).span);
        let is_flow = matches!(value.kind, Kind::Mapping { flow: true, .. } | Kind::Sequence { flow: true, .. });
        let between = if is_flow { part.end..value.span.end } else { value.span.start..part.end };
        let text = self.patch.source().text.get(between);
        (is_flow || self.writes_an_item()) && text.is_some_and(|text| !text.contains(['\n', '\r']))
    }

    fn writes_an_item(&self) -> bool {
        match self.operation.path.value.segments().last() {
            Some(Segment::Key(key)) => key == "-" || key.bytes().all(|b| b.is_ascii_digit()),
            Some(_) => true,
            None => false,
        }
    }

    /// The comment behind a node with nothing but blanks, or a comma, between.
    fn comment_behind(&self, node: NodeId) -> Option<&'p str> {
        let (tree, text) = (self.patch.file.tree(), self.patch.source().text.as_str());
        let end = tree.node(node).span.end;
        let line = text.get(end..)?.split(['\n', '\r']).next()?;
        let comment = line.trim_start_matches([' ', '\t', ',']);
        (comment.starts_with('#') && comment.len() < line.len()).then_some(comment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Findings;
    use crate::diag::Source;

    const SHA: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    fn read(operations: &str) -> Patch {
        let text = format!(
            "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:\n  - target: {{kind: A}}\n    patch:\n{operations}"
        );
        Patch::read(&Source::new("p.yaml", text), &mut Findings::new()).unwrap()
    }

    /// Line, path, name without digest and tag of each image.
    fn found(operations: &str, wanted: Option<&str>) -> Vec<String> {
        let patch = read(operations);
        let wanted = wanted.map(|text| Reference::parse(text).unwrap());
        let shown = |image: &PatchImage<'_>| {
            let tag = image.effective_tag().unwrap_or("-");
            format!("{} {} {} {tag}", image.place.line(), image.path, image.reference)
        };
        images(&patch, wanted.as_ref()).iter().map(shown).collect()
    }

    #[test]
    fn images_are_found_by_their_key_and_by_their_digest() {
        let operations = format!(
            "      - {{op: replace, path: \"/c/[name=a]/image\", value: r.example/a:v1}}
      - op: add
        path: /spec
        value:
          image: r.example/b@{SHA} # v2
          other: [text, 'r.example/c:v3@{SHA}']
          picture: r.example/d:v4
      - {{op: test, path: /image, value: r.example/e}}
      - {{op: replace, path: /image, value: \"/boot image\"}}
"
        );
        let all = [
            "7 /c/[name=a]/image r.example/a:v1 v1",
            "11 /spec/image r.example/b v2",
            "12 /spec/other/1 r.example/c:v3 v3",
            "13 /spec/picture r.example/d:v4 v4",
        ];
        assert_eq!(found(&operations, None), all[..3]);
        assert_eq!(found(&operations, Some("r.example/d")), all);
    }

    #[test]
    fn a_comment_is_a_tag_where_it_is_nothing_else() {
        let tag =
            |rest: &str| found(&format!("      - op: replace\n        path: /image\n        value: {rest}\n"), None);
        let line = "9 /image r.example/a";
        assert_eq!(tag(&format!("r.example/a@{SHA} # v1")), [format!("{line} v1")]);
        assert_eq!(tag(&format!("r.example/a@{SHA}\n        comment: v1")), [format!("{line} v1")]);
        assert_eq!(tag(&format!("r.example/a@{SHA} # from v1\n        comment: pinned in May")), [format!("{line} -")]);
        assert_eq!(tag(&format!("r.example/a:v2@{SHA} # v1")), [format!("{line}:v2 v2")]);
        assert_eq!(tag(&format!("r.example/a@{SHA} # ours")), [format!("{line} -")]);
        assert_eq!(tag(&format!("r.example/a@{SHA} # stable")), [format!("{line} stable")]);
        assert_eq!(tag("r.example/a"), [format!("{line} latest")]);
        assert_eq!(tag("r.example/a # v1"), [format!("{line} latest")]);
        assert_eq!(tag("r.example/a@sha256:0123"), [format!("{line} -")]);
    }
}
