//! Which documents a change means.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::{Identity, glob, scalar_text};
use crate::diag::distance;

/// What a change says of the documents that it means. A field that is `None` is not asked about; any other is exact
/// text, or a glob with `*` and `?`. `group: ""` is the core group, `namespace: ""` no namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The API group.
    pub group: Option<String>,
    /// The API version without the group.
    pub version: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// Labels that must be there, each with its value or a glob.
    pub labels: Vec<(String, String)>,
    /// Annotations that must be there, each with its value or a glob.
    pub annotations: Vec<(String, String)>,
}

/// Why a target cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It names nothing, and would mean every document.
    #[error("the target names nothing")]
    Empty,
    /// A glob that is too long.
    #[error("the glob of `{field}` is longer than {} bytes", glob::MAX_GLOB)]
    LongGlob {
        /// The field that it is in.
        field: String,
    },
}

/// A field in which a document is not what a target asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The field as the target spells it: `kind`, `name`, `labels.app` …
    pub field: String,
    /// What the target asks for.
    pub wanted: String,
    /// What the document has; `None` where it has nothing.
    pub found: Option<String>,
}

/// A document that a target nearly means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The document's place among those that were looked at.
    pub index: usize,
    /// The fields that are off. Never empty.
    pub misses: Vec<Miss>,
    /// The edits (letters put in, taken out or changed, letter case ignored) from what is wanted to what is there,
    /// over all fields.
    pub edits: usize,
}

impl Target {
    /// Whether it can be used.
    pub fn check(&self) -> Result<(), TargetError> {
        let mut fields = self.asked().peekable();
        if fields.peek().is_none() {
            return Err(TargetError::Empty);
        }
        match fields.find(|asked| glob::is_glob(asked.wanted) && asked.wanted.len() > glob::MAX_GLOB) {
            Some(asked) => Err(TargetError::LongGlob { field: asked.field() }),
            None => Ok(()),
        }
    }

    /// Whether the target means the document: `document` is its value, which labels and annotations are read from.
    pub fn matches(&self, identity: &Identity, document: &Value) -> bool {
        self.asked().all(|asked| asked.is_met(identity, document))
    }

    /// Whether the identity alone fits. A document for which this is false need not be read.
    pub fn may_match(&self, identity: &Identity) -> bool {
        self.asked()
            .filter(|asked| asked.section == Section::Identity)
            .all(|asked| asked.is_met(identity, &Value::Null))
    }

    /// The fields in which a document is not what the target asks for; none where it matches.
    pub fn misses(&self, identity: &Identity, document: &Value) -> Vec<Miss> {
        self.asked()
            .filter(|asked| !asked.is_met(identity, document))
            .map(|asked| Miss {
                field: asked.field(),
                wanted: asked.wanted.to_owned(),
                found: asked.found(identity, document),
            })
            .collect()
    }

    /// The documents that come nearest to a target that means none of them, the nearest first, at most `limit`:
    /// those with the fewest fields off and, among these, the fewest edits. A document with every field off is not
    /// near.
    pub fn nearest<'d>(
        &self,
        documents: impl IntoIterator<Item = (&'d Identity, &'d Value)>,
        limit: usize,
    ) -> Vec<Near> {
        let asked = self.asked().count();
        let mut near: Vec<Near> = Vec::new();
        for (index, (identity, document)) in documents.into_iter().enumerate() {
            let misses = self.misses(identity, document);
            if misses.is_empty() {
                continue;
            }
            let edits = misses.iter().map(|miss| distance(&miss.wanted, miss.found.as_deref().unwrap_or(""))).sum();
            let alike = misses.iter().all(|miss| is_near(&miss.wanted, miss.found.as_deref().unwrap_or("")));
            if misses.len() < asked || alike {
                near.push(Near { index, misses, edits });
            }
        }
        near.sort_by_key(|n| (n.misses.len(), n.edits, n.index));
        near.truncate(limit);
        near
    }

    /// Everything that the target asks for, in the order of the fields.
    fn asked(&self) -> impl Iterator<Item = Asked<'_>> {
        let identity = [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
            ("namespace", &self.namespace),
            ("name", &self.name),
        ];
        let identity = identity.into_iter().filter_map(|(key, wanted)| {
            wanted.as_deref().map(|wanted| Asked { section: Section::Identity, key, wanted })
        });
        let labels = self.labels.iter().map(|(key, wanted)| Asked { section: Section::Labels, key, wanted });
        let annotations =
            self.annotations.iter().map(|(key, wanted)| Asked { section: Section::Annotations, key, wanted });
        identity.chain(labels).chain(annotations)
    }
}

/// As much of a target as a message needs: `kind=DaemonSet, name=net-*`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, asked) in self.asked().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", asked.field(), asked.wanted)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Identity,
    Labels,
    Annotations,
}

/// One thing that a target asks for.
struct Asked<'t> {
    section: Section,
    key: &'t str,
    wanted: &'t str,
}

