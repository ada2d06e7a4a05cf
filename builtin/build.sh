#!/bin/sh
# Builds the modules of the plugins in this folder, or with --check compares them
# with what their sources build to. See sdk/rust/build-plugin.sh.
#
# The same compiler gives the same bytes wherever it runs; another one does not.
# compiler.txt says which one made the modules, and with another one --check only
# makes sure that the sources build.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
build=$here/../sdk/rust/build-plugin.sh
compiler=$("$build" --compiler)
mode=${1-}
set -- "$here/docs" "$here/files" "$here/notebook" "$here/search" "$here/session" "$here/shell" "$here/tasks" "$here/tools"

if [ "$mode" != --check ]; then
    "$build" "$@"
    printf '%s\n' "$compiler" >"$here/compiler.txt"
elif [ "$compiler" = "$(cat "$here/compiler.txt")" ]; then
    "$build" --check "$@"
else
    printf 'the modules were made by %s; with %s they are built but not compared\n' \
        "$(cat "$here/compiler.txt")" "$compiler" >&2
    "$build" --try "$@"
fi
