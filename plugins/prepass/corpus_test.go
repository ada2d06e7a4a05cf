package prepass_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// corpus calls f with every module that lies about: the built-in plugins', the
// fixtures' and those of wazero's own tests, of these thousands with a tenth where CI is
// not set.
func corpus(tb testing.TB, f func(name string, wasm []byte)) {
	tb.Helper()
	n := 0
	roots := []string{"../..", filepath.Join(wazeroDir(tb), "internal/integration_test/spectest")}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "target" {
				return fs.SkipDir
			}
			if strings.HasSuffix(path, ".wasm") {
				if n++; root != roots[0] && n%10 > 0 && !testenv.Thorough() {
					return nil
				}
				wasm, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				f(strings.TrimPrefix(path, root+"/"), wasm)
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func wazeroDir(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestCorpus holds that a rewritten module is valid exactly where the original
// is, unless it is refused for what it asks for.
func TestCorpus(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	config := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	valid := func(wasm []byte) error {
		c, err := r.CompileModule(ctx, wasm)
		if err == nil {
			err = c.Close(ctx)
		}
		return err
	}
	var modules, refused int
	corpus(t, func(name string, wasm []byte) {
		modules++
		before := valid(wasm)
		m, err := prepass.Rewrite(wasm, prepass.Options{})
		switch {
		case err != nil && before == nil:
			refused++
			t.Logf("%s: %v", name, err)
		case err == nil:
			if after := valid(m.Wasm); (before == nil) != (after == nil) {
				t.Errorf("%s: before: %v, after: %v", name, before, after)
			}
		}
	})
	t.Logf("%d modules, %d valid ones refused", modules, refused)
}
