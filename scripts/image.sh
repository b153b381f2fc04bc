#!/usr/bin/env bash
# Build the image of the Argo CD sidecar as an OCI layout, target/image, and hold it against a registry and a bare root.
#
#   scripts/image.sh build     build it with buildah, which needs neither a daemon nor a container runtime
#   scripts/image.sh check     push it to a registry of this run's own, pull it back, unpack it, and let the program in it
#                              render overlays/nik-debian with nothing else around
#
# `check` needs root, for chroot. Peers: buildah, skopeo, docker-registry (scripts/setup-peers.sh installs them).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=target/release/overlay
layout=target/image
limit=$((10 * 1000 * 1000))
scratch=$(mktemp -d)
registry=
trap '[ -z "$registry" ] || kill "$registry"; rm -rf "$scratch"' EXIT

# A C library cannot come along, so that the program brings its own. Which one it has is settled where it is linked: only
# that is done anew, of what the release is made of. The release, if there is one, gets its place back.
link_statically() {
    [ ! -e "$program" ] || cp -p "$program" "$scratch/release"
    cargo rustc --release --locked --bin overlay -- -C target-feature=+crt-static
    mv "$program" "$1"
    [ ! -e "$scratch/release" ] || mv "$scratch/release" "$program"
}

build() {
    mkdir "$scratch/context"
    link_statically "$scratch/context/overlay"
    cp argocd/plugin.yaml "$scratch/context/"
    # In a chroot and with plain folders for layers, buildah runs where there is no user namespace and no overlayfs.
    local buildah=(buildah --storage-driver vfs --root "$scratch/store" --runroot "$scratch/run")
    "${buildah[@]}" build --isolation chroot --timestamp 0 --quiet --file argocd/Containerfile --tag overlay "$scratch/context" >/dev/null
    rm -rf "$layout"
    "${buildah[@]}" push --quiet overlay "oci:$layout:overlay" >/dev/null
    printf '%s: the program has %s bytes, the image %s\n' "$layout" "$(stat -c %s "$scratch/context/overlay")" "$(size)"
}

# The bytes of the layout's blobs: what a node pulls.
size() {
    find "$layout/blobs" -type f -printf '%s\n' | awk '{sum += $1} END {print sum}'
}

# A registry on a port that the system gives out, in the scratch folder.
start_registry() {
    local port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    address=127.0.0.1:$port
    printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n' \
        "$scratch/registry" "$address" >"$scratch/registry.yml"
    docker-registry serve "$scratch/registry.yml" >"$scratch/registry.log" 2>&1 &
    registry=$!
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
        sleep 0.1
    done
    cat "$scratch/registry.log" >&2
    exit 1
}

check() {
    [ "$(size)" -lt $limit ] || { echo "image: $(size) bytes, and $limit is the limit" >&2; exit 1; }
    start_registry
    local policy='{"default": [{"type": "insecureAcceptAnything"}]}' root=$scratch/root layer
    printf '%s' "$policy" >"$scratch/policy.json"
    local skopeo=(skopeo --policy "$scratch/policy.json")
    "${skopeo[@]}" copy --quiet --dest-tls-verify=false "oci:$layout:overlay" "docker://$address/overlay:check"
    "${skopeo[@]}" copy --quiet --src-tls-verify=false "docker://$address/overlay:check" "dir:$scratch/pulled"
    mkdir "$root"
    for layer in $(python3 -c 'import json, sys; print(*[l["digest"].split(":")[1] for l in json.load(open(sys.argv[1]))["layers"]])' \
        "$scratch/pulled/manifest.json"); do
        tar -xzf "$scratch/pulled/$layer" -C "$root"
    done
    local found
    found=$(cd "$root" && find . -type f | sort | tr '\n' ' ')
    [ "$found" = "./home/argocd/cmp-server/config/plugin.yaml ./usr/local/bin/overlay " ] ||
        { echo "image: it holds $found" >&2; exit 1; }
    # As Argo CD lays a checkout out, and as a user that owns nothing.
    local checkout=tmp/_cmp_server/0b1d
    mkdir -p "$root/$checkout"
    cp -r base overlays "$root/$checkout/"
    chmod -R go+rX "$root"
    # Without PATH, `env` would not look where chroot is, in /usr/sbin.
    local chroot
    chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
    run_inside() {
        env -i "$chroot" --userspec=65532:65532 "$root" "$@"
    }
    run_inside /usr/local/bin/overlay build "/$checkout/overlays/nik-debian" >"$scratch/inside.yaml"
    "$root/usr/local/bin/overlay" build overlays/nik-debian >"$scratch/outside.yaml"
    cmp "$scratch/inside.yaml" "$scratch/outside.yaml"
    run_inside /usr/local/bin/overlay verify "/$checkout/overlays/nik-debian" | tail -n 1
    run_inside /usr/local/bin/overlay --version
    echo "image: pushed, pulled back and run with nothing around it; $(size) bytes"
}

case ${1:-} in
build) build ;;
check) check ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
