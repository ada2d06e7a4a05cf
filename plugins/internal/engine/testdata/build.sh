#!/bin/sh
# Assembles the fixtures, into the directory given or beside their sources.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
out=${1:-$here}
for pages in 3 40; do
    sed "s/PAGES/$pages/" "$here/state.wat" >"$out/state_$pages.tmp"
    wat2wasm "$out/state_$pages.tmp" -o "$out/state_$pages.wasm"
    rm "$out/state_$pages.tmp"
done
for name in wasi ops; do
    wat2wasm "$here/$name.wat" -o "$out/$name.wasm"
done
