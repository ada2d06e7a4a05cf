package direct

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
	"github.com/toolquay/toolquay/plugins/prepass"
)

var (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// signature is the type of an import or export.
type signature struct{ params, results []api.ValueType }

var (
	imports = map[string]signature{
		abi.ImportSubmit:   {[]api.ValueType{i32, i32}, []api.ValueType{i32}},
		abi.ImportWait:     {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
		abi.ImportRead:     {[]api.ValueType{i32, i32, i32}, []api.ValueType{i32}},
		abi.ImportCancel:   {[]api.ValueType{i32}, nil},
		abi.ImportProgress: {[]api.ValueType{i32, i32}, nil},
	}
	exports = map[string]signature{
		abi.ExportAlloc: {[]api.ValueType{i32}, []api.ValueType{i32}},
		abi.ExportCall:  {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
	}
	optionalExports = map[string]signature{
		abi.ExportAssess:     {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
		abi.ExportInitialize: {nil, nil},
	}
)

// shape is what a module was found to offer and need.
type shape struct {
	assess     bool
	initialize bool
	wasi       bool
}

// checkShape reads a compiled module's imports and exports. All faults are
// reported at once.
func checkShape(c wazero.CompiledModule) (shape, error) {
	var s shape
	var faults []string
	for _, f := range c.ImportedFunctions() {
		if fault := s.checkImport(f); fault != "" {
			faults = append(faults, fault)
		}
	}
	for _, m := range c.ImportedMemories() {
		module, name, _ := m.Import()
		faults = append(faults, fmt.Sprintf("imports the memory %s; a plugin brings its own and exports it", engine.ImportName(module, name)))
	}
	faults = append(faults, s.checkExports(c)...)
	faults = append(faults, checkMemory(c)...)
	if len(faults) > 0 {
		return s, abi.Errorf(abi.CodeLoad, "the module %s", engine.Faults(faults))
	}
	return s, nil
}

func (s *shape) checkImport(f api.FunctionDefinition) string {
	module, name, _ := f.Import()
	switch {
	case module == abi.ImportModule:
		want, ok := imports[name]
		if !ok {
			return fmt.Sprintf("imports %s, which version %d of the ABI does not have", engine.ImportName(module, name), abi.Version)
		}
		if !want.fits(f) {
			return fmt.Sprintf("imports %s.%s as %s; it is %s", module, name, signatureOf(f), want)
		}
	case module == engine.WASI:
		s.wasi = true
	case module == prepass.ImportModule:
	case strings.HasPrefix(module, "toolquay:host/"):
		return fmt.Sprintf("was built for %s; this host speaks %s", engine.PlainName(module), abi.ImportModule)
	default:
		return fmt.Sprintf("imports %s; only %s and %s are offered", engine.ImportName(module, name), abi.ImportModule, engine.WASI)
	}
	return ""
}

func (s *shape) checkExports(c wazero.CompiledModule) []string {
	have := c.ExportedFunctions()
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		f, ok := have[name]
		if !ok {
			faults = append(faults, fmt.Sprintf("does not export the function %s %s", name, exports[name]))
		} else if !exports[name].fits(f) {
			faults = append(faults, fmt.Sprintf("exports %s as %s; it must be %s", name, signatureOf(f), exports[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(optionalExports)) {
		f, ok := have[name]
		if ok && !optionalExports[name].fits(f) {
			faults = append(faults, fmt.Sprintf("exports %s as %s; it must be %s", name, signatureOf(f), optionalExports[name]))
		}
	}
	_, s.assess = have[abi.ExportAssess]
	_, s.initialize = have[abi.ExportInitialize]
	return faults
}

// checkMemory asks for the export only: the pre-pass holds the memory to its
// limit.
func checkMemory(c wazero.CompiledModule) []string {
	if _, ok := c.ExportedMemories()[abi.ExportMemory]; !ok {
		return []string{fmt.Sprintf("does not export its memory as %q", abi.ExportMemory)}
	}
	return nil
}

func (s signature) fits(f api.FunctionDefinition) bool {
	return slices.Equal(s.params, f.ParamTypes()) && slices.Equal(s.results, f.ResultTypes())
}

func (s signature) String() string { return typeNames(s.params) + " -> " + typeNames(s.results) }

func signatureOf(f api.FunctionDefinition) string {
	return signature{f.ParamTypes(), f.ResultTypes()}.String()
}

func typeNames(types []api.ValueType) string {
	names := make([]string, 0, len(types))
	for _, t := range types {
		names = append(names, api.ValueTypeName(t))
	}
	return "(" + strings.Join(names, ", ") + ")"
}
