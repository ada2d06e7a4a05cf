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

if [ "$mode" != --check ]; then
    how=
elif [ "$compiler" = "$(cat "$here/compiler.txt")" ]; then
    how=--check
else
    how=--try
    printf 'the modules were made by %s; with %s they are built but not compared\n' \
        "$(cat "$here/compiler.txt")" "$compiler" >&2
fi

# Docs takes as long as all others together, most of it on one core, so it is built beside them.
trap wait EXIT
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target}/docs "$build" $how "$here/docs" &
"$build" $how "$here/files" "$here/notebook" "$here/search" "$here/session" "$here/shell" "$here/tasks" "$here/tools"
wait $!
[ -n "$how" ] || printf '%s\n' "$compiler" >"$here/compiler.txt"
