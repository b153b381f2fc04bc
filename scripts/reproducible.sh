#!/usr/bin/env bash
# Build the release twice from the same commit, in folders of different names that share nothing that is built, and compare.
#
# What is committed is built, not what lies about. The places of the sources and of the packages are named alike in both,
# so that no folder's name enters the program. The compiler is the one that rust-toolchain.toml names; another makes other bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=${CARGO_HOME:-$HOME/.cargo}
# Once, as someone may commit while the first is built.
commit=$(git rev-parse HEAD)

# build NAME FOLDER: the release of what is committed, built below FOLDER, to NAME.
build() {
    local sources=$work/$2/sources target=$work/$2/target
    mkdir -p "$sources"
    git archive "$commit" | tar -x -C "$sources"
    (
        cd "$sources"
        export RUSTFLAGS="--remap-path-prefix=$sources=/overlay --remap-path-prefix=$packages=/cargo"
        CARGO_TARGET_DIR=$target cargo build --release --locked --quiet
    )
    cp "$target/release/overlay" "$work/$1"
}

build first here
build second in/a/folder/with/a/longer/name
sha256sum "$work/first" "$work/second" | sed "s|$work/||"
if ! cmp "$work/first" "$work/second"; then
    echo "reproducible: two builds of ${commit:0:12} differ" >&2
    exit 1
fi
for folder in "$work" "$packages"; do
    if grep -qaF "$folder" "$work/first"; then
        echo "reproducible: the program names the folder $folder" >&2
        exit 1
    fi
done
echo "reproducible: two builds of ${commit:0:12} are the same $(stat -c %s "$work/first") bytes"
