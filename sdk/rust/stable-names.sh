#!/bin/sh
# A wrapper around rustc (RUSTC_WRAPPER) for build-plugin.sh. Cargo tells crates
# apart by a hash that covers the folder they lie in; it ends up in symbols, and
# their order in the order of functions. With a name and version instead, the
# same source gives the same bytes wherever it lies.
set -eu
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    case $argument in
    metadata=*) argument=metadata=${CARGO_PKG_NAME:-}-${CARGO_PKG_VERSION:-}-${CARGO_CRATE_NAME:-} ;;
    esac
    set -- "$@" "$argument"
    count=$((count - 1))
done
exec "$@"
