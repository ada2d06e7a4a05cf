// Package proof holds the tests that a module rewritten by the pre-pass behaves
// as the module it was made of: the same results, the same traps, the same
// memory, globals and tables.
//
// Three kinds of modules are run original against rewritten, on both of wazero's
// engines: those of the WebAssembly specification's own tests, which wazero's
// module carries; random ones, of package wasmgen; and damaged copies of real
// ones. It has no code but tests.
package proof
