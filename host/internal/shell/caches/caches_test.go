package caches_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/caches"
)

// made makes files, and returns the real path of the directory they are in.
func made(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opened(t *testing.T, o caches.Options, r caches.Request) caches.Layer {
	t.Helper()
	l, err := o.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// value is that of a variable in a layer's environment.
func value(l caches.Layer, name string) string {
	for _, setting := range l.Environment {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// TestLayers: each project has one of its own, private to the user, and all tools use it.
func TestLayers(t *testing.T) {
	t.Parallel()
	dir := made(t)
	o := caches.Options{Root: filepath.Join(dir, "cache/layers"), Home: filepath.Join(dir, "home")}
	a, b := opened(t, o, caches.Request{Project: "/a"}), opened(t, o, caches.Request{Project: "/b"})
	if again := opened(t, o, caches.Request{Project: "/a"}); again.Dir != a.Dir || a.Dir == b.Dir {
		t.Errorf("the layers are %s, %s and %s", a.Dir, again.Dir, b.Dir)
	}
	for _, c := range caches.Table {
		if got := value(a, c.Variable); c.Variable != "" && got != filepath.Join(a.Dir, c.Dir) {
			t.Errorf("%s: %s is %q", c.Tool, c.Variable, got)
		}
	}
	if got := value(a, "MAVEN_OPTS"); got != "-Dmaven.repo.local="+a.Dir+"/maven -Dmaven.repo.local.tail="+o.Home+"/.m2/repository" {
		t.Errorf("maven has %q", got)
	}
	if got := value(a, "GOPATH"); got != a.Dir+"/go:"+o.Home+"/go" || value(a, "GOPROXY") != "" {
		t.Errorf("go has %q and %q", got, value(a, "GOPROXY"))
	}
	for _, path := range []string{o.Root, a.Dir} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	must(t, os.Chmod(o.Root, 0o777)) // somebody else's doing
	if _, err := o.Open(caches.Request{Project: "/c"}); err == nil {
		t.Error("a directory that others may write in is used")
	}
}

// TestWhatIsReal: what is writable anyway has no layer, and what the project's own settings
// move, none either.
func TestWhatIsReal(t *testing.T) {
	t.Parallel()
	dir := made(t, "project/.yarnrc.yml", "home/.cache/go-build/x", "elsewhere/pip/x")
	must(t, os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "home/moved")))
	o := caches.Options{
		Root: filepath.Join(dir, "layers"), Home: filepath.Join(dir, "home"),
		Environ: []string{"PIP_CACHE_DIR=" + filepath.Join(dir, "home/moved/pip"), "UV_CACHE_DIR=relative"},
	}
	l := opened(t, o, caches.Request{Project: filepath.Join(dir, "project"), Open: []string{filepath.Join(dir, "home/.cache/go-build"), filepath.Join(dir, "elsewhere"), filepath.Join(dir, "home/.cargo")}})
	for name, want := range map[string]string{
		"GOCACHE": "", "CARGO_HOME": "", "YARN_CACHE_FOLDER": "", "PIP_CACHE_DIR": filepath.Join(dir, "home/moved/pip"),
		"UV_CACHE_DIR": filepath.Join(l.Dir, "uv"), "YARN_GLOBAL_FOLDER": filepath.Join(l.Dir, "yarn-berry"),
	} {
		if got := value(l, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestBelow: tools find what the user has, and what a command left in the way is not followed.
func TestBelow(t *testing.T) {
	t.Parallel()
	const index = "registry/index/example-1/.cache/3/d/dep"
	const toolchain = "golang.org/toolchain@v0.0.1-go1.99.linux-amd64"
	dir := made(t, "home/.cargo/config.toml", "home/.cargo/credentials.toml", "home/.cargo/registry/cache/example-1/dep-1.0.0.crate", "home/.cargo/"+index,
		"mod/cache/download/x", "mod/"+toolchain+"/bin/go", "mod/cache/download/golang.org/toolchain/@v/v0.0.1-go1.99.linux-amd64.ziphash",
		"home/.gradle/caches/modules-2/x", "secret")
	o := caches.Options{Root: filepath.Join(dir, "layers"), Home: filepath.Join(dir, "home"), Environ: []string{"GOMODCACHE=" + filepath.Join(dir, "mod")}}
	must(t, os.MkdirAll(o.Dir("/p"), 0o700))
	must(t, os.Chmod(o.Root, 0o700))
	must(t, os.Symlink(dir, filepath.Join(o.Dir("/p"), "gradle")))
	request := caches.Request{Project: "/p", Environment: []string{"GOPROXY=off", "GOPATH=/mine", "MAVEN_OPTS=-Xmx1g"}, Offline: true}
	l := opened(t, o, request)
	for name, want := range map[string]string{
		"GOPROXY": "file://" + dir + "/mod/cache/download,off", "GONOPROXY": "none", "GOPATH": l.Dir + "/go:/mine", "GRADLE_RO_DEP_CACHE": dir + "/home/.gradle/caches",
	} {
		if got := value(l, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := value(l, "MAVEN_OPTS"); !strings.HasPrefix(got, "-Xmx1g -Dmaven.repo.local="+l.Dir) {
		t.Errorf("maven has %q", got)
	}
	for _, name := range []string{"cargo/config.toml", "cargo/registry/cache/example-1/dep-1.0.0.crate", "cargo/" + index, "go/pkg/mod/" + toolchain + "/bin/go"} {
		if _, err := os.Stat(filepath.Join(l.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(l.Dir, "cargo/credentials.toml")); err == nil {
		t.Error("the credentials are there")
	}
	must(t, os.RemoveAll(filepath.Join(l.Dir, "cargo")))
	must(t, os.Symlink(dir, filepath.Join(l.Dir, "cargo")))
	before, err := os.ReadDir(dir)
	must(t, err)
	opened(t, o, request)
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Errorf("a link out of the layer was followed: %v, %v", after, err)
	}
}

// TestRemove removes a layer, read-only directories and all, and what a crash left of one.
func TestRemove(t *testing.T) {
	t.Parallel()
	o := caches.Options{Root: filepath.Join(made(t), "layers")}
	old, used := opened(t, o, caches.Request{Project: "/old"}), opened(t, o, caches.Request{Project: "/used"})
	must(t, os.MkdirAll(filepath.Join(old.Dir, "go/pkg/mod/x"), 0o700))
	must(t, os.Chmod(filepath.Join(old.Dir, "go/pkg/mod"), 0o555))
	left := "removed-" + filepath.Base(opened(t, o, caches.Request{Project: "/left"}).Dir)
	must(t, os.Rename(filepath.Join(o.Root, strings.TrimPrefix(left, "removed-")), filepath.Join(o.Root, left)))
	for _, name := range []string{filepath.Base(old.Dir), left} {
		if !caches.IsLayer(name) {
			t.Errorf("%s is not taken for a layer", name)
		}
		must(t, caches.Remove(o.Root, name))
	}
	for _, name := range []string{"mine", "", "removed-", strings.Repeat("g", 24)} {
		if caches.IsLayer(name) {
			t.Errorf("%s is taken for a layer", name)
		}
	}
	entries, err := os.ReadDir(o.Root)
	must(t, err)
	if names := slices.Collect(func(yield func(string) bool) {
		for _, e := range entries {
			if !yield(e.Name()) {
				return
			}
		}
	}); !slices.Equal(names, []string{filepath.Base(used.Dir)}) {
		t.Errorf("left are %q", names)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
