package direct

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
	"github.com/toolquay/toolquay/plugins/prepass"
)

var (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

var (
	imports = map[string]engine.Signature{
		abi.ImportSubmit:   {Params: []api.ValueType{i32, i32}, Results: []api.ValueType{i32}},
		abi.ImportWait:     {Params: []api.ValueType{i32, i32}, Results: []api.ValueType{i64}},
		abi.ImportRead:     {Params: []api.ValueType{i32, i32, i32}, Results: []api.ValueType{i32}},
		abi.ImportCancel:   {Params: []api.ValueType{i32}},
		abi.ImportProgress: {Params: []api.ValueType{i32, i32}},
	}
	exports = map[string]engine.Signature{
		abi.ExportAlloc: {Params: []api.ValueType{i32}, Results: []api.ValueType{i32}},
		abi.ExportCall:  {Params: []api.ValueType{i32, i32}, Results: []api.ValueType{i64}},
	}
	optionalExports = map[string]engine.Signature{
		abi.ExportAssess:     {Params: []api.ValueType{i32, i32}, Results: []api.ValueType{i64}},
		abi.ExportInitialize: {},
	}
)

// shape is what a module was found to offer and need.
type shape struct {
	assess     bool
	initialize bool
	wasi       bool
}

// checkShape reads a module's imports and exports. All faults are reported at once.
func checkShape(i *prepass.Interface) (shape, error) {
	s, faults := examine(i)
	if len(faults) > 0 {
		return s, abi.Errorf(abi.CodeLoad, "the module %s", engine.Faults(faults))
	}
	return s, nil
}

// examine finds a module's shape, and everything for which it cannot be run.
func examine(i *prepass.Interface) (s shape, faults []string) {
	for n := range i.Imports {
		if fault := s.checkImport(&i.Imports[n]); fault != "" {
			faults = append(faults, fault)
		}
	}
	faults = append(faults, s.checkExports(i)...)
	if m := i.Export(abi.ExportMemory); m == nil || m.Kind != prepass.KindMemory {
		faults = append(faults, fmt.Sprintf("does not export its memory as %q", abi.ExportMemory))
	}
	return s, faults
}

func (s *shape) checkImport(i *prepass.External) string {
	if i.Kind != prepass.KindFunc {
		return engine.CheckImport(i)
	}
	switch {
	case i.Module == abi.ImportModule:
		want, ok := imports[i.Name]
		if !ok {
			return fmt.Sprintf("imports %s, which version %d of the ABI does not have", engine.ImportName(i.Module, i.Name), abi.Version)
		}
		if !want.Fits(i) {
			return fmt.Sprintf("imports %s.%s as %s; it is %s", i.Module, i.Name, engine.SignatureOf(i), want)
		}
	case i.Module == engine.WASI:
		s.wasi = true
		return engine.CheckWASI(i)
	case i.Module == prepass.ImportModule:
	case strings.HasPrefix(i.Module, "toolquay:host/"):
		return fmt.Sprintf("was built for %s; this host speaks %s", engine.PlainName(i.Module), abi.ImportModule)
	default:
		return fmt.Sprintf("imports %s; only %s and %s are offered", engine.ImportName(i.Module, i.Name), abi.ImportModule, engine.WASI)
	}
	return ""
}

func (s *shape) checkExports(i *prepass.Interface) []string {
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		switch f := exported(i, name); {
		case f == nil:
			faults = append(faults, fmt.Sprintf("does not export the function %s %s", name, exports[name]))
		case !exports[name].Fits(f):
			faults = append(faults, fmt.Sprintf("exports %s as %s; it must be %s", name, engine.SignatureOf(f), exports[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(optionalExports)) {
		if f := exported(i, name); f != nil && !optionalExports[name].Fits(f) {
			faults = append(faults, fmt.Sprintf("exports %s as %s; it must be %s", name, engine.SignatureOf(f), optionalExports[name]))
		}
	}
	s.assess = exported(i, abi.ExportAssess) != nil
	s.initialize = exported(i, abi.ExportInitialize) != nil
	return faults
}

// exported is the exported function of a name, or nil.
func exported(i *prepass.Interface, name string) *prepass.External {
	if f := i.Export(name); f != nil && f.Kind == prepass.KindFunc {
		return f
	}
	return nil
}
