#!/bin/sh
# Assembles the fixtures here with wabt's wat2wasm; the results are committed.
set -eu
cd "$(dirname "$0")"
for wat in *.wat; do
  wat2wasm "$wat" -o "${1:-.}/${wat%.wat}.wasm"
done
