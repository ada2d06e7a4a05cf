package abi

// Version is the version of the direct ABI that this package describes. It is
// the first byte of every frame and the suffix of [ImportModule].
const Version = 1

// ImportModule is the module name guests import host functions from.
const ImportModule = "toolquay:host/1"

// The names of what a guest imports from [ImportModule].
const (
	ImportSubmit   = "submit"
	ImportWait     = "wait"
	ImportRead     = "read"
	ImportCancel   = "cancel"
	ImportProgress = "progress"
)

// The names of what a guest exports.
const (
	ExportMemory     = "memory"
	ExportAlloc      = "alloc"
	ExportCall       = "call"
	ExportAssess     = "assess"
	ExportInitialize = "_initialize"
)

// The names of the custom sections a module may carry.
const (
	// SectionManifest holds the bytes of plugin.toml, so that one .wasm file
	// is a whole plugin.
	SectionManifest = "toolquay.manifest"
	// SectionTools holds a stream of JSON objects, in any order, each a
	// [ToolPiece]: what an SDK's macro knew about a tool at compile time.
	SectionTools = "toolquay.tools"
)

// MaxWait is the largest number of ids one wait may name.
const MaxWait = 1024
