//go:build tinygo.wasm

package toolquay

//export alloc
func wasmAlloc(size uint32) uint32 { return alloc(size) }

//export call
func wasmCall(ptr, size uint32) uint64 { return exportedCall(ptr, size) }

//export assess
func wasmAssess(ptr, size uint32) uint64 { return exportedAssess(ptr, size) }