impl Asked<'_> {
    fn field(&self) -> String {
        match self.section {
            Section::Identity => self.key.to_owned(),
            Section::Labels => format!("labels.{}", self.key),
            Section::Annotations => format!("annotations.{}", self.key),
        }
    }

    fn found(&self, identity: &Identity, document: &Value) -> Option<String> {
        let map = match self.section {
            Section::Identity => return Some(part(identity, self.key).to_owned()).filter(|part| !part.is_empty()),
            Section::Labels => document.pointer("/metadata/labels"),
            Section::Annotations => document.pointer("/metadata/annotations"),
        };
        map.and_then(|map| map.get(self.key)).and_then(scalar_text).map(Cow::into_owned)
    }

    fn is_met(&self, identity: &Identity, document: &Value) -> bool {
        match self.section {
            Section::Identity => glob::matches(self.wanted, part(identity, self.key)),
            _ => self.found(identity, document).is_some_and(|found| glob::matches(self.wanted, &found)),
        }
    }
}

fn part<'i>(identity: &'i Identity, field: &str) -> &'i str {
    match field {
        "group" => &identity.group,
        "version" => &identity.version,
        "kind" => &identity.kind,
        "namespace" => &identity.namespace,
        _ => &identity.name,
    }
}

/// Whether two words are as near as a slip of the hand.
fn is_near(wanted: &str, found: &str) -> bool {
    crate::diag::nearest(wanted, [found]).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target(pairs: &[(&str, &str)]) -> Target {
        let mut target = Target::default();
        for (field, wanted) in pairs {
            let wanted = Some((*wanted).to_owned());
            match *field {
                "group" => target.group = wanted,
                "version" => target.version = wanted,
                "kind" => target.kind = wanted,
                "namespace" => target.namespace = wanted,
                _ => target.name = wanted,
            }
        }
        target
    }

    fn agent() -> Identity {
        Identity::new("apps/v1", "DaemonSet", "net", "net-agent")
    }

    #[test]
    fn every_field_that_is_there_must_fit() {
        let document = json!({"metadata": {"labels": {"tier": "node", "level": 3}}});
        let matches = |t: &Target| t.matches(&agent(), &document);
        assert!(matches(&target(&[("kind", "DaemonSet")])));
        assert!(matches(&target(&[("group", "a*s"), ("version", "v?"), ("namespace", "net"), ("name", "*agent")])));
        assert!(!matches(&target(&[("kind", "daemonset")])));
        assert!(!matches(&target(&[("group", "")])));
        let mut labelled = target(&[("kind", "DaemonSet")]);
        labelled.labels = vec![("tier".into(), "n*".into()), ("level".into(), "3".into())];
        assert!(matches(&labelled));
        assert!(labelled.may_match(&agent()));
        labelled.annotations = vec![("absent".into(), "*".into())];
        assert!(!matches(&labelled));
        assert!(labelled.may_match(&agent()));
        assert_eq!(labelled.to_string(), "kind=DaemonSet, labels.tier=n*, labels.level=3, annotations.absent=*");
    }

    #[test]
    fn the_core_group_is_named_by_an_empty_text() {
        let core = Identity::new("v1", "Secret", "", "s");
        assert!(target(&[("group", "")]).matches(&core, &Value::Null));
        assert!(target(&[("namespace", "")]).matches(&core, &Value::Null));
    }

    #[test]
    fn a_target_that_names_nothing_or_too_much_is_refused() {
        assert_eq!(Target::default().check(), Err(TargetError::Empty));
        assert_eq!(target(&[("kind", "Pod")]).check(), Ok(()));
        let long = target(&[("name", &"*".repeat(2000))]);
        assert_eq!(long.check(), Err(TargetError::LongGlob { field: "name".into() }));
    }

    #[test]
    fn the_nearest_documents_come_first_with_what_is_off() {
        let documents = [
            Identity::new("v1", "ConfigMap", "net", "net-agent"),
            Identity::new("apps/v1", "DaemonSet", "net", "other"),
            agent(),
            Identity::new("v1", "Service", "web", "front"),
        ];
        let wanted = target(&[("kind", "DaemonSet"), ("name", "net-agnet")]);
        let near = wanted.nearest(documents.iter().map(|i| (i, &Value::Null)), 3);
        assert_eq!(near.iter().map(|n| n.index).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(near[0].edits, 1);
        assert_eq!(
            near[0].misses,
            [Miss { field: "name".into(), wanted: "net-agnet".into(), found: Some("net-agent".into()) }]
        );
        let nameless = Identity::new("v1", "ConfigMap", "", "");
        let wanted = target(&[("kind", "ConfigMap"), ("name", "a")]);
        let near = wanted.nearest([(&nameless, &Value::Null)], 1);
        assert_eq!(near[0].misses, [Miss { field: "name".into(), wanted: "a".into(), found: None }]);
        let lower = target(&[("kind", "daemonset")]);
        assert_eq!(lower.nearest(documents.iter().map(|i| (i, &Value::Null)), 1)[0].edits, 0);
    }
}
