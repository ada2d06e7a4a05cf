#!/bin/sh
# Assembles the fixtures here with wabt's wat2wasm. The results are committed, so
# that tests need no assembler.
set -eu
cd "$(dirname "$0")"
for wat in *.wat; do
  wat2wasm --enable-all "$wat" -o "${1:-.}/${wat%.wat}.wasm"
done
