package extism

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// guest is one instance of a plugin with the kernel that is its own. Functions
// are looked up once, when they are first needed.
type guest struct {
	kernel
	plugin    api.Module
	functions map[string]api.Function
	stack     [1]uint64
}

// bind makes a guest of a kernel and a plugin that imports from it.
func bind(modules []api.Module) (*guest, error) {
	return &guest{
		kernel:    kernel{mod: modules[0], memory: modules[0].Memory()},
		plugin:    modules[1],
		functions: make(map[string]api.Function, 2),
	}, nil
}

// call runs an export of the plugin and returns its result, 0 for none.
func (g *guest) call(ctx context.Context, export string, args ...uint64) (uint64, error) {
	f, ok := g.functions[export]
	if !ok {
		if f = g.plugin.ExportedFunction(export); f == nil {
			return 0, abi.Errorf(abi.CodeInternal, "it has no export %q, which was called for one of its tools", export)
		}
		g.functions[export] = f
	}
	stack := g.stack[:]
	if len(args) > 1 {
		stack = args
	}
	stack[0] = 0
	err := f.CallWithStack(ctx, stack)
	return stack[0], err
}

// stackSize is how much native stack the guest's functions keep, in bytes.
func (g *guest) stackSize() int64 {
	size := engine.StackOf(g.alloc, g.free, g.length)
	for _, f := range g.functions {
		size += engine.StackOf(f)
	}
	return size
}

// The exports by which a guest's runtime is initialised, as go-sdk knows them,
// and the one that is a whole program.
const (
	exportHaskell = "hs_init"
	exportReactor = "_initialize"
	exportCtors   = "__wasm_call_ctors"
	exportCommand = "_start"
)

// start is how the runtime of a plugin is initialised.
type start struct {
	haskell bool
	// first is the export that is called before the first other one, "" for
	// none.
	first string
}

// startOf finds out from a plugin's exports, as go-sdk does.
func startOf(exports map[string]api.FunctionDefinition) start {
	var s start
	_, s.haskell = exports[exportHaskell]
	if s.haskell {
		if _, ok := exports[exportReactor]; ok {
			s.first = exportReactor
		}
		return s
	}
	for _, name := range []string{exportReactor, exportCtors} {
		if f, ok := exports[name]; ok && len(f.ParamTypes()) == 0 {
			s.first = name
			return s
		}
	}
	return s
}

func (s start) needed() bool { return s.haskell || s.first != "" }

// run initialises the guest's runtime. Where it is Haskell's, go-sdk goes on
// after a failed _initialize.
func (s start) run(ctx context.Context, g *guest) error {
	if s.first != "" {
		_, err := g.call(ctx, s.first)
		_, exit := exited(err)
		if err != nil && (!s.haskell || exit || errors.Is(err, errNeedsCall) || engine.RunOf(ctx).Over() != nil) {
			return fmt.Errorf("in %s: %w", s.first, err)
		}
	}
	if s.haskell {
		if _, err := g.call(ctx, exportHaskell, 0, 0); err != nil {
			return fmt.Errorf("in %s: %w", exportHaskell, err)
		}
	}
	return nil
}

// exited reports whether the guest ended itself, and with which code.
func exited(err error) (uint32, bool) {
	exit, ok := errors.AsType[*sys.ExitError](err)
	if !ok {
		return 0, false
	}
	return exit.ExitCode(), true
}
