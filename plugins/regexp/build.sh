#!/bin/sh
# Builds the guest of this package, or with --check compares it with what its source
# builds to; see builtin/build.sh, which says when they are compared.
#
# The guest is built for speed: with vector instructions, and a stack for
# expressions that nest.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
build=$here/../../sdk/rust/build-plugin.sh
compiler=$("$build" --compiler)
MODULE_FLAGS='-Ctarget-feature=+simd128
-Clink-arg=-zstack-size=1048576'
export MODULE_FLAGS

if [ "${1-}" != --check ]; then
    "$build" "$here/guest"
    printf '%s\n' "$compiler" >"$here/guest/compiler.txt"
elif [ "$compiler" = "$(cat "$here/guest/compiler.txt")" ]; then
    "$build" --check "$here/guest"
else
    printf 'the module was made by %s; with %s it is built but not compared\n' \
        "$(cat "$here/guest/compiler.txt")" "$compiler" >&2
    "$build" --try "$here/guest"
fi
