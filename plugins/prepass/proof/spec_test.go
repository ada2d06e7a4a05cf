package proof

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolquay/toolquay/internal/testenv"
)

// everything is every feature that is kept.
const everything = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// suites are the parts of the specification's tests that wazero carries.
var suites = []struct {
	dir      string
	features api.CoreFeatures
}{
	{"v1", api.CoreFeaturesV1},
	{"v2", api.CoreFeaturesV2},
	{"tail-call", api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall},
	{"extended-const", api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst},
}

// TestSpecification runs the specification's tests, each under every treatment:
// every command must end alike, and as the suite expects.
func TestSpecification(t *testing.T) {
	which := engines()
	if !testenv.Thorough() {
		which = which[:1]
	}
	for _, e := range which {
		for _, suite := range suites {
			t.Run(e.name+"/"+suite.dir, func(t *testing.T) {
				var total tally
				cache := wazero.NewCompilationCache()
				t.Cleanup(func() {
					t.Log(&total)
					if err := cache.Close(context.WithoutCancel(t.Context())); err != nil {
						t.Error(err)
					}
				})
				config := e.config().WithCoreFeatures(suite.features).WithCompilationCache(cache)
				for i, file := range scripts(t, suite.dir) {
					if i%sampleEvery() != 0 {
						continue
					}
					t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
						t.Parallel()
						c := comparison{t: t, config: config, total: &total}
						c.run(readScript(t, file))
					})
				}
			})
		}
	}
}

// scripts are the files of a suite.
func scripts(t *testing.T, suite string) []string {
	t.Helper()
	dir := filepath.Join(suiteDir(), suite, "testdata")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		testenv.Missing(t, "the module cache does not hold the specification's tests, which wazero carries, in "+dir)
	}
	return files
}

// suiteDir is where wazero's module keeps the suites; empty where there is no
// module cache.
var suiteDir = sync.OnceValue(func() string {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero")
	list.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	dir, err := list.Output()
	if err != nil {
		return ""
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "internal", "integration_test", "spectest")
})
