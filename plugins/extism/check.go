package extism

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// The modules that an Extism guest may import from.
const (
	moduleEnv  = "extism:host/env"
	moduleUser = "extism:host/user"
)

// CapabilityImport is the name of the function in extism:host/user through
// which a guest asks for a capability.
const CapabilityImport = "toolquay_capability"

// check compiles the module in a runtime of its own and looks at it before the
// SDK does: the SDK's errors name less, and what it made until then stays. The
// code is in the cache afterwards, so that the SDK finds it there.
func check(ctx context.Context, m plugins.Module, config wazero.RuntimeConfig) (err error) {
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	defer func() {
		if closing := runtime.Close(ctx); err == nil && closing != nil {
			err = abi.Errorf(abi.CodeInternal, "closing a runtime: %w", closing)
		}
	}()
	compiled, err := runtime.CompileModule(ctx, m.Wasm)
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "the module does not compile: %s", firstLine(err))
	}
	faults := append(checkImports(compiled), checkExports(compiled, m.Manifest.Tools)...)
	if len(faults) > 0 {
		return abi.Errorf(abi.CodeLoad, "the module %s", strings.Join(faults, "; it "))
	}
	return nil
}

func checkImports(c wazero.CompiledModule) []string {
	var faults []string
	for _, f := range c.ImportedFunctions() {
		module, name, _ := f.Import()
		switch {
		case module == moduleEnv || module == wasi_snapshot_preview1.ModuleName:
		case module == moduleUser && name == CapabilityImport:
		case module == moduleUser:
			faults = append(faults, fmt.Sprintf("imports %s.%s; the only function there is %s", module, name, CapabilityImport))
		default:
			faults = append(faults, fmt.Sprintf("imports %s.%s; Extism modules get %s, %s and %s", module, name, moduleEnv, moduleUser, wasi_snapshot_preview1.ModuleName))
		}
	}
	for _, m := range c.ImportedMemories() {
		module, name, _ := m.Import()
		faults = append(faults, fmt.Sprintf("imports the memory %s.%s; a plugin brings its own", module, name))
	}
	return faults
}

// exportOf is the export that runs a tool.
func exportOf(t *abi.Tool) string {
	if t.Export != "" {
		return t.Export
	}
	return t.Name
}

func checkExports(c wazero.CompiledModule, tools []abi.Tool) []string {
	have := c.ExportedFunctions()
	var faults []string
	for i := range tools {
		name := exportOf(&tools[i])
		f, ok := have[name]
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("has no export %q for the tool %s; it has %s (set the tool's export key)", name, tools[i].Name, callable(have)))
		case !isTool(f):
			faults = append(faults, fmt.Sprintf("exports %q with %d parameters and %d results; an Extism export takes none and returns at most one", name, len(f.ParamTypes()), len(f.ResultTypes())))
		}
	}
	return faults
}

func isTool(f api.FunctionDefinition) bool {
	return len(f.ParamTypes()) == 0 && len(f.ResultTypes()) <= 1
}

// maxNamed bounds the exports that an error names.
const maxNamed = 20

func callable(exports map[string]api.FunctionDefinition) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		if isTool(exports[name]) && !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none that could be a tool"
	}
	if more := len(names) - maxNamed; more > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
