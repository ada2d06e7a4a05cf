// Package plugins finds, verifies, loads and calls WebAssembly plugins.
//
// [Open] looks through its sources for plugins: folders with a plugin.toml
// beside a module, and single .wasm files that carry their manifest in a custom
// section. It reads manifests and compiles nothing. What is wrong with one
// plugin is that plugin's [Plugin.Problem] and never stops the others.
//
// A module is read, checked against the grant on record, and compiled at its
// first call, by the [Runner] for its ABI. Package direct runs the direct ABI;
// package extism, which embedders opt into, runs Extism modules.
//
// The package meets the host's permission gate as a function that comes with
// each call ([Invocation.Capability]). It decides nothing about the world
// itself; it only holds a plugin to what its manifest declares and a person
// granted.
package plugins
