//! What a server writes into an object beside what was applied: its own fields, defaults, and the spelling that it
//! gives to amounts and to values that say nothing.
//!
//! The defaults are those of the Kubernetes API types (`SetDefaults_…` in `pkg/apis/*/*/defaults.go`), by kind and field.
//! A field counts as a default only where it is new and has the default's value.

mod quantity;
pub(super) mod secret;
mod settle;
mod tables;

use serde_json::Value;

use crate::diff::{At, Difference, Step, What};
use crate::resource::{Identity, scalar_text};
pub use secret::withhold;
pub use settle::settled;
use tables::{DEFAULTS, DROPPED, FILLED, FOLLOWS, HOST_PORT, OWNED, QUANTITIES};

/// Whether a server made a difference, and nobody who applies manifests. `document` is what the server has.
fn is_servers(identity: &Identity, difference: &Difference, document: &Value) -> bool {
    if difference.within.is_some() {
        return false;
    }
    let steps = difference.path.steps();
    let place: Vec<&str> = steps.iter().map(|step| field(step)).collect();
    if OWNED.iter().any(|owned| starts_with(&place, owned)) {
        return true;
    }
    let kind = identity.kind.as_str();
    match &difference.what {
        What::Added(value) => {
            let filled = !place.is_empty() && is_filled(kind, &mut place.clone(), value);
            filled
                || is_as_beside(kind, &place, difference, value, document)
                || is_as_limited(kind, &place, difference, value, document)
        }
        What::Removed(value) => is_nothing(kind, &place, value),
        What::Replaced { before, after } => is_respelled(kind, &place, before, after),
        What::Moved { .. } => false,
    }
}

/// Whether a value says nothing, so that a server does not keep it.
fn is_nothing(kind: &str, place: &[&str], value: &Value) -> bool {
    value.is_null() || is_listed(kind, place, DROPPED, value)
}

/// Whether a table has the value at the place.
fn is_listed(kind: &str, place: &[&str], table: &[(&str, &str, &str)], value: &Value) -> bool {
    let views = views(kind, place);
    table.iter().any(|(of, path, text)| {
        views.iter().any(|(kind, place)| fits(of, kind) && is_at(place, path))
            && serde_json::from_str::<Value>(text).is_ok_and(|listed| listed == *value)
    })
}

/// Whether a new value is that of a field beside it, which a server copies.
fn is_as_beside(kind: &str, place: &[&str], difference: &Difference, value: &Value, document: &Value) -> bool {
    let Some(at) = difference.path.after() else { return false };
    let above = |levels: usize| value_at(document, at.get(..at.len().checked_sub(levels)?)?);
    let is_in_host_network = || {
        let pod = above(HOST_PORT.split('/').count());
        pod.is_some_and(|pod| pod.get("hostNetwork") == Some(&Value::Bool(true)))
    };
    views(kind, place).iter().any(|(kind, place)| {
        let rule = FOLLOWS.iter().find(|(of, path, _)| fits(of, kind) && is_at(place, path));
        rule.is_some_and(|(_, path, field)| {
            above(1).and_then(|beside| beside.get(field)) == Some(value) && (*path != HOST_PORT || is_in_host_network())
        })
    })
}

/// Whether what a container asks for is what it is limited to: of a Pod, and of no template, a server fills that in.
fn is_as_limited(kind: &str, place: &[&str], difference: &Difference, value: &Value, document: &Value) -> bool {
    let below = match place {
        ["spec", "containers", "*", "resources", below @ ..] if kind == "Pod" => below.len(),
        _ => return false,
    };
    let Some(at) = difference.path.after() else { return false };
    let limits =
        at.len().checked_sub(below).and_then(|to| value_at(document, at.get(..to)?)).and_then(|r| r.get("limits"));
    let is_limit = |(name, amount): (&String, &Value)| limits.and_then(|limits| limits.get(name)) == Some(amount);
    match (at.last(), value, below) {
        (_, Value::Object(requests), 1) => place.last() == Some(&"requests") && requests.iter().all(is_limit),
        (Some(At::Key(name)), _, 2) => {
            place.iter().rev().nth(1) == Some(&"requests") && is_limit((&(*name).to_owned(), value))
        }
        _ => false,
    }
}

