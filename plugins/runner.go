package plugins

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Runner runs the modules of one ABI. Implementations are safe for concurrent
// use.
type Runner interface {
	// ABI is the value of a manifest's abi key that this runner answers to.
	ABI() string
	// Load compiles a module, or takes it from the cache, without running any
	// of it. Errors are *abi.Error of [abi.CodeLoad].
	Load(ctx context.Context, m Module) (Instance, error)
	// Close frees what the runner shares between modules, after all of them.
	Close(ctx context.Context) error
}

// RunnerOptions are what a runner of any ABI is made with. The zero value is useful.
type RunnerOptions struct {
	// CacheDir holds compiled code between processes. It is made with mode 0700 if it is
	// missing. Empty, or a directory that others can write to, means no cache. In a worker
	// process it can only be used while a module is loaded.
	CacheDir string
	// Compiler compiles modules that the host does not trust; nil compiles them in this
	// process.
	Compiler Compiler
	// Ahead bounds the instances that a plugin keeps ready; 0 is the runner's own choice,
	// -1 none.
	Ahead int
	// Logger takes what an operator should know; nil discards it.
	Logger *slog.Logger
}

// RunnerFunc makes a runner of one ABI, such as [extism.New].
//
// [extism.New]: https://pkg.go.dev/github.com/toolquay/toolquay/plugins/extism#New
type RunnerFunc func(RunnerOptions) Runner

// Module is a verified plugin module, ready to be loaded.
type Module struct {
	// Manifest is the plugin's, checked.
	Manifest *abi.Manifest
	// Hash is the SHA-256 of Wasm.
	Hash [32]byte
	Wasm []byte
	// Trusted says that the module comes with the host: it may be compiled in
	// the host's own process.
	Trusted bool
	// Limits are the ones in force: the manifest's, cut to the host's.
	Limits Limits
	Logger *slog.Logger
}

// Compiler compiles modules that the host does not trust, somewhere a compilation
// that runs away can be ended, such as a child process. In the host's own process
// it cannot: the engine's compiler, once it has begun with a hostile module, can
// neither be cancelled nor be kept from using memory.
type Compiler interface {
	// Compile compiles a module, as the pre-pass wrote it, into a compile cache in
	// dir, which is empty and serves this one call. The bytes are not the
	// compiler's to keep. It returns soon after ctx is done. Errors are *abi.Error of
	// [abi.CodeLoad], or of the code of ctx's cause.
	Compile(ctx context.Context, dir string, wasm []byte) error
}

// Limits bound one call of a plugin. All are above zero.
type Limits struct {
	// Memory bounds linear memory, in bytes, a multiple of 64 KiB.
	Memory int64
	// Time bounds the guest's own running time. Waiting for a capability or a
	// person does not count.
	Time time.Duration
	// Output bounds the whole result, in bytes.
	Output int64
	// LogLines bounds log lines and progress reports that are passed on. What is
	// over is counted and dropped, but for progress: of that the newest is passed
	// on all the same, every [ReportEvery] and when the call ends.
	LogLines int
	// CapabilityCalls bounds the capability calls of one call.
	CapabilityCalls int
}

// ReportEvery is how far apart progress is at least that a call reports over its
// limit. People are told of it at that pace anyway (spec, section 3).
const ReportEvery = 100 * time.Millisecond

// Instance is a loaded module, not one of its guests: calls can be made to it in parallel, and
// each takes a guest of its own. Memory is clean for every call, except under
// [abi.InstanceKept].
type Instance interface {
	// Call runs a tool once. A result with IsError is the tool's own word; an
	// error, always an *abi.Error, says that the tool could not run to its end.
	Call(ctx context.Context, c Invocation) (abi.ToolResult, error)
	// Assess asks the guest's assess; a guest without one answers the zero
	// Assessment.
	Assess(ctx context.Context, q Question) (abi.Assessment, error)
	// Close frees the module and lets no more calls in; those fail with
	// [abi.CodeCancelled]. It comes after the last call has ended, or with calls under
	// way, where the one who closes has no more time to wait for them. These either
	// come to their end, or fail with [abi.CodeCancelled] too.
	Close(ctx context.Context) error
}

// Invocation is one call to one tool.
type Invocation struct {
	Tool *abi.Tool
	// ID is the call's id.
	ID string
	// Input is the validated input, canonical.
	Input json.RawMessage
	// Cwd is the session's working directory.
	Cwd string
	// UserModified says that a person wrote the input in place of the model's.
	UserModified bool
	// Config is the plugin's configuration.
	Config map[string]json.RawMessage
	// Session keys what [abi.InstanceKept] keeps. Calls of one session share
	// it; nil means the call shares nothing.
	Session *Session
	// Capability does a capability call behind the host's gate. Failures,
	// refusals among them, are errors that carry an abi.Code. It must return
	// soon after ctx is done.
	Capability CapabilityFunc
	// Report, if not nil, takes progress and log lines as they come. It must
	// not block.
	Report func(abi.ProgressHead)
	// Spill, if not nil, makes a place for a text of the result that is too long
	// to hold in memory. Without it such a text counts against the limit of the
	// output.
	Spill func() (abi.Spill, error)
}

// CapabilityFunc is the host's gate as a call sees it.
type CapabilityFunc func(ctx context.Context, req abi.Request) (abi.Answer, error)

// Question is one question to a tool's assess.
type Question struct {
	Tool   *abi.Tool
	Input  json.RawMessage
	Cwd    string
	Facts  []abi.Fact
	Config map[string]json.RawMessage
}
