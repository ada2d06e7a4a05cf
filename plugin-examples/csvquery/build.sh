#!/bin/sh
# Builds csvquery.wasm beside plugin.toml. A crate outside this repository does
# the same with the script from the SDK.
set -eu
cd "$(dirname "$0")"
exec ../../sdk/rust/build-plugin.sh .
