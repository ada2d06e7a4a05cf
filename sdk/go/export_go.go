//go:build wasip1 && !tinygo

package toolquay

//go:wasmexport alloc
func wasmAlloc(size uint32) uint32 { return alloc(size) }

//go:wasmexport call
func wasmCall(ptr, size uint32) uint64 { return exportedCall(ptr, size) }

//go:wasmexport assess
func wasmAssess(ptr, size uint32) uint64 { return exportedAssess(ptr, size) }
