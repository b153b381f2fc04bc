#!/usr/bin/env bash
# Time `overlay` and `kubectl kustomize` on the same inputs with the same changes, side by side in one run.
#
#   scripts/bench.sh [FOLDER]
#
# FOLDER, a temporary one by default, is where the inputs are laid out; one that is named is kept. Needs hyperfine and
# kubectl on PATH, and a release binary (`make build`; OVERLAY names another). KUBECTLS names other kubectls, several
# with spaces between, to be timed side by side. The rows about Argo CD need its install.yaml, which is not part of
# this project: OVERLAY_SHARED names the folder whose corpus/ has it. Prints a Markdown table. Times are of whole
# processes: the mean of several runs and the standard deviation, in milliseconds; memory is the greatest resident size
# of one run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
overlay=$(realpath "${OVERLAY:-$root/target/release/overlay}")
shared=${OVERLAY_SHARED:-}
read -ra kubectls <<<"${KUBECTLS:-kubectl}"

for program in hyperfine "${kubectls[@]}" "$overlay"; do
    command -v "$program" >/dev/null || { echo "bench: $program is missing" >&2; exit 2; }
done

if [ $# -gt 0 ]; then
    mkdir -p "$1"
    work=$(realpath "$1")
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work/.git"

# --- inputs

# base NAME FILE: a base of that manifest, locked.
base() {
    mkdir -p "$work/base/$1" "$work/upstream"
    [ "$2" -ef "$work/upstream/$1.yaml" ] || cp "$2" "$work/upstream/$1.yaml"
    printf 'apiVersion: overlay/v1\nkind: Base\nname: %s\nsource:\n  file: ../../upstream/%s.yaml\n' "$1" "$1" >"$work/base/$1/base.yaml"
    (cd "$work" && "$overlay" vendor "base/$1" >/dev/null 2>&1)
}

# one_patch FOLDER BASE TARGET PATH VALUE: an overlay and a kustomization that replace one value.
one_patch() {
    local folder=$work/overlays/$1
    mkdir -p "$folder/patches" "$work/kustomize/$1"
    printf 'apiVersion: overlay/v1\nkind: Overlay\nname: %s\nbases:\n  - ../../base/%s\npatches:\n  - patches/change.yaml\n' \
        "$1" "$2" >"$folder/overlay.yaml"
    printf '%s\n' 'apiVersion: overlay/v1' 'kind: Patch' 'name: change' 'summary: Change one value' \
        'why: To have something to measure.' 'evidence: [https://example.org/]' 'changes:' "  - target: $3" '    patch:' \
        '      - op: replace' "        path: $4" "        value: $5" >"$folder/patches/change.yaml"
    cp "$work/upstream/$2.yaml" "$work/kustomize/$1/manifest.yaml"
    printf '%s\n' 'resources: [manifest.yaml]' 'patches:' "  - target: $3" '    patch: |' '      - op: replace' \
        "        path: $(sed 's/\[name=[^]]*\]/0/' <<<"$4")" "        value: $5" >"$work/kustomize/$1/kustomization.yaml"
}

# config_maps COUNT: that many small ConfigMaps.
config_maps() {
    awk -v count="$1" 'BEGIN {
        for (i = 0; i < count; i++)
            printf "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-%05d\n  namespace: lab\ndata:\n  key: \"value %d\"\n  other: text\n", i, i
    }'
}

# The seven patches of overlays/nik-debian as kustomize takes them; JSON inside a ConfigMap is replaced whole there.
nik_debian() {
    local folder=$work/kustomize/nik-debian container=/spec/template/spec
    mkdir -p "$folder"
    cp "$root/base/multus/multus-daemonset-thick.yml" "$folder/manifest.yaml"
    cat >"$folder/kustomization.yaml" <<KUSTOMIZATION
resources: [manifest.yaml]
commonAnnotations: {argocd.argoproj.io/sync-wave: "-2"}
patches:
  - target: {kind: DaemonSet, name: kube-multus-ds}
    patch: |
      - {op: replace, path: $container/volumes/0/hostPath/path, value: /var/lib/rancher/k3s/agent/etc/cni/net.d}
      - {op: replace, path: $container/volumes/1/hostPath/path, value: /var/lib/rancher/k3s/data/cni}
      - {op: add, path: $container/volumes/-, value: {name: k3s-cni-data, hostPath: {path: /var/lib/rancher/k3s/data}}}
      - {op: replace, path: $container/initContainers/0/command/2, value: /host/var/lib/rancher/k3s/data/cni}
      - {op: add, path: $container/nodeSelector, value: {kubernetes.io/hostname: nik-debian}}
      - {op: replace, path: $container/containers/0/image, value: "ghcr.io/k8snetworkplumbingwg/multus-cni@sha256:2b9671447f3ea4e7e56730843dbf59445b9307246f393b61386b896d56ae51c9"}
  - target: {kind: ConfigMap, name: multus-daemon-config}
    patch: |
      - {op: replace, path: /data/daemon-config.json, value: "{}"}
KUSTOMIZATION
}

