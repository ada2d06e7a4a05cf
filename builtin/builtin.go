// Package builtin holds the tools in the box: plugins written in Rust with the
// SDK in sdk/rust, and their built modules. They are plugins like any other; the
// host grants them what their manifests declare.
//
// A folder here is a folder plugin: plugin.toml, the module beside it, and the
// Rust source of both. build.sh builds the modules; with --check it compares
// them with what the sources build to.
package builtin

import (
	"embed"
	"io/fs"
)

//go:embed files/plugin.toml files/files.wasm
//go:embed notebook/plugin.toml notebook/notebook.wasm
//go:embed search/plugin.toml search/search.wasm
//go:embed session/plugin.toml session/session.wasm
//go:embed tools/plugin.toml tools/tools.wasm
var plugins embed.FS

//go:embed shell/plugin.toml shell/shell.wasm
//go:embed tasks/plugin.toml tasks/tasks.wasm
var commands embed.FS

//go:embed docs/plugin.toml docs/docs.wasm
var documents embed.FS

// FS returns the built-in plugins: each directory at its root is one, with its
// manifest and its module and nothing else.
func FS() fs.FS { return plugins }

// Commands returns the plugins that run commands and look after what runs in the
// background, laid out as [FS] is: for hosts that let commands be run.
func Commands() fs.FS { return commands }

// Documents returns the plugin behind the capability docs.read, laid out as [FS] is.
// Its parsers are large, and no model calls it: it is opened when it is needed.
func Documents() fs.FS { return documents }
