#!/bin/sh
# Assembles every fixture here with wabt's wat2wasm. The results are committed,
# so that tests need no assembler; one test assembles them again and compares.
set -eu
cd "$(dirname "$0")"
for wat in *.wat; do
  wat2wasm --enable-all "$wat" -o "${1:-.}/${wat%.wat}.wasm"
done
