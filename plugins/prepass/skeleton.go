package prepass

import "crypto/sha256"

// skeletonSection is the custom section of a skeleton that tells it from those of
// other modules: it holds the module's SHA-256.
const skeletonSection = ReservedPrefix + "code"

// stub is a function body that fits every type, with its length in front: no
// locals, unreachable, end.
var stub = []byte{3, 0, opUnreach, opEnd}

// functions is where the bodies of a module's functions are in its binary, their
// section as a whole, and how many there are.
type functions struct {
	span
	count uint32
}

// AppendSkeleton appends the module without the bodies of its functions, at most
// [Module.MaxSkeleton] bytes: all else is as it was, names and data above all. It is
// for an engine that has the module's code from elsewhere, compiled, and has no use
// for the bodies but to read and validate them once more, which takes longer than all
// else about loading a module. No two modules have the same skeleton. Functions of a
// skeleton that is compiled itself trap.
func (m *Module) AppendSkeleton(to []byte) []byte {
	w := writer{b: append(to, m.Wasm[:m.functions.start]...)}
	if m.functions.count > 0 {
		w.section(secCode, func() {
			w.u32(m.functions.count)
			for range m.functions.count {
				w.byte(stub...)
			}
		})
	}
	w.byte(m.Wasm[m.functions.end:]...)
	w.section(secCustom, func() {
		w.name(skeletonSection)
		sum := sha256.Sum256(m.Wasm)
		w.byte(sum[:]...)
	})
	return w.b
}

// MaxSkeleton is how much room the module's skeleton takes at most while it is
// written, in bytes.
func (m *Module) MaxSkeleton() int {
	const sections = 2 * (1 + maxLEB) // their kinds and lengths
	other := len(m.Wasm) - (m.functions.end - m.functions.start)
	return other + maxLEB + int(m.functions.count)*len(stub) + sections + 1 + len(skeletonSection) + sha256.Size
}
