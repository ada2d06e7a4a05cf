#!/bin/sh
# Builds the guests in this folder, or with --check compares them with what their
# sources build to. As builtin/build.sh, which says more.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
build=$here/../../../../../sdk/rust/build-plugin.sh
compiler=$("$build" --compiler)

for guest in lines regex replace scale serde tool; do set -- "$@" "$here/$guest"; done
if [ "${1-}" != --check ]; then
    "$build" "$@"
    printf '%s\n' "$compiler" >"$here/compiler.txt"
elif [ "$compiler" = "$(cat "$here/compiler.txt")" ]; then
    "$build" "$@"
else
    shift
    printf 'the guests were made by %s; with %s they are built but not compared\n' \
        "$(cat "$here/compiler.txt")" "$compiler" >&2
    "$build" --try "$@"
fi
