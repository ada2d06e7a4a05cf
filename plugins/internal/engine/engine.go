package engine

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// Options configure an [Engine]. The zero value is useful.
type Options struct {
	// CacheDir holds compiled code between processes. It is made with mode
	// 0700 where it is missing. Empty, or a directory that others could write
	// to, means no cache.
	CacheDir string
	// Compiler compiles modules that are not trusted; nil compiles them here. It
	// must not use a module's bytes any more once it has returned.
	Compiler plugins.Compiler
	// Ahead bounds the instances a pool keeps ready; 0 is twice the number of
	// processors, -1 none.
	Ahead int
	// IdleMemory bounds the linear memory of all instances that are kept ready,
	// in bytes; 0 is [DefaultIdleMemory].
	IdleMemory int64
	// MaxModule bounds modules that are not trusted, in bytes; 0 is
	// [DefaultMaxModule].
	MaxModule int
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// DefaultIdleMemory bounds the memory of idle instances where nothing else is
// said, in bytes.
const DefaultIdleMemory = 256 << 20

// DefaultMaxModule bounds modules where nothing else is said, in bytes. While a
// module is loaded the process holds it twice, and its data once from then on,
// beside each instance's memory: up to this size that is less than 64 MiB more
// than what the memory's limit allows. Programs of standard Go have 3 to 20 MB.
const DefaultMaxModule = 32 << 20

// Engine is one shared wazero runtime. It is safe for concurrent use.
type Engine struct {
	opts  Options
	start sync.Once
	fail  error

	life    context.Context // the runtime's, which outlives the call that made it
	runtime wazero.Runtime
	loader  loader
	working chan struct{} // see behind
	idle    idle

	mu     sync.Mutex
	links  map[string]*link
	alive  int // instances
	closed bool
}

// link is one host module.
type link struct {
	once sync.Once
	err  error
}

// New returns an engine. It starts nothing: the runtime comes up with its first
// use.
func New(o Options) *Engine {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Ahead == 0 {
		o.Ahead = 2 * runtime.GOMAXPROCS(0)
	}
	if o.IdleMemory == 0 {
		o.IdleMemory = DefaultIdleMemory
	}
	if o.MaxModule == 0 {
		o.MaxModule = DefaultMaxModule
	}
	return &Engine{
		opts:    o,
		loader:  loader{opts: &o, compiling: make(chan struct{}, maxCompiling)},
		working: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		idle:    idle{limit: o.IdleMemory},
		links:   make(map[string]*link),
	}
}

// open brings up the shared runtime.
func (e *Engine) open(ctx context.Context) error {
	e.start.Do(func() {
		e.life = context.WithoutCancel(ctx)
		e.loader.open()
		config := configuration()
		if e.loader.cache != nil {
			config = config.WithCompilationCache(e.loader.cache.wazero)
		}
		e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
		e.loader.runtime = e.runtime
		e.fail = linkFuel(ctx, e.runtime)
	})
	return e.fail
}

// Link defines a host module once, whoever asks first: define adds its
// functions. Later calls with the same name do nothing.
func (e *Engine) Link(ctx context.Context, name string, define func(wazero.HostModuleBuilder)) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	l := e.links[name]
	if l == nil {
		l = &link{}
		e.links[name] = l
	}
	e.mu.Unlock()
	l.once.Do(func() {
		b := e.runtime.NewHostModuleBuilder(name)
		define(b)
		// What is linked is everybody's, not the first caller's.
		if _, err := b.Instantiate(context.WithoutCancel(ctx)); err != nil {
			l.err = abi.Errorf(abi.CodeInternal, "linking %s: %w", name, err)
		}
	})
	return l.err
}

// behind does what takes long and is not waited for by any call: putting large
// memories back, and giving them back. However many pools there are, only half
// of the processors are busy with it at once.
func (e *Engine) behind(do func()) {
	e.working <- struct{}{}
	defer func() { <-e.working }()
	do()
}

var errClosed = abi.Errorf(abi.CodeCancelled, "the runner is closed")

// enter counts an instance in, leave counts it out.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	e.alive++
	return nil
}

func (e *Engine) leave() {
	e.mu.Lock()
	e.alive--
	last := e.closed && e.alive == 0
	e.mu.Unlock()
	if !last {
		return
	}
	if err := e.free(); err != nil {
		e.opts.Logger.Warn("closing a runner late", "reason", err)
	}
}

// Close frees the runtime. Programs and pools must be closed before. Where
// instances are still in use it returns at once, and the last of them to be handed
// back frees the runtime: the memory of a running guest cannot be taken away.
func (e *Engine) Close(context.Context) error {
	e.start.Do(func() { e.fail = errClosed })
	e.mu.Lock()
	free := !e.closed && e.alive == 0
	e.closed = true
	e.mu.Unlock()
	if !free {
		return nil
	}
	return e.free()
}

func (e *Engine) free() error {
	if e.runtime == nil {
		return nil
	}
	return errors.Join(e.runtime.Close(e.life), e.loader.close(e.life))
}
