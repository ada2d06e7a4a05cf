// Package stricttoml decodes TOML into Go structs strictly: unknown keys and
// wrong types are faults, and all faults of a document are reported at once,
// each with its line.
//
// The syntax is judged by github.com/BurntSushi/toml alone; this package adds
// what a file written by hand or by a stranger needs on top. Before parsing, a
// guard refuses what is not clean UTF-8 text and what would make a parser's
// work grow faster than the document. After it, an index finds the line of
// every value, elements of arrays included.
//
// A path names a value: "tools[2].name". Keys that are not bare, as TOML
// defines bare, are quoted as Go quotes strings: `config."a b"`.
package stricttoml
