package prepass

// ImportModule is the module that rewritten modules import what they need from
// the host. Its functions are part of the rewriting, not of any guest ABI.
const ImportModule = "toolquay:fuel/1"

// ImportRefill is the function, of type (i64) -> (i64), that a rewritten module
// calls when its fuel is used up. It passes what is left, zero or less, and goes
// on with what is returned. The host stops the module by not returning.
const ImportRefill = "refill"

// GlobalPrefix begins the names under which a rewritten module exports its
// mutable globals: the prefix and the global's index in decimal. A module's own
// exports under [ReservedPrefix] are left out.
const GlobalPrefix = ReservedPrefix + "global/"

// DefaultMaxStack is the stack budget where none is given, in bytes. Estimates
// are from above, for honest code by a factor of ten and more: with it a Go guest
// takes JSON that nests 1,000 deep, while a hostile one gets to use some 16 MiB,
// for which wazero allocates twice as much.
const DefaultMaxStack = 16 << 20

// ReservedPrefix begins every name that the rewriting adds.
const ReservedPrefix = "toolquay:"

// Options say how to rewrite. The zero value applies [DefaultBounds] and no caps
// beyond them.
type Options struct {
	// Bounds are what is refused; zero fields are those of [DefaultBounds].
	Bounds Bounds
	// MaxMemory caps a memory, in bytes; 0 caps nothing. A module whose minimum
	// is larger is refused.
	MaxMemory uint64
	// MaxStack bounds the native stack of one call into the module, in bytes, as
	// estimated from above; 0 is [DefaultMaxStack].
	MaxStack int64
	// Rename, if not nil, gives imports other names. It is asked once for every
	// import.
	Rename func(module, name string) (newModule, newName string)
	// Reentrant says that an imported function may call an export of the same
	// instance, so that recursion may lead through imports.
	Reentrant bool
}

// Facts are what the pass learnt about a module on the way.
type Facts struct {
	// Globals are the mutable globals that the module itself ever sets, by the
	// names they are exported under.
	Globals []string
	// Frozen says why instances cannot be put back by copying memory and globals
	// alone, such as "it changes tables"; empty where they can.
	Frozen string
	// MemoryMin and MemoryMax are the memory's limits as written, in bytes; both
	// 0 where there is no memory. MemoryMax is 0 where none is stated.
	MemoryMin, MemoryMax uint64
	// Start says whether the module has a start function.
	Start bool
}

// Module is a rewritten module.
type Module struct {
	// Wasm is the binary. It shares nothing with the original.
	Wasm  []byte
	Facts Facts
}
