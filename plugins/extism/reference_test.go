package extism_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// The reference is extism/go-sdk itself. What a call does through it is what it
// must do through this package.

// reference is a plugin compiled with go-sdk.
type reference struct{ compiled *sdk.CompiledPlugin }

// referenceCache holds what go-sdk compiled.
var referenceCache = sync.OnceValue(func() wazero.CompilationCache {
	c, err := wazero.NewCompilationCacheWithDir(filepath.Join(testenv.CompileCache(), "reference"))
	if err != nil {
		panic(err)
	}
	return c
})

// refer compiles a module with go-sdk. Its kernel begins with 16 pages, ours
// with one, so it gets 15 more for the same room.
func refer(tb testing.TB, wasm []byte) reference {
	tb.Helper()
	sdk.SetLogLevel(sdk.LogLevelInfo) // one for the process; get_log_level answers it
	unused := sdk.NewHostFunctionWithStack(extism.CapabilityImport,
		func(context.Context, *sdk.CurrentPlugin, []uint64) { panic("the reference has no capabilities") },
		[]sdk.ValueType{sdk.ValueTypePTR}, []sdk.ValueType{sdk.ValueTypePTR})
	manifest := sdk.Manifest{
		Wasm:   []sdk.Wasm{sdk.WasmData{Data: wasm, Name: "main"}},
		Memory: &sdk.ManifestMemory{MaxPages: uint32(limits.Memory/(64<<10)) + 15, MaxVarBytes: extism.MaxVars},
	}
	engine := wazero.NewRuntimeConfig().WithCompilationCache(referenceCache())
	if len(wasm) > 1<<20 {
		// Compiling takes longer than all that is done with it.
		engine = wazero.NewRuntimeConfigInterpreter()
	}
	config := sdk.PluginConfig{RuntimeConfig: engine, EnableWasi: true}
	compiled, err := sdk.NewCompiledPlugin(tb.Context(), manifest, config, []sdk.HostFunction{unused})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = compiled.Close(context.WithoutCancel(tb.Context())) })
	return reference{compiled}
}

// behaviour is all that can be seen of a call.
type behaviour struct {
	// isError says that the tool answered with an error of its own.
	isError bool
	text    string
	// failed is how the call failed, "" where it did not.
	failed string
	logs   []abi.Log
}

// call runs an export in an instance of its own.
func (r reference) call(tb testing.TB, export, input string, config map[string]string) (b behaviour) {
	tb.Helper()
	logged := func(level, message string) {
		message = strings.ToValidUTF8(message[:min(len(message), maxLogLine)], "\uFFFD") // as we log
		b.logs = append(b.logs, abi.Log{Level: level, Message: message})
	}
	out := &lines{each: func(line string) { logged("info", line) }}
	p, err := r.compiled.Instance(tb.Context(), sdk.PluginInstanceConfig{ModuleConfig: wazero.NewModuleConfig().
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader).WithStdout(out).WithStderr(out)})
	if err != nil {
		return behaviour{failed: trapOf(err)}
	}
	defer p.CloseWithContext(tb.Context())
	p.Config = config
	p.SetLogger(func(level sdk.LogLevel, message string) { logged(strings.ToLower(level.String()), message) })
	code, output, err := p.CallWithContext(tb.Context(), export, []byte(input))
	out.end()
	exit, exited := errors.AsType[*sys.ExitError](err)
	switch set := p.GetErrorWithContext(tb.Context()); {
	case exited:
		b.failed = fmt.Sprintf("exited before it answered, with code %d", exit.ExitCode())
	case err != nil && set != err.Error():
		b.failed = trapOf(err)
	case !utf8.Valid(output) || !utf8.ValidString(set):
		b.failed = "not UTF-8" // we answer with text alone
	case err != nil:
		b.isError, b.text = true, set
	case code != 0:
		b.isError, b.text = true, fmt.Sprintf("The tool failed with code %d and no message.%s", int32(code), output)
	default:
		b.text = string(output)
	}
	return b
}

// maxLogLine is where we cut log lines, in bytes.
const maxLogLine = 4 << 10

// lines takes what a guest writes to its standard output and error apart.
type lines struct {
	each func(string)
	line []byte
}

func (l *lines) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\n' {
			l.end()
			continue
		}
		l.line = append(l.line, c)
	}
	return len(p), nil
}

func (l *lines) end() {
	if len(l.line) > 0 {
		l.each(string(l.line))
	}
	l.line = nil
}

// trapOf is the first line of an engine's error, which go-sdk wraps in the name
// of what it called.
func trapOf(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(line, "failed to initialize runtime: "), " (recovered by wazero)")
}

// callOurs makes the same call through this package.
func callOurs(tb testing.TB, guest plugins.Instance, export, input string, config map[string]string) (b behaviour) {
	tb.Helper()
	var r reports
	inv := invocation(export)
	inv.Input = json.RawMessage(input)
	inv.Report = r.take
	inv.Config = make(map[string]json.RawMessage, len(config))
	for key, value := range config {
		inv.Config[key], _ = json.Marshal(value)
	}
	result, err := guest.Call(tb.Context(), inv)
	b.logs = r.lines
	if err != nil {
		b.failed = err.Error()
		return b
	}
	b.isError = result.IsError
	for _, block := range result.Content {
		b.text += block.Text
	}
	return b
}

// agree reports where our behaviour is not the reference's. We say more of a
// failure than go-sdk does.
func agree(tb testing.TB, ours, theirs behaviour) {
	tb.Helper()
	if ours.isError != theirs.isError || ours.text != theirs.text {
		tb.Errorf("we answered (error: %t) %q,\ngo-sdk (error: %t) %q", ours.isError, ours.text, theirs.isError, theirs.text)
	}
	if (ours.failed == "") != (theirs.failed == "") || !strings.Contains(ours.failed, theirs.failed) {
		tb.Errorf("we failed with %q,\ngo-sdk with %q", ours.failed, theirs.failed)
	}
	if !slices.Equal(ours.logs, theirs.logs) {
		tb.Errorf("we logged\n%q,\ngo-sdk\n%q", ours.logs, theirs.logs)
	}
}
