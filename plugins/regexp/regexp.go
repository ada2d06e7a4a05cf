package regexp

import (
	"context"
	"crypto/sha256"
	_ "embed" // the guest
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// The bounds of a pattern.
const (
	// MaxMemory is the most memory for one guest, in bytes: 64 MiB of text that
	// is matched across lines, and as much for the expression and what a search of
	// it learns on the way.
	MaxMemory = 128 << 20
	// maxCompiled is the most memory, in bytes, that the guests of one expression
	// have together before they read any text; one guest there may be in any case.
	// Most expressions take 1 MiB.
	maxCompiled = 64 << 20
	// maxInstances is the most guests of one expression.
	maxInstances = 16
	// maxCompile is how long a pattern may take to compile.
	maxCompile = 2 * time.Second
	// maxSearch is how long a search may go on that nobody cancels.
	maxSearch = time.Hour
)

//go:embed guest/regexp.wasm
var guest []byte

// Options configure an [Engine].
type Options struct {
	// CacheDir holds compiled code between processes, as for plugins. Without it
	// each process compiles the guest, with its first pattern, for seconds.
	CacheDir string
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// Engine compiles patterns. It is safe for concurrent use.
type Engine struct {
	engine *engine.Engine

	mu      sync.Mutex
	program *engine.Program
	pool    *engine.Pool[*instance]
	closed  bool
}

var _ pattern.Engine = (*Engine)(nil)

// New returns an engine. It starts nothing: the guest is loaded with the first
// pattern.
func New(o Options) *Engine {
	return &Engine{engine: engine.New(engine.Options{CacheDir: o.CacheDir, Logger: o.Logger})}
}

// Compile compiles a pattern. See [pattern.Engine].
func (e *Engine) Compile(ctx context.Context, text string, o pattern.Options) (pattern.Expression, error) {
	pool, err := e.load(ctx)
	if err != nil {
		return nil, err
	}
	x := &expression{pool: pool, text: text, options: o}
	first, err := x.make(ctx)
	if err != nil {
		return nil, err
	}
	x.facts = first.Host.facts
	x.share(first.Host.memory.Size())
	if err := x.tabulate(ctx, first.Host); err != nil {
		pool.Put(first, false)
		return nil, err
	}
	x.free = append(x.free, first)
	return x, nil
}

// load returns the pool of guests, which it fills with the first call.
func (e *Engine) load(ctx context.Context) (*engine.Pool[*instance], error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, abi.Errorf(abi.CodeCancelled, "the regular expressions are closed")
	}
	if e.pool != nil {
		return e.pool, nil
	}
	program, err := e.engine.Compile(ctx, engine.Source{
		Hash: sha256.Sum256(guest), Wasm: guest, Trusted: true, MaxMemory: MaxMemory,
	})
	if err != nil {
		return nil, err
	}
	e.program = program
	e.pool = engine.NewPool(e.engine, engine.Plan[*instance]{
		Name:   "regexp",
		Parts:  []engine.Part{{Program: program, MaxMemory: MaxMemory}},
		Policy: engine.PutBackAll,
		Time:   maxCompile,
		Bind:   bind,
		Stack:  func(in *instance) int64 { return engine.StackOf(in.window, in.compile, in.tabulate, in.find) },
		Fail: func(_ *engine.Run, err error) error {
			return abi.Errorf(abi.CodeInternal, "starting the engine for regular expressions: %w", err)
		},
	})
	return e.pool, nil
}

// Close frees the engine, after all expressions.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	if e.pool == nil {
		return e.engine.Close(ctx)
	}
	e.pool.Close()
	return errors.Join(e.program.Close(ctx), e.engine.Close(ctx))
}
