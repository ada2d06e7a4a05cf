#!/bin/sh
# Builds wordcount-extism.wasm beside plugin.toml, with standard Go.
set -eu
cd "$(dirname "$0")"
GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 exec go build -buildmode=c-shared -trimpath -ldflags="-s -w" -o wordcount-extism.wasm .
