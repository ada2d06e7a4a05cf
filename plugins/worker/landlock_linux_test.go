//go:build linux && !cgo

package worker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// beyond are ways to files that are none of a worker's business while it loads, dir
// being its own.
var beyond = map[string]func(dir string) error{
	"read":    func(string) error { _, err := os.ReadFile("/etc/passwd"); return err },
	"list":    func(string) error { _, err := os.ReadDir("/"); return err },
	"write":   func(dir string) error { return os.WriteFile(dir+".other", nil, 0o600) },
	"remove":  func(dir string) error { return os.Remove(filepath.Join(filepath.Dir(dir), "file")) },
	"move":    func(dir string) error { return os.Rename(dir, dir+".other") },
	"link":    func(dir string) error { return os.Symlink("/", filepath.Join(dir, "root")) },
	"environ": func(string) error { _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", parent)); return err },
	"memory":  func(string) error { _, err := os.Open(fmt.Sprintf("/proc/%d/mem", parent)); return err },
}

// parent is the host of a worker, which may not ask any more.
var parent = os.Getppid()

func init() {
	try := func(name string, act func(dir string) error) {
		probes["loading: "+name] = func(_ context.Context, inv plugins.Invocation) string {
			if err := act(inv.Cwd); err != nil {
				return err.Error()
			}
			return "it worked"
		}
	}
	for name, act := range beyond {
		try(name, act)
	}
	try("cache", useCache)
}

// useCache does with a directory what the engine does.
func useCache(dir string) error {
	sub, err := os.MkdirTemp(dir, "sub-*")
	if err != nil {
		return err
	}
	from, to := filepath.Join(sub, "entry"), filepath.Join(dir, "entry")
	if err := os.WriteFile(from, []byte("code"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(from, []byte("less"), 0o600); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if b, err := os.ReadFile(to); err != nil || string(b) != "less" {
		return fmt.Errorf("read %q: %w", b, err)
	}
	return os.RemoveAll(sub)
}

// TestLoadingReachesItsCacheAlone: a module that breaks out of the compiler finds
// no files but compiled code.
func TestLoadingReachesItsCacheAlone(t *testing.T) {
	if version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno != 0 || version < 2 {
		testenv.Missing(t, "the system has no Landlock, or an old one")
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(name string) string {
		o := options(t)
		o.CacheDir = root
		_, err := worker.New(abiProbe, o).Load(t.Context(), moduleOf([]byte("loading: "+name)))
		runnertest.WantCode(t, err, abi.CodeLoad)
		return err.Error()
	}
	for name := range beyond {
		if got := said(name); !strings.Contains(got, "permission denied") && !strings.Contains(got, "not permitted") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := said("cache"); got != "it worked" {
		t.Errorf("using the cache: %s", got)
	}
}
