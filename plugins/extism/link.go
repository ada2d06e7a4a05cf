package extism

import (
	"context"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// The modules that an Extism guest may import from.
const (
	moduleEnv  = "extism:host/env"
	moduleUser = "extism:host/user"
)

// CapabilityImport is the name of the function in extism:host/user through
// which a guest asks for a capability.
const CapabilityImport = "toolquay_capability"

const (
	// hostModule is what imports that the kernel does not have are renamed to,
	// so that extism:host/env can be the kernel itself.
	hostModule = "toolquay:extism/1"
	// unknownEnv is what imports are renamed to that Extism does not have. The
	// kernel exports more than Extism means for guests.
	unknownEnv = moduleEnv + " (unknown)"
	// renameID names these renamings.
	renameID = "extism/1"
)

// rename says where an import leads.
func rename(module, name string) (newModule, newName string) {
	switch {
	case module == moduleUser && name == CapabilityImport:
		return hostModule, name
	case module != moduleEnv || slices.Contains(kernelFunctions, name):
		return module, name
	case hostFunctions[name].do != nil:
		return hostModule, name
	}
	return unknownEnv, name
}

// original is the name that a module was given for an import.
func original(module, name string) string {
	switch {
	case module == unknownEnv || module == hostModule && name != CapabilityImport:
		return moduleEnv
	case module == hostModule:
		return moduleUser
	}
	return module
}

// hostFunction is a function of Extism's that the host provides.
type hostFunction struct {
	engine.Signature
	do func(c *call, stack []uint64)
	// always is for functions that need no call: they always answer the same.
	always bool
}

// hostFunctions are those of extism:host/env that are not the kernel's, and the
// one of extism:host/user.
var hostFunctions = allHostFunctions()

func allHostFunctions() map[string]hostFunction {
	i32, i64 := []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}
	two := []api.ValueType{api.ValueTypeI64, api.ValueTypeI64}
	log := func(level string) hostFunction {
		return hostFunction{Signature: engine.Signature{Params: i64}, do: func(c *call, stack []uint64) { c.logBlock(level, stack[0]) }}
	}
	return map[string]hostFunction{
		CapabilityImport:   {Signature: engine.Signature{Params: i64, Results: i64}, do: (*call).capability},
		"config_get":       {Signature: engine.Signature{Params: i64, Results: i64}, do: (*call).configGet},
		"var_get":          {Signature: engine.Signature{Params: i64, Results: i64}, do: (*call).varGet},
		"var_set":          {Signature: engine.Signature{Params: two}, do: (*call).varSet},
		"http_request":     {Signature: engine.Signature{Params: two, Results: i64}, do: (*call).httpRequest},
		"http_status_code": {Signature: engine.Signature{Results: i32}, do: constant(0), always: true},
		"http_headers":     {Signature: engine.Signature{Results: i64}, do: constant(0), always: true},
		"get_log_level":    {Signature: engine.Signature{Results: i32}, do: constant(logLevel), always: true},
		"log_trace":        log(""),
		"log_debug":        log(""),
		"log_info":         log("info"),
		"log_warn":         log("warn"),
		"log_error":        log("error"),
	}
}

func constant(v uint64) func(*call, []uint64) {
	return func(_ *call, stack []uint64) { stack[0] = v }
}

// defineHost defines hostModule.
func defineHost(b wazero.HostModuleBuilder) {
	for name, f := range hostFunctions {
		b.NewFunctionBuilder().WithGoFunction(f.bound(), f.Params, f.Results).Export(name)
	}
}

// bound finds the call that the function serves: it is the context that guests
// run under. In a start there is none, and what needs one has to wait for it.
func (f hostFunction) bound() api.GoFunc {
	if f.always {
		return func(_ context.Context, stack []uint64) { f.do(nil, stack) }
	}
	return func(ctx context.Context, stack []uint64) {
		c, ok := ctx.(*call)
		if !ok {
			panic(errNeedsCall)
		}
		c.Check()
		f.do(c, stack)
	}
}
