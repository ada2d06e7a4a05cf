#!/bin/sh
# Builds plugins written in Rust: each crate's .wasm ends up beside its
# plugin.toml, stripped, with a 64 KiB stack and without a path of this machine.
#
#   build-plugin.sh [--check | --try] CRATE...
#   build-plugin.sh --compiler
#
# A CRATE is a folder with Cargo.toml and plugin.toml; the module is named as the
# manifest names it. Without a plugin.toml it is a module that is no plugin, named as
# its package. With --check and --try nothing is written there: everything is
# built anew in a temporary folder (or CARGO_TARGET_DIR), and with --check a module
# that differs is an error. --compiler prints which compiler that is.
#
# Any toolchain that has the standard library of wasm32-unknown-unknown will do
# ("rustup target add wasm32-unknown-unknown"). Without one, the library is built
# from its source, for which Debian's rustc, rust-src and lld are enough.
# Environment: CARGO, RUSTC, WASM_LD, CARGO_TARGET_DIR; MODULE_FLAGS, more flags for
# rustc, a line each.
set -eu

target=wasm32-unknown-unknown
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

fail() { printf 'build-plugin: %s\n' "$*" >&2; exit 1; }

mode=write
case ${1-} in
--check) mode=check; shift ;;
--try) mode=try; shift ;;
--compiler) set -- ;;
'') fail 'usage: build-plugin.sh [--check | --try] CRATE... | --compiler' ;;
esac

has_std() { ls "$("$1" --print target-libdir --target $target 2>/dev/null)"/libstd-*.rlib >/dev/null 2>&1; }
has_source() { [ -f "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/std/Cargo.toml" ]; }

# Sets rustc, cargo and build_std: the first toolchain that can build for the
# target, and better one that need not build its library.
find_toolchain() {
    for test in has_std has_source; do
        for rustc in "${RUSTC:-rustc}" /usr/bin/rustc; do
            command -v "$rustc" >/dev/null 2>&1 || continue
            rustc=$(command -v "$rustc")
            $test "$rustc" || continue
            cargo=${CARGO:-$(dirname "$rustc")/cargo}
            build_std=$([ $test = has_std ] || printf yes)
            return
        done
    done
    fail "no Rust toolchain here can build for $target; run: rustup target add $target"
}

find_linker() {
    for linker in "${WASM_LD:-wasm-ld}" rust-lld wasm-ld-21 wasm-ld-20 wasm-ld-19 wasm-ld-18; do
        if command -v "$linker"; then return; fi
    done
    fail 'no WebAssembly linker here; install lld, or set WASM_LD'
}

# The value of a top-level key of a manifest.
manifest_value() { [ ! -f "$2" ] || sed -n "/^\[/q; s/^$1 *= *\"\([^\"]*\)\".*/\1/p" "$2"; }

find_toolchain
if [ $# -eq 0 ]; then exec "$rustc" --version; fi
sysroot=$("$rustc" --print sysroot)
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# Panic messages hold the paths of sources; the last remapping that fits wins.
flags="-Clink-arg=-zstack-size=65536
--remap-path-prefix=$cargo_home/registry/src=/registry
--remap-path-prefix=$cargo_home/git/checkouts=/git
--remap-path-prefix=$sysroot/lib/rustlib/src/rust=/rust
--remap-path-prefix=$(CDPATH='' cd -- "$sysroot/lib/rustlib" && pwd -P)/src/rust=/rust"
if [ -n "${MODULE_FLAGS-}" ]; then
    flags="$flags
$MODULE_FLAGS"
fi
if [ -n "$build_std" ]; then
    flags="$flags
-Clinker=$(find_linker)
-Clinker-flavor=wasm-ld
--remap-path-prefix=$(CDPATH='' cd -- "$sysroot/lib/rustlib/src/rust" && pwd -P)=/rust"
    # Building the standard library is what stable toolchains call unstable.
    export RUSTC_BOOTSTRAP=1
fi

if [ $mode != write ] && [ -z "${CARGO_TARGET_DIR-}" ]; then
    CARGO_TARGET_DIR=$(mktemp -d)
    trap 'rm -rf "$CARGO_TARGET_DIR"' EXIT
fi

for crate in "$@"; do
    [ -f "$crate/Cargo.toml" ] || fail "$crate has no Cargo.toml"
    crate=$(CDPATH='' cd -- "$crate" && pwd -P)
    name=$(manifest_value name "$crate/plugin.toml")
    module=$(manifest_value module "$crate/plugin.toml")
    library=$(sed -n '/^\[package\]/,/^\[[^p]/s/^name *= *"\([^"]*\)".*/\1/p' "$crate/Cargo.toml" | tr - _)
    module=${module:-${name:-$library}.wasm}
    manifest=$crate/Cargo.toml
    root=$(dirname "$(cd "$crate" && "$cargo" locate-project --workspace --message-format plain)")
    target_dir=${CARGO_TARGET_DIR:-$root/target}

    encoded=$(printf %s "$flags" | tr '\n' '\037')
    # A new crate has no lock file before its first build, which writes it.
    locked=$([ ! -f "$root/Cargo.lock" ] || printf %s --locked)
    set -- build --manifest-path "$manifest" --release $locked --lib --target $target --message-format short --quiet
    [ -z "$build_std" ] || set -- "$@" -Z build-std=std,panic_abort
    # The wrapper remaps these two: as flags they would be part of what cargo tells
    # builds apart by, and have the standard library built again for each plugin.
    RUSTC=$rustc CARGO_ENCODED_RUSTFLAGS=$encoded CARGO_TARGET_DIR=$target_dir \
        RUSTC_WRAPPER=$here/stable-names.sh PLUGIN_ROOT=$root SDK_ROOT=$here \
        "$cargo" "$@"

    built=$target_dir/$target/release/$library.wasm
    case $mode in
    write) install -m 644 "$built" "$crate/$module" ;;
    check) cmp -s "$built" "$crate/$module" || fail "$crate/$module is not what its source builds to; build it again" ;;
    esac
    printf '%s: %s bytes\n' "$module" "$(wc -c <"$built" | tr -d ' ')"
done
