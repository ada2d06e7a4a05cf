package proof

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// sampleEvery has one of so many of the specification's files, and of random modules and
// mutants, compared. They share nothing between goroutines but the engine's cache, for
// which the race detector has few to look at.
func sampleEvery() int {
	if !testenv.Thorough() {
		return 20
	}
	return 1
}

// treatment is what is done to a module before it is run.
type treatment struct {
	name    string
	rewrite func(wasm []byte) ([]byte, error)
	// quantum is the fuel handed out at a time. A small one leads through every
	// refill the pre-pass wrote.
	quantum int64
}

// treatments are compared with the first of them, which does nothing.
var treatments = []treatment{
	{"original", func(wasm []byte) ([]byte, error) { return wasm, nil }, 0},
	{"rewritten", once, 1 << 20},
	{"rewritten twice", twice, 100},
}

// generous are the options of all rewriting here: what is compared is what code
// does, not what is refused. An instance that trapped does not get back the
// stack it had paid for, and the suite goes on with such instances, so there is
// enough for thousands of traps.
var generous = prepass.Options{
	Bounds:    prepass.Bounds{BranchTable: 1 << 16},
	MaxStack:  64 << 20,
	Reentrant: true,
}

// refusedError is an error of the pre-pass, as opposed to one of the engine.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

func once(wasm []byte) ([]byte, error) {
	m, err := prepass.Rewrite(wasm, generous)
	if err != nil {
		return nil, refusedError{err}
	}
	return m.Wasm, nil
}

func twice(wasm []byte) ([]byte, error) {
	first, err := once(wasm)
	if err != nil {
		return nil, err
	}
	return once(first)
}

// engine is one of wazero's two ways to run code.
type engine struct {
	name   string
	config func() wazero.RuntimeConfig
}

var (
	compiler    = engine{"compiler", wazero.NewRuntimeConfigCompiler}
	interpreter = engine{"interpreter", wazero.NewRuntimeConfigInterpreter}
)

// engines are those this machine has: the compiler knows few processors.
func engines() []engine {
	if slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) {
		return []engine{compiler, interpreter}
	}
	return []engine{interpreter}
}

// lab runs modules that were treated alike.
type lab struct {
	runtime    wazero.Runtime
	treatment  treatment
	registered map[string]api.Module // what modules import, by the module's name
	fuel       int64                 // what refill may still hand out; see allow
	ctx        context.Context
}

// newLab makes a lab, to be closed by the caller. Its modules know each other by
// the names in registered alone.
func newLab(ctx context.Context, tb testing.TB, config wazero.RuntimeConfig, how treatment) *lab {
	tb.Helper()
	l := &lab{treatment: how, registered: map[string]api.Module{}}
	l.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	l.ctx = experimental.WithImportResolver(ctx, func(name string) api.Module { return l.registered[name] })
	_, err := l.runtime.NewHostModuleBuilder(prepass.ImportModule).
		NewFunctionBuilder().WithFunc(l.refill).Export(prepass.ImportRefill).
		Instantiate(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// close closes the runtime and all modules with it.
func (l *lab) close(ctx context.Context, tb testing.TB) {
	tb.Helper()
	// The test's own context may have ended by now.
	if err := l.runtime.Close(context.WithoutCancel(ctx)); err != nil {
		tb.Error(err)
	}
}

var (
	errOutOfFuel  = errors.New("out of fuel")
	errOutOfStack = errors.New("out of stack")
)

// allow sets what may be used up until it is called again.
func (l *lab) allow(fuel int64) { l.fuel = fuel }

func (l *lab) refill(left int64) int64 {
	if left == prepass.StackExhausted {
		panic(errOutOfStack)
	}
	if left > 0 {
		panic(fmt.Errorf("asked for fuel with %d left", left))
	}
	l.fuel -= l.treatment.quantum - left
	if l.fuel <= 0 {
		panic(errOutOfFuel)
	}
	return l.treatment.quantum
}

// compile treats and compiles a module. The engine's validation panics on some
// that are invalid, which the pre-pass refuses.
func (l *lab) compile(wasm []byte) (compiled wazero.CompiledModule, err error) {
	treated, err := l.treatment.rewrite(wasm)
	if err != nil {
		return nil, err
	}
	if l.treatment.quantum == 0 {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the validation panics: %v", p)
			}
		}()
	}
	return l.runtime.CompileModule(l.ctx, treated)
}

// instantiate treats, compiles and instantiates a module.
func (l *lab) instantiate(wasm []byte) (api.Module, outcome) {
	compiled, err := l.compile(wasm)
	if err != nil {
		return nil, outcome{class: compileClass(err), err: err}
	}
	m, err := l.runtime.InstantiateModule(l.ctx, compiled, bare)
	return m, outcome{class: classOf(err), err: err}
}

// bare instantiates a module and calls nothing but its start function.
var bare = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// call calls an exported function.
func call(ctx context.Context, m api.Module, name string, args []uint64) outcome {
	f := m.ExportedFunction(name)
	if f == nil {
		return outcome{class: noSuchExport}
	}
	results, err := f.Call(ctx, args...)
	return outcome{class: classOf(err), err: err, results: normal(results, f.Definition().ResultTypes())}
}

// normal makes results comparable: of numbers of 32 bits the upper half means
// nothing, and references to functions differ from instance to instance.
func normal(results []uint64, types []api.ValueType) []uint64 {
	results = slices.Clone(results)
	at := 0
	for _, t := range types {
		if at >= len(results) {
			break
		}
		switch t {
		case api.ValueTypeI32, api.ValueTypeF32:
			results[at] = uint64(uint32(results[at]))
		case valueTypeV128:
			at++
		case valueTypeFuncref:
			results[at] = min(results[at], 1)
		}
		at++
	}
	return results
}

// wazero's api names all types of values but these.
const (
	valueTypeV128    api.ValueType = 0x7b
	valueTypeFuncref api.ValueType = 0x70
)

// outcome is what came of a module or a call.
type outcome struct {
	class   class
	results []uint64
	err     error
}

func (o outcome) equal(other outcome) bool {
	return o.class == other.class && slices.Equal(o.results, other.results)
}

func (o outcome) String() string {
	if o.err != nil {
		text, _, _ := strings.Cut(o.err.Error(), "\n")
		return fmt.Sprintf("%s (%s)", o.class, text)
	}
	return fmt.Sprintf("%s %x", o.class, o.results)
}