/// Whether both values are one amount.
fn is_respelled(kind: &str, place: &[&str], before: &Value, after: &Value) -> bool {
    let (Some(before), Some(after)) = (scalar_text(before), scalar_text(after)) else { return false };
    let is_amount = |place: &[&str], path: &str| match (path.strip_suffix("/*"), place.split_last()) {
        (Some(path), Some((_, place))) => is_at(place, path),
        _ => is_at(place, path),
    };
    let mut amounts = QUANTITIES.iter();
    let views = views(kind, place);
    amounts.any(|(of, path)| views.iter().any(|(kind, place)| fits(of, kind) && is_amount(place, path)))
        && quantity::are_equal(&before, &after)
}

fn value_at<'v>(value: &'v Value, path: &[At<'_>]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, at| match at {
        At::Key(key) => value.get(key),
        At::Index(index) => value.get(index),
    })
}

/// Whether a new value holds nothing but what a server fills in.
fn is_filled<'v>(kind: &str, place: &mut Vec<&'v str>, value: &'v Value) -> bool {
    if OWNED.iter().any(|owned| starts_with(place, owned)) {
        return true;
    }
    let views = views(kind, place);
    let filled = FILLED.iter().any(|(of, path)| views.iter().any(|(kind, place)| fits(of, kind) && is_at(place, path)));
    if filled || is_listed(kind, place, DEFAULTS, value) {
        return true;
    }
    let mut is_filled_in = |name: &'v str, value: &'v Value| {
        place.push(name);
        let filled = is_filled(kind, place, value);
        place.pop();
        filled
    };
    match value {
        Value::Object(map) if !map.is_empty() => map.iter().all(|(key, value)| is_filled_in(field_name(key), value)),
        Value::Array(items) if !items.is_empty() => items.iter().all(|item| is_filled_in("*", item)),
        _ => false,
    }
}

fn fits(wanted: &str, kind: &str) -> bool {
    wanted == kind || (wanted == "*" && kind != "pod")
}

