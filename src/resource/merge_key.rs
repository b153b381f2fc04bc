//! Which fields tell the items of a list apart.
//!
//! The table holds what the Kubernetes API types declare as merge keys (`patchMergeKey` and `x-kubernetes-list-map-keys`
//! in `k8s.io/api`), by where the list lies: the name of its field and of the field around it. A pod's lists are the
//! same wherever a pod template lies, whatever the kind. For every other list, [`MergeKey::common`] looks for a field that does
//! the job.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::scalar_text;

/// The fields that together name an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeKey(&'static [&'static str]);

/// What an item is called by its merge key: each field with the text of its value.
pub type ItemKey<'v> = Vec<(&'static str, Cow<'v, str>)>;

/// A field whose absence means a value: the API server fills in the protocol of a port before it compares.
const DEFAULTS: &[(&str, &str)] = &[("protocol", "TCP")];

/// Fields that name an item where a list's type is not known, in the order in which they are tried.
const COMMON: &[&[&str]] = &[
    &["name"],
    &["id"],
    &["key"],
    &["type"],
    &["uid"],
    &["kind", "name"],
    &["apiGroup", "kind", "namespace", "name"],
    &["host"],
    &["path"],
    &["ip"],
];

/// What the absence of a field of an item means, where it means a value: the protocol of something with a port is TCP.
/// `has` says whether the item has a field.
pub fn absent_text(field: &str, has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let (_, value) = DEFAULTS.iter().find(|(name, _)| *name == field)?;
    (has("port") || has("containerPort")).then_some(*value)
}

impl MergeKey {
    /// The merge key of the list at `path`, if its type declares one: the mapping keys that lead to the list, items
    /// of lists on the way left out (`["spec", "containers", "ports"]`).
    pub fn of_list(path: &[&str]) -> Option<MergeKey> {
        let (&field, above) = path.split_last()?;
        let parent = above.last().copied().unwrap_or("");
        let fields: &'static [&'static str] = match field {
            "containers"
            | "initContainers"
            | "ephemeralContainers"
            | "volumes"
            | "env"
            | "imagePullSecrets"
            | "schedulingGates"
            | "resourceClaims"
            | "webhooks"
            | "matchConditions"
            | "versions"
            | "validations" => &["name"],
            "secrets" if above.is_empty() => &["name"],
            "claims" if parent == "resources" => &["name"],
            "volumeMounts" => &["mountPath"],
            "volumeDevices" => &["devicePath"],
            "hostAliases" | "podIPs" | "hostIPs" => &["ip"],
            "topologySpreadConstraints" => &["topologyKey", "whenUnsatisfiable"],
            "ports" if matches!(parent, "containers" | "initContainers" | "ephemeralContainers") => {
                &["containerPort", "protocol"]
            }
            "ports" if parent == "spec" => &["port", "protocol"],
            "ownerReferences" if parent == "metadata" => &["uid"],
            "conditions" | "addresses" => &["type"],
            "taints" => &["key", "effect"],
            _ => return None,
        };
        Some(MergeKey(fields))
    }

    /// A field, or a set of fields, that every item of both lists has and that names each item of its list once.
    /// `None` where there is none, or nothing in either list.
    pub fn common(before: &[Value], after: &[Value]) -> Option<MergeKey> {
        if before.is_empty() && after.is_empty() {
            return None;
        }
        COMMON.iter().map(|fields| MergeKey(fields)).find(|key| key.tells_apart(before) && key.tells_apart(after))
    }

    /// The fields.
    pub fn fields(self) -> &'static [&'static str] {
        self.0
    }

    /// What the item is called; `None` when it is no mapping, or lacks one of the fields. An absent `protocol` is
    /// `TCP`.
    pub fn of_item(self, item: &Value) -> Option<ItemKey<'_>> {
        let item = item.as_object()?;
        let text = |field: &'static str| match item.get(field) {
            Some(value) => scalar_text(value),
            None => DEFAULTS.iter().find(|(name, _)| *name == field).map(|(_, value)| Cow::Borrowed(*value)),
        };
        self.0.iter().map(|field| text(field).map(|text| (*field, text))).collect()
    }

    /// Whether every item has the key, and no two the same.
    pub fn tells_apart(self, items: &[Value]) -> bool {
        let mut seen = HashSet::with_capacity(items.len());
        items.iter().all(|item| self.of_item(item).is_some_and(|key| seen.insert(key)))
    }
}

