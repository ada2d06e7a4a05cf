#!/bin/sh
# A wrapper around rustc (RUSTC_WRAPPER) for build-plugin.sh. Cargo tells crates
# apart by a hash that covers the folder they lie in; it ends up in symbols, and
# their order in the order of functions. With a name, version and features instead,
# the same source gives the same bytes wherever it lies. The features are what tells
# a crate that the standard library is made of from the same one in a plugin. And it
# writes /plugin and /sdk for the folders PLUGIN_ROOT and SDK_ROOT.
set -eu
features=
for argument in "$@"; do
    case $argument in
    feature=*) features=$features-${argument#feature=} ;;
    esac
done
features=$(printf %s "$features" | tr -d '"')
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    case $argument in
    metadata=*) argument=metadata=${CARGO_PKG_NAME:-}-${CARGO_PKG_VERSION:-}-${CARGO_CRATE_NAME:-}$features ;;
    esac
    set -- "$@" "$argument"
    count=$((count - 1))
done
case " $* " in
*' --crate-name '*) set -- "$@" "--remap-path-prefix=$PLUGIN_ROOT=/plugin" "--remap-path-prefix=$SDK_ROOT=/sdk" ;;
esac
exec "$@"
