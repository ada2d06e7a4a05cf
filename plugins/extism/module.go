package extism

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/guestclock"
	"github.com/toolquay/toolquay/plugins"
)

// module is one compiled plugin. It implements [plugins.Instance].
type module struct {
	name     string
	limits   plugins.Limits
	compiled *sdk.CompiledPlugin
	cache    *cache

	calls plugins.Calls
}

var _ plugins.Instance = (*module)(nil)

// Call runs a tool in an instance of its own. See [plugins.Instance].
func (m *module) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	if err := m.calls.Enter(m.name); err != nil {
		return abi.ToolResult{}, err
	}
	defer m.calls.Leave()
	ctx, cancelCause := context.WithCancelCause(ctx)
	defer cancelCause(nil)
	c := &call{ctx: ctx, limits: m.limits, do: inv.Capability, report: inv.Report}
	c.output.tell = c.tell
	c.clock = guestclock.Start(m.limits.Time, cancelCause)
	defer c.end()

	o, err := m.run(context.WithValue(ctx, callKey{}, c), c, inv)
	if err == nil {
		err = c.exit()
	}
	var result abi.ToolResult
	if err == nil {
		result, err = o.result(inv, m.limits.Output)
	}
	if err != nil {
		return abi.ToolResult{}, m.explain(ctx, c, err)
	}
	return result, nil
}

// outcome is how an export ended by itself.
type outcome struct {
	code   uint32
	output []byte
	// failure is the error that the guest set, "" for none.
	failure string
}

// run calls the export. The SDK panics in many places; none of that may leave.
func (m *module) run(ctx context.Context, c *call, inv plugins.Invocation) (o outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Extism SDK panicked: %v", p)
		}
	}()
	if room := max(m.limits.Memory, kernelPages*pageSize) - kernelPages*pageSize/2; int64(len(inv.Input)) > room {
		return o, abi.Errorf(abi.CodeLimit, "the input of %d bytes does not fit into the limit memory = %s", len(inv.Input), abi.Size(m.limits.Memory))
	}
	instantiating := experimental.WithCloseNotifier(ctx, experimental.CloseNotifyFunc(c.closed))
	plugin, err := m.compiled.Instance(instantiating, sdk.PluginInstanceConfig{ModuleConfig: moduleConfig(c)})
	if err != nil {
		return o, fmt.Errorf("while starting: %w", err)
	}
	defer func() {
		c.ended.Store(true)
		// The context may be over; closing must happen all the same. There is
		// nothing in an instance whose closing fails.
		_ = plugin.CloseWithContext(context.WithoutCancel(ctx))
	}()
	plugin.Config = config(inv.Config)
	plugin.SetLogger(func(level sdk.LogLevel, message string) { c.tell(levelOf(level), message) })

	o.code, o.output, err = plugin.CallWithContext(ctx, exportOf(inv.Tool), inv.Input)
	if err == nil || context.Cause(ctx) != nil || c.exit() != nil {
		return o, err
	}
	// The SDK returns the guest's own error and the engine's alike.
	if set := plugin.GetErrorWithContext(ctx); set != "" && set == err.Error() {
		o.failure, err = set, nil
	}
	return o, err
}

// moduleConfig gives a guest nothing but a real clock and random numbers.
func moduleConfig(c *call) wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithSysWalltime().
		WithSysNanotime().
		WithRandSource(rand.Reader).
		WithStdout(&c.output).
		WithStderr(&c.output)
}

// config is the plugin's configuration as Extism has it: strings only.
func config(values map[string]json.RawMessage) map[string]string {
	out := make(map[string]string, len(values))
	for key, raw := range values {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		out[key] = s
	}
	return out
}

// result makes the call's result of what the export returned.
func (o outcome) result(inv plugins.Invocation, limit int64) (abi.ToolResult, error) {
	if n := max(len(o.output), len(o.failure)); int64(n) > limit {
		return abi.ToolResult{}, abi.Errorf(abi.CodeLimit, "it answered %d bytes, over its limit output = %s", n, abi.Size(limit))
	}
	if !utf8.Valid(o.output) || !utf8.ValidString(o.failure) {
		return abi.ToolResult{}, abi.Errorf(abi.CodeProtocol, "the export %s answered bytes that are not UTF-8; the output of an Extism tool must be text", exportOf(inv.Tool))
	}
	r := abi.ToolResult{ToolUseID: inv.ID}
	switch {
	case o.failure != "":
		r.IsError = true
		r.Content = []abi.Block{abi.TextBlock(o.failure)}
		return r, nil
	case o.code != 0:
		r.IsError = true
		r.Content = []abi.Block{abi.TextBlock(fmt.Sprintf("The tool failed with code %d and no message.", int32(o.code)))}
		if len(o.output) > 0 {
			r.Content = append(r.Content, abi.TextBlock(string(o.output)))
		}
		return r, nil
	}
	r.Content = []abi.Block{abi.TextBlock(string(o.output))}
	if inv.Tool.OutputSchema == "" {
		return r, nil
	}
	structured, err := abi.Canonical(o.output)
	if err != nil {
		return abi.ToolResult{}, abi.Errorf(abi.CodeProtocol, "the tool %s has an output schema, but its output is not JSON: %w", inv.Tool.Name, err)
	}
	r.Structured = structured
	return r, nil
}

// Assess answers nothing: Extism modules have no such export.
func (m *module) Assess(context.Context, plugins.Question) (abi.Assessment, error) {
	return abi.Assessment{}, nil
}

// Close waits for the calls under way, or for ctx, and frees the module.
func (m *module) Close(ctx context.Context) error {
	first, late := m.calls.Drain(ctx, m.name)
	if !first {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	defer m.cache.close(ctx) // the runtime goes first
	return errors.Join(late, m.compiled.Close(ctx))
}
