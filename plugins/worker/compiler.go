package worker

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// Compiler compiles modules in child processes, one for each. It implements
// [plugins.Compiler] and is safe for concurrent use.
type Compiler struct {
	opts  Options
	slots chan struct{}
	told  sync.Once // of what its children lack

	mu     sync.Mutex
	closed bool
	last   int
	under  map[int]context.CancelCauseFunc // what is being compiled, or waits
	ended  sync.WaitGroup
}

var _ plugins.Compiler = (*Compiler)(nil)

// NewCompiler returns a compiler. It starts nothing before it is needed.
func NewCompiler(o Options) *Compiler {
	o = o.withDefaults()
	return &Compiler{opts: o, slots: make(chan struct{}, o.Compiles), under: make(map[int]context.CancelCauseFunc)}
}

// Compile compiles a module, as the pre-pass wrote it, into the compile cache in
// dir, within the options' limits. It waits for its turn where as many children
// compile as may. See [plugins.Compiler].
func (c *Compiler) Compile(ctx context.Context, dir string, wasm []byte) error {
	if err := c.opts.startable(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	leave, err := c.enter(cancel)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		cause := context.Cause(ctx)
		return &abi.Error{Code: abi.CodeOfEnd(ctx), Message: fmt.Sprintf("%s was given up before its turn came: %v", compiling, cause), Err: cause}
	}
	defer func() { <-c.slots }()
	return c.compile(ctx, dir, wasm)
}

const compiling = "compiling the module"

func (c *Compiler) compile(ctx context.Context, dir string, wasm []byte) error {
	process, err := spawn(c.opts.Command)
	if err != nil {
		return err
	}
	defer process.end()
	s := &setup{
		Limits: limits{
			Memory: c.opts.CompileMemory,
			// A second beyond what the wall clock allows: this is for a child that
			// has lost its parent.
			CPU:      c.opts.CompileTime*time.Duration(runtime.GOMAXPROCS(0)) + time.Second,
			FileSize: engine.MaxCode(len(wasm)),
		},
		Compile: &compileSetup{Dir: dir},
	}
	in := newReader(process.out, handshakeLimit)
	unfiltered, err := c.opts.handshake(ctx, process, in, compiling, s, wasm)
	if err == nil && len(unfiltered) > 0 {
		c.told.Do(func() {
			c.opts.Logger.Info("modules are compiled in processes without a system call filter", "reason", engine.Told(string(unfiltered)))
		})
	}
	return err
}

// handshakeLimit bounds what a child may send before it is ready.
func handshakeLimit(k kind) int {
	switch k {
	case kindReady:
		return 4 << 10
	case kindFailed:
		return maxErrorText + 256
	}
	return -1
}

// enter notes what is being compiled, for Close.
func (c *Compiler) enter(cancel context.CancelCauseFunc) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	c.last++
	number := c.last
	c.under[number] = cancel
	c.ended.Add(1)
	return func() {
		c.mu.Lock()
		delete(c.under, number)
		c.mu.Unlock()
		c.ended.Done()
	}, nil
}

var errClosed = &abi.Error{Code: abi.CodeCancelled, Message: "the compiler is closed"}

// Close ends what is being compiled and waits until its processes are gone.
// Further modules are not compiled.
func (c *Compiler) Close() {
	c.mu.Lock()
	c.closed = true
	for _, cancel := range c.under {
		cancel(errClosed)
	}
	c.mu.Unlock()
	c.ended.Wait()
}
