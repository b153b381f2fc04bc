#!/usr/bin/env bash
# Time `overlay build --all --split` over many overlays on one base, and count how often it opens the base's files.
#
#   scripts/bench-all.sh [COUNT...]      how many overlays; without it 250 500 1000 2000
#
# Each overlay stands on a copy of base/multus and has one patch with a value of its own. Needs GNU time, strace and
# a release binary (`make build`; OVERLAY names another). Everything is laid out in a temporary folder: TMPDIR says on which
# file system. Prints a Markdown table: the best of RUNS runs (5) into an empty folder, the processor time of that run, the
# greatest resident size, the time of a run that finds everything as it should be, and how often base.yaml, base.lock and
# the manifest are opened.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
overlay=$(realpath "${OVERLAY:-$root/target/release/overlay}")
for program in time strace "$overlay"; do
    type -P "$program" >/dev/null || { echo "bench: $program is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lay_out COUNT: a root with that many overlays.
lay_out() {
    local number folder
    mkdir -p "$work/$1/.git"
    cp -r "$root/base" "$work/$1/base"
    for ((number = 1; number <= $1; number++)); do
        folder=$work/$1/overlays/node-$number
        mkdir -p "$folder"
        printf '%s\n' 'apiVersion: overlay/v1' 'kind: Overlay' "name: node-$number" 'bases: [../../base/multus]' \
            'patches: [node.yaml]' >"$folder/overlay.yaml"
        printf '%s\n' 'apiVersion: overlay/v1' 'kind: Patch' 'name: node' 'summary: Run on one node' \
            'why: To have something to measure.' 'changes:' '  - target: {kind: DaemonSet, name: kube-multus-ds}' \
            '    patch:' "      - {op: add, path: /spec/template/spec/nodeSelector, value: {kubernetes.io/hostname: node-$number}}" \
            >"$folder/node.yaml"
    done
}

# measure fresh|kept: `wall processor size` of the fastest of RUNS runs, in milliseconds and MB; fresh empties the target before each.
measure() {
    for ((run = 1; run <= ${RUNS:-5}; run++)); do
        [ "$1" = kept ] || rm -rf "$work/out"
        command time -q -a -o "$work/time-$1" -f '%e %U %S %M' "$overlay" build --all --split "$work/out" 2>"$work/said" ||
            { cat "$work/said" >&2; exit 1; }
    done
    sort -n "$work/time-$1" | awk 'NR == 1 {printf "%.0f %.0f %.1f", $1 * 1000, ($2 + $3) * 1000, $4 / 1024}'
    rm "$work/time-$1"
}

# opened FILE: how often a file of that name was opened in the run that was traced.
opened() {
    grep -c "openat2\?([0-9A-Z_]*, \"\([^\"]*/\)\?$1\"" "$work/trace"
}

"$overlay" --version
echo "$(nproc) processors: $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo); load $(cut -d' ' -f1 /proc/loadavg); $(stat -f -c %T "$work")"
echo
echo '| overlays | files | ms | processor, ms | MB | nothing to write, ms | base.yaml, base.lock, manifest opened |'
echo '|--:|--:|--:|--:|--:|--:|---|'
[ $# -gt 0 ] || set -- 250 500 1000 2000
for count; do
    lay_out "$count"
    cd "$work/$count"
    read -r wall processor size <<<"$(measure fresh)"
    read -r again _ <<<"$(measure kept)"
    rm -rf "$work/out"
    strace -f -qq -e trace=openat,openat2 -o "$work/trace" "$overlay" build --all --split "$work/out" 2>/dev/null
    files=$(wc -l <"$work/out/.overlay.sha256")
    echo "| $count | $files | $wall | $processor | $size | $again | $(opened base.yaml), $(opened base.lock), $(opened multus-daemonset-thick.yml) |"
    cd "$work" && rm -rf "${work:?}/$count" "$work/out"
done
