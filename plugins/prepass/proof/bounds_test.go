package proof

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/plugins/prepass"
)

// refusedByDefault are the valid modules of the suites that the pre-pass refuses
// as it is configured by default, by what it says of them.
var refusedByDefault = map[string]string{
	// A br_table as long as that costs a compiler seconds.
	"v1/br_table.0.wasm": "24615 labels in a br_table, at most 16384 are allowed",
}

// TestDefaultBounds rewrites every valid module of the suites with the default
// bounds: all but those listed must pass.
func TestDefaultBounds(t *testing.T) {
	t.Parallel()
	got, modules := map[string]string{}, 0
	for _, suite := range suites {
		for i, file := range scripts(t, suite.dir) {
			if i%sampleEvery() != 0 && filepath.Base(file) != "br_table.json" {
				continue
			}
			s := readScript(t, file)
			for _, c := range s.Commands {
				if c.Type != "module" {
					continue
				}
				modules++
				if err := refusal(s.module(t, c)); err != "" {
					got[suite.dir+"/"+c.Filename] = err
				}
			}
		}
	}
	t.Logf("%d valid modules, %d refused", modules, len(got))
	if !maps.Equal(got, refusedByDefault) {
		t.Errorf("refused: %v\nwant: %v", got, refusedByDefault)
	}
}

// refusal is what the pre-pass says of a module that it refuses.
func refusal(wasm []byte) string {
	_, err := prepass.Rewrite(wasm, prepass.Options{})
	if err == nil {
		return ""
	}
	if e, ok := err.(*prepass.Error); ok { //nolint:errorlint // the type is promised, without wrapping
		return e.Message
	}
	return fmt.Sprintf("an error of another type, %T: %v", err, err)
}

// leftOut are the suites of features that are left out, and what the pre-pass
// says of valid modules that it refuses, in part. Others need nothing of the
// feature.
var leftOut = map[string][]string{
	"threads":            {"threads"},
	"exception-handling": {"exception handling", "garbage collection"},
	"typed-function-references": {
		"typed function references", "garbage collection", "unsupported proposal",
		"select takes one type", "not allowed in a constant expression", // of a type of the feature
		"4294967295 table entries at the start",
	},
}

// TestFeaturesAreRefused rewrites the valid modules of features that are left
// out: what is refused is refused by name.
func TestFeaturesAreRefused(t *testing.T) {
	t.Parallel()
	for suite, reasons := range leftOut {
		refused, modules := 0, 0
		for _, file := range scripts(t, suite) {
			s := readScript(t, file)
			for _, c := range s.Commands {
				if c.Type != "module" || c.Filename == "" {
					continue
				}
				modules++
				message := refusal(s.module(t, c))
				if message == "" {
					continue
				}
				refused++
				if !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(message, r) }) {
					t.Errorf("%s, %s: refused: %s", suite, c.Filename, message)
				}
			}
		}
		t.Logf("%s: %d of %d valid modules refused", suite, refused, modules)
		if refused == 0 {
			t.Errorf("%s: nothing was refused", suite)
		}
	}
}
