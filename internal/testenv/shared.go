package testenv

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// CompileCache is the directory in which the tests of all packages keep what they
// compile, from one run to the next. Entries are found by the hash of a module; and as
// the binary of a test does not know the version of the engine that is in it, the
// versions that this module asks for are in the directory's name. Tests of the cache
// itself take a directory of their own.
func CompileCache() string { return filepath.Join(CacheHome(), "toolquay", "compiled") }

// CacheHome is the XDG_CACHE_HOME with which the command keeps what it compiles there.
func CacheHome() string { return shared("cache-" + versions()) }

// startDir is where tests start: the directory of their package. They may go elsewhere.
var startDir, _ = os.Getwd()

// versions is a hash over the go.mod and go.sum of this module.
var versions = sync.OnceValue(func() string {
	for dir := startDir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		asked, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			continue
		}
		sums, _ := os.ReadFile(filepath.Join(dir, "go.sum"))
		return fmt.Sprintf("%.8x", sha256.Sum256(append(asked, sums...)))
	}
	return fmt.Sprint("of-", os.Getpid()) // not known: shared with nobody
})

// shared names a directory of this user's that all tests have in common.
func shared(name string) string {
	return filepath.Join(tempDir, fmt.Sprintf("toolquay-tests-%d", os.Geteuid()), name)
}

// tempDir is that of the start: tests may set another.
var tempDir = os.TempDir()

// buildTime is how long a test waits for another that builds the same: the first
// one of a machine compiles the standard library.
const buildTime = 10 * time.Minute

// built holds the paths that this process has built: go build is slow to see that nothing
// changed.
var built sync.Map

// GoGuest is the guest that a package of a Go module of this repository becomes
// with the Go of this machine; dir is the module's directory, pkg the package's in it. It is built once for
// all packages, and again after a change: go build finds that out, once in a process. Like
// what the build.sh of a plugin makes it has no path of this machine in it, and the standard library
// is compiled once for both.
func GoGuest(tb testing.TB, dir, pkg string) []byte {
	tb.Helper()
	path, unlock := goBuild(tb, dir, pkg, ".wasm", []string{"-buildmode=c-shared", "-trimpath"}, "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	defer unlock()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// GoProgram is the path of the program that a package of this module becomes; pkg is
// its directory from here. It is built as rarely as a guest.
func GoProgram(tb testing.TB, pkg string) string {
	tb.Helper()
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	path, unlock := goBuild(tb, pkg, "", suffix, nil)
	unlock()
	return path
}

// goBuild builds a package, once in a process, and keeps other processes from building it
// until it is unlocked.
func goBuild(tb testing.TB, dir, pkg, suffix string, flags []string, env ...string) (path string, unlock func()) {
	tb.Helper()
	NeedTool(tb, "go")
	module, err := filepath.Abs(dir)
	if err != nil {
		tb.Fatal(err)
	}
	source := filepath.Join(module, pkg)
	path = filepath.Join(shared("built"), fmt.Sprintf("%s-%x%s", filepath.Base(source), sha256.Sum256([]byte(source)), suffix))
	if err := privatedir.Make(filepath.Dir(path)); err != nil {
		tb.Fatal(err)
	}
	unlock, err = filelock.Path(path+".lock", buildTime)
	if err != nil {
		tb.Fatal(err)
	}
	if _, done := built.Load(path); done {
		return path, unlock
	}
	build := exec.CommandContext(tb.Context(), "go", slices.Concat([]string{"build"}, flags, []string{"-o", path, "./" + filepath.ToSlash(pkg)})...)
	build.Dir, build.Env = module, append(os.Environ(), env...)
	if said, err := build.CombinedOutput(); err != nil {
		unlock()
		if bytes.Contains(said, []byte("dial tcp")) || bytes.Contains(said, []byte("module lookup disabled")) {
			Missing(tb, "a module that "+module+" needs cannot be fetched")
		}
		tb.Fatalf("building %s in %s: %v\n%s", pkg, module, err, said)
	}
	built.Store(path, true)
	return path, unlock
}