# --- measuring

# mean COMMAND...: `mean deviation` in milliseconds.
mean() {
    hyperfine --shell=none --warmup "${warmup:-3}" --min-runs "${runs:-20}" --export-csv "$work/time.csv" "$*" >/dev/null 2>"$work/hyperfine.log" ||
        { cat "$work/hyperfine.log" >&2; exit 1; }
    awk -F, 'NR == 2 { printf "%.2f %.2f", $2 * 1000, $3 * 1000 }' "$work/time.csv"
}

# memory COMMAND...: the greatest resident size in MB.
memory() {
    command -v python3 >/dev/null || { echo "?"; return; }
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print("%.1f" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))' "$@"
}

# row WORK OURS [KUSTOMIZATION]: one line of the table. The command is words split at spaces.
row() {
    local ours theirs kubectl line
    ours=$(mean $2)
    line="| $1 | ${ours/ / ± } | $(memory $2) |"
    for kubectl in "${kubectls[@]}"; do
        if [ -z "${3:-}" ]; then
            line+="  |  |  |"
            continue
        fi
        theirs=$(warmup=1 runs=${their_runs:-3} mean "$kubectl" kustomize "$3")
        line+=" ${theirs/ / ± } | $(memory "$kubectl" kustomize "$3") |"
        line+=" $(awk -v a="${theirs% *}" -v b="${ours% *}" 'BEGIN { printf "%.0f", a / b }') |"
    done
    echo "$line"
}

# kustomize KUBECTL: the version of kustomize that it has.
kustomize() {
    "$1" version --client 2>/dev/null | awk '/Kustomize/ {print $NF}'
}

cd "$work"
echo "$("$overlay" --version); $(hyperfine --version)"
echo "$(nproc) processors: $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo); load $(cut -d' ' -f1 /proc/loadavg)"
echo
head='| work | overlay, ms | MB |' rule='|---|--:|--:|'
for kubectl in "${kubectls[@]}"; do
    head+=" kustomize $(kustomize "$kubectl"), ms | MB | times faster |"
    rule+='--:|--:|--:|'
done
printf '%s\n' "$head" "$rule"

row "start a process that does nothing (\`true\`)" true
row "\`overlay --version\`" "$overlay --version"

nik_debian
their_runs=10 row "build nik-debian, seven patches" "$overlay build $root/overlays/nik-debian" kustomize/nik-debian
row "verify nik-debian" "$overlay verify $root/overlays/nik-debian"

if [ -n "$shared" ]; then
    base argo-cd "$shared/corpus/argo-cd-install.yaml"
    one_patch argo-cd argo-cd '{kind: Deployment, name: argocd-server}' '/spec/template/spec/containers/[name=argocd-server]/imagePullPolicy' IfNotPresent
    row "\`sha256sum\` of Argo CD's install.yaml" "sha256sum upstream/argo-cd.yaml"
    row "build Argo CD's install.yaml, one patch" "$overlay build overlays/argo-cd" kustomize/argo-cd
    row "verify it" "$overlay verify overlays/argo-cd"
else
    echo "bench: OVERLAY_SHARED is not set: the rows about Argo CD are left out" >&2
fi

for count in 500 1000 2000 4000 8000; do
    mkdir -p upstream
    config_maps "$count" >"upstream/maps-$count.yaml"
    base "maps-$count" "upstream/maps-$count.yaml"
    one_patch "maps-$count" "maps-$count" '{kind: ConfigMap, name: config-00100}' /data/other changed
    theirs=""
    [ "$count" -gt 2000 ] || theirs=kustomize/maps-$count
    row "build $count ConfigMaps, one patch" "$overlay build overlays/maps-$count" "$theirs"
done