/// A place as it is seen from the top of the document, and from that of a pod's spec where it lies in one.
fn views<'p>(kind: &str, place: &'p [&'p str]) -> Vec<(String, &'p [&'p str])> {
    let family = if kind.ends_with("WebhookConfiguration") { "webhook" } else { kind };
    let mut views = vec![(family.to_owned(), place)];
    let pod: &[&str] = match kind {
        "Pod" => &["spec"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &["spec", "template", "spec"],
    };
    if let Some(below) = place.strip_prefix(pod) {
        views.push(("pod".to_owned(), below));
    }
    views
}

fn field(step: &Step) -> &str {
    match step {
        Step::Key(key) => field_name(key),
        Step::Item(_) => "*",
    }
}

/// The kinds of containers, and of probes, have the same defaults.
fn field_name(key: &str) -> &str {
    match key {
        "initContainers" | "ephemeralContainers" => "containers",
        "livenessProbe" | "readinessProbe" | "startupProbe" => "probe",
        _ => key,
    }
}

fn starts_with(place: &[&str], path: &str) -> bool {
    let count = path.split('/').count();
    place.get(..count).is_some_and(|place| is_at(place, path))
}

/// Whether a place is that of a path. The key of an annotation may have a `/` in it.
fn is_at(place: &[&str], path: &str) -> bool {
    place.iter().map(|part| part.len() + 1).sum::<usize>() == path.len() + 1 && place.join("/") == path
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diff::diff_values;

    /// What is left of the differences between two values of a kind.
    fn left(kind: &str, before: &Value, after: &Value) -> Vec<String> {
        let identity = Identity::new("v1", kind, "", "n");
        let settled = settled(&identity, before, after);
        diff_values(before, &settled, &|_| None).iter().map(|d| d.path.to_string()).collect()
    }

    #[test]
    fn what_a_server_writes_is_left_out() {
        let before = json!({"metadata": {"creationTimestamp": null}, "status": {"a": 1}});
        let after = json!({
            "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", "uid": "u", "managedFields": [{}],
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
            "status": {"a": 2, "b": 3},
        });
        assert_eq!(left("ConfigMap", &before, &after), Vec::<String>::new());
        let mut mine = after.clone();
        mine["metadata"]["annotations"]["mine"] = json!("x");
        assert_eq!(left("ConfigMap", &before, &mine), ["/metadata/annotations"]);
    }

    #[test]
    fn a_restart_and_an_injected_authority_are_left_out_where_the_base_has_none() {
        let template = |annotations: &Value| json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        let restarted = json!({"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"});
        let bare = json!({"spec": {"template": {"metadata": {}}}});
        assert_eq!(left("Deployment", &bare, &template(&restarted)), Vec::<String>::new());
        assert_eq!(left("DaemonSet", &template(&json!({})), &template(&restarted)), Vec::<String>::new());
        let hook = |config: Value| json!({"webhooks": [{"name": "a", "clientConfig": config}]});
        let (before, after) = (hook(json!({"service": {}})), hook(json!({"service": {}, "caBundle": "Zm9v"})));
        assert_eq!(left("ValidatingWebhookConfiguration", &before, &after), Vec::<String>::new());
        assert_eq!(left("MutatingWebhookConfiguration", &before, &after), Vec::<String>::new());
        let other = hook(json!({"service": {}, "caBundle": "YmFy"}));
        assert_eq!(left("ValidatingWebhookConfiguration", &after, &other).len(), 1);
    }

    #[test]
    fn a_default_is_left_out_only_with_its_value() {
        let pod = |container: Value| json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        let before = pod(json!({"name": "a", "livenessProbe": {"exec": {}}}));
        let with = |policy: &str, period: u32| {
            pod(json!({"name": "a", "terminationMessagePolicy": policy, "resources": {},
                "livenessProbe": {"exec": {}, "periodSeconds": period}}))
        };
        assert_eq!(left("DaemonSet", &before, &with("File", 10)), Vec::<String>::new());
        let path = "/spec/template/spec/containers/[name=a]";
        assert_eq!(
            left("DaemonSet", &before, &with("FallbackToLogsOnError", 11)),
            [format!("{path}/livenessProbe/periodSeconds"), format!("{path}/terminationMessagePolicy")]
        );
    }

    #[test]
    fn a_mapping_of_defaults_is_one_and_a_changed_value_is_none() {
        let before = json!({"spec": {"revisionHistoryLimit": 3}});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
        let after = json!({"spec": {"revisionHistoryLimit": 10, "updateStrategy": strategy}});
        assert_eq!(left("DaemonSet", &before, &after), ["/spec/revisionHistoryLimit"]);
    }

    fn pod(spec: &Value) -> Value {
        json!({"spec": {"template": {"spec": spec}}})
    }

    #[test]
    fn a_port_of_the_host_is_a_default_in_the_hosts_network_alone() {
        let with = |network: bool, port: &Value| {
            pod(&json!({"hostNetwork": network, "containers": [{"name": "a", "ports": [port]}]}))
        };
        let before = json!({"containerPort": 53, "protocol": "UDP"});
        let bound = |port: u32| json!({"containerPort": 53, "protocol": "UDP", "hostPort": port});
        let path = "/spec/template/spec/containers/[name=a]/ports/[containerPort=53,protocol=UDP]/hostPort";
        assert_eq!(left("DaemonSet", &with(true, &before), &with(true, &bound(53))), Vec::<String>::new());
        assert_eq!(left("DaemonSet", &with(true, &before), &with(true, &bound(54))), [path]);
        assert_eq!(left("DaemonSet", &with(false, &before), &with(false, &bound(53))), [path]);
    }

    #[test]
    fn fields_that_follow_another_are_left_out_where_they_do() {
        let before = pod(&json!({"serviceAccountName": "a"}));
        let with = |old: &str| pod(&json!({"serviceAccountName": "a", "serviceAccount": old}));
        assert_eq!(left("Deployment", &before, &with("a")), Vec::<String>::new());
        assert_eq!(left("Deployment", &before, &with("b")), ["/spec/template/spec/serviceAccount"]);
        let before = pod(&json!({"serviceAccount": "a"}));
        let job = |value: &Value| json!({"spec": {"jobTemplate": value}});
        assert_eq!(left("CronJob", &job(&before), &job(&with("a"))), Vec::<String>::new());
        let port = |target: Option<u32>| match target {
            Some(target) => json!({"spec": {"ports": [{"port": 80, "targetPort": target}]}}),
            None => json!({"spec": {"ports": [{"port": 80}]}}),
        };
        assert_eq!(left("Service", &port(None), &port(Some(80))), Vec::<String>::new());
        assert_eq!(left("Service", &port(None), &port(Some(8080))), ["/spec/ports/0/targetPort"]);
    }

    #[test]
    fn an_amount_in_the_servers_spelling_is_the_same_amount() {
        let with = |cpu: Value, memory: &str| {
            pod(&json!({"containers": [{"name": "a",
            "resources": {"limits": {"cpu": cpu, "memory": memory}}}]}))
        };
        let path = "/spec/template/spec/containers/[name=a]/resources/limits/memory";
        let before = with(json!(1), "1024Mi");
        assert_eq!(left("Deployment", &before, &with(json!("1"), "1Gi")), Vec::<String>::new());
        assert_eq!(left("Deployment", &before, &with(json!("1000m"), "1G")), [path]);
        let label = |text: &str| json!({"metadata": {"labels": {"size": text}}});
        assert_eq!(left("Deployment", &label("1024Mi"), &label("1Gi")), ["/metadata/labels/size"]);
    }

    #[test]
    fn what_says_nothing_may_go() {
        let before = pod(
            &json!({"hostNetwork": false, "x": null, "containers": [{"name": "a", "env": [{"name": "E", "value": ""}],
            "securityContext": {"privileged": false}}]}),
        );
        let after = pod(&json!({"containers": [{"name": "a", "env": [{"name": "E"}], "securityContext": {}}]}));
        let kept = "/spec/template/spec/containers/[name=a]/securityContext/privileged";
        assert_eq!(
            left("Deployment", &before, &after),
            [kept],
            "a pointer is kept: without it, something was taken away"
        );
        let other = pod(&json!({"hostNetwork": true}));
        assert_eq!(left("Deployment", &other, &pod(&json!({}))), ["/spec/template/spec/hostNetwork"]);
    }

    #[test]
    fn a_list_of_defaults_is_one() {
        let wait =
            |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
        let both = json!([wait("node.kubernetes.io/not-ready"), wait("node.kubernetes.io/unreachable")]);
        let spec = |tolerations: &Value| json!({"spec": {"tolerations": tolerations, "nodeName": "n"}});
        assert_eq!(left("Pod", &json!({"spec": {}}), &spec(&both)), Vec::<String>::new());
        assert_eq!(left("Pod", &json!({"spec": {}}), &spec(&json!([wait("mine")]))), ["/spec/tolerations"]);
        let template = pod(&json!({"tolerations": both}));
        assert_eq!(
            left("Deployment", &pod(&json!({})), &template),
            ["/spec/template/spec/tolerations"],
            "no template gets them"
        );
    }

    #[test]
    fn defaults_in_items_without_a_key_are_left_out() {
        let policy = |ports: Value| json!({"spec": {"ingress": [{"ports": ports}]}});
        let before = policy(json!([{"port": 80}, {"port": 443}, {"port": 53, "protocol": "UDP"}]));
        let tcp = |port: u32| json!({"port": port, "protocol": "TCP"});
        let udp = json!({"port": 53, "protocol": "UDP"});
        assert_eq!(left("NetworkPolicy", &before, &policy(json!([tcp(80), tcp(443), udp]))), Vec::<String>::new());
        assert!(!left("NetworkPolicy", &before, &policy(json!([tcp(80), tcp(444), udp]))).is_empty());
        let token = |token: Value| {
            pod(&json!({"volumes": [{"name": "t", "projected":
            {"sources": [{"serviceAccountToken": token}, {"configMap": {"name": "c"}}]}}]}))
        };
        let before = token(json!({"path": "t"}));
        assert_eq!(
            left("Deployment", &before, &token(json!({"path": "t", "expirationSeconds": 3600}))),
            Vec::<String>::new()
        );
        assert!(!left("Deployment", &before, &token(json!({"path": "t", "expirationSeconds": 60}))).is_empty());
    }

    #[test]
    fn what_is_new_beside_defaults_is_left_alone() {
        let before = json!({"metadata": {}});
        let after = json!({"metadata": {"annotations": {"mine": "x",
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}}});
        let settled = settled(&Identity::new("v1", "ConfigMap", "", "n"), &before, &after);
        assert_eq!(settled, json!({"metadata": {"annotations": {"mine": "x"}}}));
    }

    #[test]
    fn a_secret_is_held_against_what_was_written() {
        let before = json!({"stringData": {"user": "me", "old": "x"}, "data": {"key": "YQ=="}});
        let live = |user: &str| json!({"type": "Opaque", "data": {"user": user, "old": "eA==", "key": "YQ=="}});
        assert_eq!(left("Secret", &before, &live("bWU=")), Vec::<String>::new());
        assert_eq!(left("Secret", &before, &live("eW91")), ["/stringData/user"]);
        let only = json!({"stringData": {"user": "me"}});
        assert_eq!(left("Secret", &only, &json!({"data": {"user": "bWU="}})), Vec::<String>::new());
        assert_eq!(left("ConfigMap", &only, &json!({"data": {"user": "bWU="}})).len(), 2);
    }

    #[test]
    fn a_pod_asks_for_what_it_is_limited_to_and_a_template_does_not() {
        let with = |resources: Value| json!({"containers": [{"name": "a", "resources": resources}]});
        let limits = json!({"cpu": "1", "memory": "1Gi"});
        let (before, after) = (with(json!({"limits": limits})), with(json!({"limits": limits, "requests": limits})));
        let top = |spec: &Value| json!({"spec": spec});
        assert_eq!(left("Pod", &top(&before), &top(&after)), Vec::<String>::new());
        assert_eq!(left("Deployment", &pod(&before), &pod(&after)).len(), 1);
        let part = with(json!({"limits": limits, "requests": {"cpu": "1"}}));
        assert_eq!(left("Pod", &top(&part), &top(&after)), Vec::<String>::new());
        let more = with(json!({"limits": limits, "requests": {"cpu": "2", "memory": "1Gi"}}));
        assert_eq!(left("Pod", &top(&before), &top(&more)).len(), 1);
    }

    #[test]
    fn defaults_of_rarer_kinds_are_left_out() {
        let down = json!({"spec": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}}}});
        let rules = |kind: &str, value: u32| json!({"type": kind, "value": value, "periodSeconds": 15});
        let both = json!({"spec": {"minReplicas": 1, "behavior": {
            "scaleDown": {"stabilizationWindowSeconds": 60, "selectPolicy": "Max", "policies": [rules("Percent", 100)]},
            "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max",
                "policies": [rules("Pods", 4), rules("Percent", 100)]}}}});
        assert_eq!(left("HorizontalPodAutoscaler", &down, &both), Vec::<String>::new());
        let path = |path: &Value| json!({"spec": {"hostPath": path}});
        let (before, after) = (path(&json!({"path": "/d"})), path(&json!({"path": "/d", "type": ""})));
        assert_eq!(left("PersistentVolume", &before, &after), Vec::<String>::new());
        let claim = |storage: &str, more: Value| {
            let mut claim = json!({"spec": {"resources": {"requests": {"storage": storage}}}});
            claim["spec"]["volumeMode"] = more.clone();
            claim["metadata"] = json!({"creationTimestamp": null});
            if more.is_null() {
                claim = json!({"spec": {"resources": {"requests": {"storage": storage}}}});
            }
            pod(&json!({"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": claim}}]}))
        };
        let (before, after) = (claim("1024Mi", Value::Null), claim("1Gi", json!("Filesystem")));
        assert_eq!(left("Deployment", &before, &after), Vec::<String>::new());
        let balanced = json!({"metadata": {"finalizers": ["service.kubernetes.io/load-balancer-cleanup"]}});
        assert_eq!(left("Service", &json!({"metadata": {}}), &balanced), Vec::<String>::new());
    }
}
