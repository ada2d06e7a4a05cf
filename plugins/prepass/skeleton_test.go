package prepass_test

import (
	"bytes"
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// TestSkeletons of valid modules are valid, smaller, and look the same from outside.
func TestSkeletons(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	defer r.Close(ctx)
	compared := 0
	corpus(t, func(name string, wasm []byte) {
		m, err := prepass.Rewrite(wasm, prepass.Options{})
		if err != nil {
			return
		}
		whole, err := r.CompileModule(ctx, m.Wasm)
		if err != nil {
			return // of those nobody needs a skeleton
		}
		defer whole.Close(ctx)
		bare := m.AppendSkeleton(make([]byte, 0, m.MaxSkeleton()))
		if cap(bare) != m.MaxSkeleton() {
			t.Errorf("%s: its skeleton of %d bytes took more room than %d", name, len(bare), m.MaxSkeleton())
		}
		skeleton, err := r.CompileModule(ctx, bare)
		if err != nil {
			t.Errorf("%s: its skeleton is invalid: %v", name, err)
			return
		}
		defer skeleton.Close(ctx)
		if want, have := surface(whole), surface(skeleton); !reflect.DeepEqual(want, have) {
			t.Errorf("%s: its skeleton shows %v, not %v", name, have, want)
		}
		compared++
	})
	if compared < 100 {
		t.Errorf("%d modules were compared", compared)
	}
}

// surface is what a module imports and exports.
func surface(m wazero.CompiledModule) (all []any) {
	functions := append(m.ImportedFunctions(), sorted(m.ExportedFunctions())...)
	for _, f := range functions {
		from, as, _ := f.Import()
		all = append(all, f.Index(), f.Name(), from, as, f.ParamTypes(), f.ResultTypes(), f.ExportNames())
	}
	for _, memory := range append(m.ImportedMemories(), sorted(m.ExportedMemories())...) {
		most, stated := memory.Max()
		all = append(all, memory.Index(), memory.Min(), most, stated)
	}
	return all
}

func sorted[D any](byName map[string]D) (all []D) {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

// TestSkeletonsDiffer where modules differ in nothing but what a function does.
func TestSkeletonsDiffer(t *testing.T) {
	t.Parallel()
	skeleton := func(answer int32) (module, skeleton []byte) {
		m := new(wasmgen.Module)
		m.Export("f", wasmgen.Function, m.Func(wasmgen.Sig(nil, []wasmgen.ValType{wasmgen.I32}), new(wasmgen.Code).I32(answer)))
		rewritten, err := prepass.Rewrite(m.Bytes(), prepass.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return rewritten.Wasm, rewritten.AppendSkeleton(nil)
	}
	wholeA, a := skeleton(1)
	wholeB, b := skeleton(2)
	if len(wholeA) != len(wholeB) || bytes.Equal(a, b) {
		t.Errorf("%x and %x have the skeletons %x and %x", wholeA, wholeB, a, b)
	}
	if _, again := skeleton(1); !bytes.Equal(a, again) {
		t.Error("a skeleton is not the same twice")
	}
}
