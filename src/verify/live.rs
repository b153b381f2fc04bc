//! What a server writes into an object beside what was applied: its own fields, and defaults.
//!
//! The defaults are those of the Kubernetes API types (`SetDefaults_…` in `pkg/apis/*/*/defaults.go`), by kind and field.
//! A field counts as a default only where it is new and has the default's value.

use serde_json::Value;

use crate::diff::{Difference, Step, What};
use crate::resource::Identity;

/// Fields that belong to the server whatever they say: they are left out even where the base has them.
const OWNED: &[&str] = &[
    "status",
    "metadata/managedFields",
    "metadata/uid",
    "metadata/resourceVersion",
    "metadata/creationTimestamp",
    "metadata/generation",
    "metadata/selfLink",
];

/// Fields that a server or its controllers fill in where they are not set, with values of their own.
const FILLED: &[(&str, &str)] = &[
    ("*", "metadata/annotations/kubectl.kubernetes.io/last-applied-configuration"),
    ("Deployment", "metadata/annotations/deployment.kubernetes.io/revision"),
    ("DaemonSet", "metadata/annotations/deprecated.daemonset.template.generation"),
    ("Namespace", "metadata/labels/kubernetes.io/metadata.name"),
    ("Namespace", "spec/finalizers"),
    ("Service", "spec/clusterIP"),
    ("Service", "spec/clusterIPs"),
    ("Service", "spec/ipFamilies"),
    ("Service", "spec/healthCheckNodePort"),
    ("Service", "spec/ports/*/nodePort"),
    ("Service", "spec/ports/*/targetPort"),
    ("PersistentVolumeClaim", "spec/volumeName"),
    ("CustomResourceDefinition", "spec/names/listKind"),
    ("CustomResourceDefinition", "spec/names/singular"),
    ("pod", "serviceAccount"),
    ("pod", "nodeName"),
];

