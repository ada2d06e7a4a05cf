package proof

import (
	"encoding/binary"
	"slices"

	"github.com/tetratelabs/wazero"
)

// The ids of sections, and the kind of exports that are globals.
const (
	memorySection = 5
	exportSection = 7
	codeSection   = 10
	globalExport  = 3
)

// hasMemory reports whether a valid module has a memory, be it an imported one.
func hasMemory(wasm []byte, compiled wazero.CompiledModule) bool {
	own := sections(wasm)[memorySection]
	return len(own) > 0 && own[0] > 0 || len(compiled.ImportedMemories()) > 0
}

// exportedGlobals are the indexes of the globals a valid module exports, which
// wazero does not list, by their names.
func exportedGlobals(wasm []byte) map[string]int {
	section := sections(wasm)[exportSection]
	next := func() int {
		n, size := binary.Uvarint(section)
		section = section[size:]
		return int(n)
	}
	names := map[string]int{}
	if len(section) == 0 {
		return names
	}
	for range next() {
		length := next()
		name := string(section[:length])
		section = section[length:]
		kind, index := next(), next()
		if kind == globalExport {
			names[name] = index
		}
	}
	return names
}

// sections are the contents of a valid module's sections by their ids.
func sections(wasm []byte) map[byte][]byte {
	found := map[byte][]byte{}
	for rest := wasm[8:]; len(rest) > 0; {
		id := rest[0]
		length, size := binary.Uvarint(rest[1:])
		end := 1 + size + int(length)
		found[id] = slices.Clip(rest[1+size : end])
		rest = rest[end:]
	}
	return found
}
