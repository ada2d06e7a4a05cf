package worker

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/procfs"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// Options configure a [Compiler] and a [Runner].
type Options struct {
	// Command is the program that is started for each child, an absolute path,
	// and its arguments. It must call [Main]. Empty means that no child can be
	// started; see [Self].
	Command []string
	// CacheDir keeps what isolated plugins were compiled to, apart from what runs
	// in the host's own process. Empty keeps nothing.
	CacheDir string

	// MaxModule bounds the modules that a [Runner] loads, in bytes; 0 is 32 MiB. A
	// [Compiler] gets what its runner has measured.
	MaxModule int
	// CompileTime bounds compiling or loading one module; 0 is
	// [DefaultCompileTime].
	CompileTime time.Duration
	// CompileMemory bounds the memory of that, in bytes; 0 is
	// [DefaultCompileMemory].
	CompileMemory int64
	// Compiles bounds the children that compile at once; 0 is
	// [DefaultCompiles]. Others wait.
	Compiles int

	// Parallel bounds the calls of one isolated plugin that run at once, and with
	// it the memory of its worker; 0 is [DefaultParallel]. Others wait.
	Parallel int
	// Idle is how long a worker is kept after its last call; 0 is [DefaultIdle].
	Idle time.Duration
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// The defaults of [Options].
const (
	// DefaultCompileTime is about a hundred times what guests of standard Go take,
	// the largest ones usual: 2 to 3 MB, 0.25 to 0.4 s on one slow core.
	DefaultCompileTime   = 30 * time.Second
	DefaultCompileMemory = 1 << 30
	DefaultCompiles      = 2
	DefaultParallel      = 10
	DefaultIdle          = 5 * time.Minute
)

// overhead is the memory that a worker takes besides that of its guests, in
// bytes: the Go runtime, compiled code, messages under way.
const overhead = 256 << 20

func (o Options) withDefaults() Options {
	if o.MaxModule <= 0 {
		o.MaxModule = engine.DefaultMaxModule
	}
	if o.CompileTime <= 0 {
		o.CompileTime = DefaultCompileTime
	}
	if o.CompileMemory <= 0 {
		o.CompileMemory = DefaultCompileMemory
	}
	if o.Compiles <= 0 {
		o.Compiles = DefaultCompiles
	}
	if o.Parallel <= 0 {
		o.Parallel = DefaultParallel
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// startable reports why no child can be started, or nil.
func (o *Options) startable() error {
	switch {
	case len(o.Command) == 0:
		return abi.Errorf(abi.CodeUnsupported, "this host starts no worker processes; its options name no program for them")
	case !filepath.IsAbs(o.Command[0]):
		return abi.Errorf(abi.CodeUnsupported, "the program for worker processes must be an absolute path, not %q", o.Command[0])
	case isWorker():
		return abi.Errorf(abi.CodeUnsupported, "this process was started as a worker and starts none itself; its program must call worker.Main first thing")
	}
	return nil
}

// mainCalled is set by Main.
var mainCalled atomic.Bool

// ErrNotReady is returned by [Self] in a program that did not call [Main].
var ErrNotReady = errors.New("worker.Main was not called: started as a worker, this program would run as itself")

// Self returns the command for [Options.Command] that starts this very program.
// It fails in a program that did not call [Main] before.
func Self() ([]string, error) {
	if !mainCalled.Load() {
		return nil, ErrNotReady
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's file: %w", cmp.Or(procfs.Check(), err))
	}
	return []string{program, "worker"}, nil
}