/// Defaults: the kind (`*` for every kind, `pod` for what lies in a pod's spec), the field, and its value as JSON.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("*", "metadata/namespace", r#""default""#),
    ("*", "spec/template/metadata/creationTimestamp", "null"),
    ("pod", "restartPolicy", r#""Always""#),
    ("pod", "dnsPolicy", r#""ClusterFirst""#),
    ("pod", "schedulerName", r#""default-scheduler""#),
    ("pod", "securityContext", "{}"),
    ("pod", "terminationGracePeriodSeconds", "30"),
    ("pod", "enableServiceLinks", "true"),
    ("pod", "serviceAccountName", r#""default""#),
    ("pod", "preemptionPolicy", r#""PreemptLowerPriority""#),
    ("pod", "containers/*/terminationMessagePath", r#""/dev/termination-log""#),
    ("pod", "containers/*/terminationMessagePolicy", r#""File""#),
    ("pod", "containers/*/imagePullPolicy", r#""IfNotPresent""#),
    ("pod", "containers/*/imagePullPolicy", r#""Always""#),
    ("pod", "containers/*/resources", "{}"),
    ("pod", "containers/*/ports/*/protocol", r#""TCP""#),
    ("pod", "containers/*/env/*/valueFrom/fieldRef/apiVersion", r#""v1""#),
    ("pod", "containers/*/probe/timeoutSeconds", "1"),
    ("pod", "containers/*/probe/periodSeconds", "10"),
    ("pod", "containers/*/probe/successThreshold", "1"),
    ("pod", "containers/*/probe/failureThreshold", "3"),
    ("pod", "containers/*/probe/httpGet/scheme", r#""HTTP""#),
    ("pod", "containers/*/probe/httpGet/path", r#""/""#),
    ("pod", "containers/*/probe/grpc/service", r#""""#),
    ("pod", "containers/*/lifecycle/preStop/httpGet/scheme", r#""HTTP""#),
    ("pod", "containers/*/lifecycle/postStart/httpGet/scheme", r#""HTTP""#),
    ("pod", "volumes/*/hostPath/type", r#""""#),
    ("pod", "volumes/*/emptyDir", "{}"),
    ("pod", "volumes/*/configMap/defaultMode", "420"),
    ("pod", "volumes/*/secret/defaultMode", "420"),
    ("pod", "volumes/*/projected/defaultMode", "420"),
    ("pod", "volumes/*/downwardAPI/defaultMode", "420"),
    ("pod", "volumes/*/downwardAPI/items/*/fieldRef/apiVersion", r#""v1""#),
    ("pod", "volumes/*/projected/sources/*/serviceAccountToken/expirationSeconds", "3600"),
    ("pod", "volumes/*/projected/sources/*/downwardAPI/items/*/fieldRef/apiVersion", r#""v1""#),
    ("Deployment", "spec/replicas", "1"),
    ("Deployment", "spec/revisionHistoryLimit", "10"),
    ("Deployment", "spec/progressDeadlineSeconds", "600"),
    ("Deployment", "spec/strategy/type", r#""RollingUpdate""#),
    ("Deployment", "spec/strategy/rollingUpdate/maxSurge", r#""25%""#),
    ("Deployment", "spec/strategy/rollingUpdate/maxUnavailable", r#""25%""#),
    ("ReplicaSet", "spec/replicas", "1"),
    ("DaemonSet", "spec/revisionHistoryLimit", "10"),
    ("DaemonSet", "spec/updateStrategy/type", r#""RollingUpdate""#),
    ("DaemonSet", "spec/updateStrategy/rollingUpdate/maxSurge", "0"),
    ("DaemonSet", "spec/updateStrategy/rollingUpdate/maxUnavailable", "1"),
    ("StatefulSet", "spec/replicas", "1"),
    ("StatefulSet", "spec/revisionHistoryLimit", "10"),
    ("StatefulSet", "spec/podManagementPolicy", r#""OrderedReady""#),
    ("StatefulSet", "spec/updateStrategy/type", r#""RollingUpdate""#),
    ("StatefulSet", "spec/updateStrategy/rollingUpdate/partition", "0"),
    ("StatefulSet", "spec/persistentVolumeClaimRetentionPolicy/whenDeleted", r#""Retain""#),
    ("StatefulSet", "spec/persistentVolumeClaimRetentionPolicy/whenScaled", r#""Retain""#),
    ("StatefulSet", "spec/volumeClaimTemplates/*/apiVersion", r#""v1""#),
    ("StatefulSet", "spec/volumeClaimTemplates/*/kind", r#""PersistentVolumeClaim""#),
    ("StatefulSet", "spec/volumeClaimTemplates/*/metadata/creationTimestamp", "null"),
    ("StatefulSet", "spec/volumeClaimTemplates/*/spec/volumeMode", r#""Filesystem""#),
    ("StatefulSet", "spec/volumeClaimTemplates/*/status/phase", r#""Pending""#),
    ("Job", "spec/backoffLimit", "6"),
    ("Job", "spec/completions", "1"),
    ("Job", "spec/parallelism", "1"),
    ("Job", "spec/completionMode", r#""NonIndexed""#),
    ("Job", "spec/manualSelector", "false"),
    ("Job", "spec/podReplacementPolicy", r#""TerminatingOrFailed""#),
    ("Job", "spec/suspend", "false"),
    ("CronJob", "spec/concurrencyPolicy", r#""Allow""#),
    ("CronJob", "spec/failedJobsHistoryLimit", "1"),
    ("CronJob", "spec/jobTemplate/metadata/creationTimestamp", "null"),
    ("CronJob", "spec/jobTemplate/spec/template/metadata/creationTimestamp", "null"),
    ("CronJob", "spec/successfulJobsHistoryLimit", "3"),
    ("CronJob", "spec/suspend", "false"),
    ("Service", "spec/type", r#""ClusterIP""#),
    ("Service", "spec/sessionAffinity", r#""None""#),
    ("Service", "spec/internalTrafficPolicy", r#""Cluster""#),
    ("Service", "spec/externalTrafficPolicy", r#""Cluster""#),
    ("Service", "spec/allocateLoadBalancerNodePorts", "true"),
    ("Service", "spec/ipFamilyPolicy", r#""SingleStack""#),
    ("Service", "spec/ports/*/protocol", r#""TCP""#),
    ("PersistentVolumeClaim", "spec/volumeMode", r#""Filesystem""#),
    ("PersistentVolume", "spec/volumeMode", r#""Filesystem""#),
    ("PersistentVolume", "spec/persistentVolumeReclaimPolicy", r#""Retain""#),
    ("StorageClass", "reclaimPolicy", r#""Delete""#),
    ("StorageClass", "volumeBindingMode", r#""Immediate""#),
    ("Secret", "type", r#""Opaque""#),
    ("NetworkPolicy", "spec/ingress/*/ports/*/protocol", r#""TCP""#),
    ("NetworkPolicy", "spec/egress/*/ports/*/protocol", r#""TCP""#),
    ("PriorityClass", "preemptionPolicy", r#""PreemptLowerPriority""#),
    ("RoleBinding", "roleRef/apiGroup", r#""rbac.authorization.k8s.io""#),
    ("RoleBinding", "subjects/*/apiGroup", r#""rbac.authorization.k8s.io""#),
    ("ClusterRoleBinding", "roleRef/apiGroup", r#""rbac.authorization.k8s.io""#),
    ("ClusterRoleBinding", "subjects/*/apiGroup", r#""rbac.authorization.k8s.io""#),
    ("CustomResourceDefinition", "spec/conversion/strategy", r#""None""#),
    ("webhook", "webhooks/*/failurePolicy", r#""Fail""#),
    ("webhook", "webhooks/*/matchPolicy", r#""Equivalent""#),
    ("webhook", "webhooks/*/reinvocationPolicy", r#""Never""#),
    ("webhook", "webhooks/*/timeoutSeconds", "10"),
    ("webhook", "webhooks/*/namespaceSelector", "{}"),
    ("webhook", "webhooks/*/objectSelector", "{}"),
    ("webhook", "webhooks/*/rules/*/scope", r#""*""#),
    ("webhook", "webhooks/*/clientConfig/service/port", "443"),
];

/// Whether a server made a difference, and nobody who applies manifests.
pub(super) fn is_servers(identity: &Identity, difference: &Difference) -> bool {
    if difference.within.is_some() {
        return false;
    }
    let steps = difference.path.steps();
    let place: Vec<&str> = steps.iter().map(|step| field(step)).collect();
    if OWNED.iter().any(|owned| starts_with(&place, owned)) {
        return true;
    }
    match &difference.what {
        What::Added(value) => !place.is_empty() && is_filled(&identity.kind, &mut place.clone(), value),
        _ => false,
    }
}

/// Whether a new value holds nothing but what a server fills in.
fn is_filled<'v>(kind: &str, place: &mut Vec<&'v str>, value: &'v Value) -> bool {
    if OWNED.iter().any(|owned| starts_with(place, owned)) {
        return true;
    }
    let views = views(kind, place);
    let filled = FILLED.iter().any(|(of, path)| views.iter().any(|(kind, place)| fits(of, kind) && is_at(place, path)));
    let default = DEFAULTS.iter().any(|(of, path, text)| {
        views.iter().any(|(kind, place)| fits(of, kind) && is_at(place, path))
            && serde_json::from_str::<Value>(text).is_ok_and(|default| default == *value)
    });
    if filled || default {
        return true;
    }
    let Value::Object(map) = value else { return false };
    !map.is_empty()
        && map.iter().all(|(key, value)| {
            place.push(field_name(key));
            let filled = is_filled(kind, place, value);
            place.pop();
            filled
        })
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
        let differences = diff_values(before, after, &|_| None);
        differences.iter().filter(|d| !is_servers(&identity, d)).map(|d| d.path.to_string()).collect()
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
}
