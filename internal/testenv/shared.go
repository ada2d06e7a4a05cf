package testenv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// CompileCache is the directory in which the tests of all packages keep what they
// compile, from one run to the next: entries are found by the hash of a module and
// the version of the engine. Tests of the cache itself take a directory of their own.
func CompileCache() string { return shared("compiled") }

// shared names a directory of this user's that all tests have in common.
func shared(name string) string {
	return filepath.Join(tempDir, fmt.Sprintf("toolquay-tests-%d", os.Geteuid()), name)
}

// tempDir is that of the start: tests may set another.
var tempDir = os.TempDir()

// GoGuest is the guest that a package of a Go module of this repository becomes
// with the Go of this machine; dir is the module's directory, pkg the package's in it. It is built once for
// all packages, and again after a change: go build finds that out.
func GoGuest(tb testing.TB, dir, pkg string) []byte {
	tb.Helper()
	NeedTool(tb, "go")
	module, err := filepath.Abs(dir)
	if err != nil {
		tb.Fatal(err)
	}
	source := filepath.Join(module, pkg)
	out := filepath.Join(shared("guests"), fmt.Sprintf("%s-%x.wasm", filepath.Base(source), sha256.Sum256([]byte(source))))
	if err := privatedir.Make(filepath.Dir(out)); err != nil {
		tb.Fatal(err)
	}
	unlock, err := filelock.Path(out+".lock", Patience)
	if err != nil {
		tb.Fatal(err)
	}
	defer unlock()
	build := exec.CommandContext(tb.Context(), "go", "build", "-buildmode=c-shared", "-o", out, "./"+filepath.ToSlash(pkg))
	build.Dir = module
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("building %s in %s: %v\n%s", pkg, module, err, said)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