/// Whether nothing reads the order of the items of the list at `path` (as [`MergeKey::of_list`] has it): lists that the
/// API types declare as maps or sets (`+listType` in `k8s.io/api/core/v1/types.go`), those left out whose order a
/// kubelet or scheduler follows all the same (containers, `env`, `imagePullSecrets`, `hostAliases` …).
pub fn has_no_order(path: &[&str]) -> bool {
    let Some((&field, above)) = path.split_last() else { return false };
    let parent = above.last().copied().unwrap_or("");
    match field {
        "volumes"
        | "volumeMounts"
        | "volumeDevices"
        | "resourceClaims"
        | "schedulingGates"
        | "readinessGates"
        | "tolerations"
        | "topologySpreadConstraints"
        | "taints" => true,
        "claims" => parent == "resources",
        "ports" => matches!(parent, "containers" | "initContainers" | "ephemeralContainers"),
        "ownerReferences" | "finalizers" => parent == "metadata",
        "secrets" => above.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_mounts_means_nothing_and_that_of_arguments_does() {
        let has_no_order = |path: &str| has_no_order(&path.split('/').collect::<Vec<_>>());
        for path in ["spec/volumes", "spec/template/spec/containers/volumeMounts", "spec/containers/ports", "secrets"] {
            assert!(has_no_order(path), "{path}");
        }
        for path in ["spec/containers", "spec/containers/args", "spec/containers/env", "spec/ports", "items", "data"] {
            assert!(!has_no_order(path), "{path}");
        }
    }

    fn fields(path: &str) -> Option<&'static [&'static str]> {
        MergeKey::of_list(&path.split('/').collect::<Vec<_>>()).map(MergeKey::fields)
    }

    #[test]
    fn lists_of_a_pod_are_known_wherever_the_pod_is() {
        assert_eq!(fields("spec/containers"), Some(&["name"][..]));
        assert_eq!(fields("spec/jobTemplate/spec/template/spec/initContainers/volumeMounts"), Some(&["mountPath"][..]));
        assert_eq!(fields("spec/template/spec/containers/ports"), Some(&["containerPort", "protocol"][..]));
        assert_eq!(fields("spec/ports"), Some(&["port", "protocol"][..]));
        assert_eq!(fields("metadata/ownerReferences"), Some(&["uid"][..]));
        assert_eq!(fields("secrets"), Some(&["name"][..]));
        assert_eq!(fields("spec/tolerations"), None);
        assert_eq!(fields("spec/ingress/ports"), None);
        assert_eq!(MergeKey::of_list(&[]), None);
    }

    #[test]
    fn an_absent_protocol_is_tcp() {
        let key = MergeKey::of_list(&["spec", "ports"]).unwrap();
        assert_eq!(key.of_item(&json!({"port": 53})), key.of_item(&json!({"port": "53", "protocol": "TCP"})));
        assert_ne!(key.of_item(&json!({"port": 53})), key.of_item(&json!({"port": 53, "protocol": "UDP"})));
        assert_eq!(key.of_item(&json!({"name": "x"})), None);
        assert_eq!(key.of_item(&json!("x")), None);
    }

    #[test]
    fn a_common_key_is_there_in_every_item_and_unique() {
        let list = |text: &str| -> Vec<Value> { serde_json::from_str(text).unwrap() };
        let of = |a: &str, b: &str| MergeKey::common(&list(a), &list(b)).map(MergeKey::fields);
        assert_eq!(of(r#"[{"name":"a"},{"name":"b"}]"#, r#"[{"name":"a"}]"#), Some(&["name"][..]));
        assert_eq!(of(r#"[{"name":"a","id":1},{"name":"a","id":2}]"#, "[]"), Some(&["id"][..]));
        assert_eq!(of(r#"[{"name":"a"},{"x":"b"}]"#, "[]"), None);
        assert_eq!(of(r#"["a","b"]"#, r#"["a"]"#), None);
        assert_eq!(of("[]", "[]"), None);
        let subjects = r#"[{"kind":"User","name":"a"},{"kind":"Group","name":"a"}]"#;
        assert_eq!(of(subjects, "[]"), Some(&["kind", "name"][..]));
    }
}
