package host_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// cachedIn returns a host with layers of caches, whose commands find programs where the
// system keeps them.
func cachedIn(t *testing.T, layers string, environ ...string) *shelled {
	t.Helper()
	return newShelled(t, func(o *host.Options) {
		o.Shell.Sandbox.Caches = layers
		o.Shell.Environ = append([]string{"PATH=/usr/bin:/bin:" + os.Getenv("PATH"), "HOME=" + o.Paths.Home, "LANG=C.UTF-8"}, environ...)
		o.Shell.Environment = []string{"GO*", "RUSTUP_HOME"}
	})
}

// succeeds runs a command, which must.
func succeeds(t *testing.T, s *host.Session, command string) string {
	t.Helper()
	got := s.Results(t.Context(), []abi.ToolUse{bash("1", command, map[string]any{"timeout": 300_000})})[0]
	if got.IsError {
		t.Fatalf("%s: %s", command, got.Text())
	}
	return got.Text()
}

// unchanged returns a function that holds all below a directory to what it was.
func unchanged(t *testing.T, dir string) func() {
	t.Helper()
	before := tree(t, dir)
	return func() {
		t.Helper()
		was := strings.Split(before, "\n")
		for line := range strings.SplitSeq(tree(t, dir), "\n") {
			if !slices.Contains(was, line) {
				t.Errorf("changed or new: %s", line)
			}
		}
	}
}

// tree lists names, modes and contents of all below a directory, but for the host's own state.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == filepath.Join(dir, "state") {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, _ := os.ReadFile(path) // directories have none
		fmt.Fprintf(&b, "%s %v %x\n", path, info.Mode(), sha256.Sum256(content))
		return nil
	}))
	return b.String()
}

// zipped is an archive of files.
func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		f, err := w.Create(name)
		must(t, err)
		_, err = f.Write([]byte(content))
		must(t, err)
	}
	must(t, w.Close())
	return b.String()
}

const (
	depMod = "module example.com/dep\n\ngo 1.20\n"
	depGo  = "package dep\n\nconst Word = \"clean\"\n"
)

// goProject makes a module that needs another one, and a proxy that has it. Building it takes
// no package of the standard library, its test some.
func goProject(t *testing.T) (dir, proxy string) {
	t.Helper()
	dir = files(t, map[string]string{
		"go.mod":                               "module example.com/p\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n",
		"p.go":                                 "package p\n\nimport \"example.com/dep\"\n\nconst Word = dep.Word\n",
		"p_test.go":                            "package p\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n",
		"poison.sh":                            "cd $(go env GOMODCACHE)/example.com/dep@v1.0.0 && chmod -R u+w . && sed -i s/Word/Poison/ dep.go\n",
		"proxy/example.com/dep/@v/list":        "v1.0.0\n",
		"proxy/example.com/dep/@v/v1.0.0.mod":  depMod,
		"proxy/example.com/dep/@v/v1.0.0.info": `{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`,
		"proxy/example.com/dep/@v/v1.0.0.zip":  zipped(t, map[string]string{"example.com/dep@v1.0.0/go.mod": depMod, "example.com/dep@v1.0.0/dep.go": depGo}),
	})
	return dir, "GOPROXY=file://" + filepath.Join(dir, "proxy")
}

// goOutside runs go as the user does.
func goOutside(t *testing.T, dir, home string, environ []string, args ...string) string {
	t.Helper()
	telemetry := filepath.Join(home, ".config/go/telemetry") // go writes to it when it has ended, too
	must(t, os.MkdirAll(telemetry, 0o700))
	must(t, os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o600))
	cmd := exec.CommandContext(context.Background(), testenv.NeedTool(t, "go"), args...)
	cmd.Dir, cmd.Env = dir, append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GOTOOLCHAIN=local"}, environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestGoCaches has a fresh user's commands download and build, without a change to the user's
// caches; what they put into theirs, nobody else runs. Thoroughly, they test too, which compiles
// half a hundred packages of the standard library.
func TestGoCaches(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "go")
	dir, proxy := goProject(t)
	second, further := goProject(t)
	proxy += strings.Replace(further, "GOPROXY=", ",", 1) // a command does not see the other project's
	layers := filepath.Join(t.TempDir(), "layers")
	h := cachedIn(t, layers, proxy, "GOSUMDB=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	same := unchanged(t, h.home)
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	succeeds(t, s, "go build ./...")
	if testenv.Thorough() {
		succeeds(t, s, "go test ./...")
	}
	same()
	succeeds(t, s, "sh ./poison.sh")
	if got := told(t, s, "go build ./..."); !strings.Contains(got, "undefined: dep.Word") {
		t.Errorf("the project's own cache is not as it was left: %q", got)
	}
	other := session(t, h.Host, host.SessionOptions{Cwd: second})
	if got := succeeds(t, other, "go build ./... && ls "+layers+"/*"); strings.Count(got, "go-build") != 1 {
		t.Errorf("another project sees %q", got)
	}
	same()
	goOutside(t, dir, h.home, []string{proxy, "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw"}, "build", "./...")
}

// TestGoCachesBelow has commands without a network use the modules that the user has.
func TestGoCachesBelow(t *testing.T) {
	t.Parallel()
	dir, proxy := goProject(t)
	h := cachedIn(t, filepath.Join(t.TempDir(), "layers"), "GOTOOLCHAIN=local", "GOPRIVATE=example.com")
	goOutside(t, dir, h.home, []string{proxy, "GOSUMDB=off", "GOFLAGS=-mod=mod"}, "mod", "download", "all")
	must(t, os.RemoveAll(filepath.Join(dir, "proxy")))
	t.Cleanup(func() { goOutside(t, dir, h.home, nil, "clean", "-modcache") })
	same := unchanged(t, h.home)
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	succeeds(t, s, "go build ./...")
	same()
}

// TestWritableCache: a cache that settings make writable has no layer.
func TestWritableCache(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "go")
	dir, proxy := goProject(t)
	var home string
	h := newShelled(t, func(o *host.Options) {
		home = o.Paths.Home
		o.Shell.Sandbox.Caches, o.Shell.Sandbox.Writable = filepath.Join(t.TempDir(), "layers"), []string{home + "/.cache/go-build", home + "/go"}
		o.Shell.Environ = append(o.Shell.Environ, proxy, "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw", "GOTOOLCHAIN=local")
		o.Shell.Environment = []string{"GO*"}
	})
	must(t, os.MkdirAll(home+"/.cache/go-build", 0o700))
	must(t, os.MkdirAll(home+"/go", 0o700))
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	succeeds(t, s, "go build ./...")
	for _, name := range []string{".cache/go-build/README", "go/pkg/mod/example.com/dep@v1.0.0/dep.go"} {
		if _, err := os.Stat(filepath.Join(home, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestOtherCaches has a fresh user's commands install and build with other tools.
func TestOtherCaches(t *testing.T) {
	t.Parallel()
	for tool, test := range map[string]struct {
		files   map[string]string
		command string
	}{
		"npm": {map[string]string{
			"package.json":  `{"name":"p","version":"1.0.0","dependencies":{"dep":"file:dep-1.0.0.tgz"}}`,
			"dep-1.0.0.tgz": tarred(t, "package/package.json", `{"name":"dep","version":"1.0.0"}`),
		}, "npm install && test -f node_modules/dep/package.json"},
		"cargo": {map[string]string{
			"Cargo.toml":     "[package]\nname = \"p\"\nversion = \"0.1.0\"\n\n[dependencies]\ndep = { path = \"dep\" }\n",
			"src/main.rs":    "fn main() { println!(\"{}\", dep::WORD); }\n",
			"dep/Cargo.toml": "[package]\nname = \"dep\"\nversion = \"0.1.0\"\n",
			"dep/src/lib.rs": "pub const WORD: &str = \"clean\";\n",
		}, "cargo run"},
		"python3": {map[string]string{
			"wheels/dep-1.0.0-py3-none-any.whl": zipped(t, map[string]string{
				"dep.py":                       "WORD = 'clean'\n",
				"dep-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: dep\nVersion: 1.0.0\n",
				"dep-1.0.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
				"dep-1.0.0.dist-info/RECORD":   "",
			}),
		}, "python3 -m venv v && v/bin/pip install --no-index --find-links=wheels dep && v/bin/python -c 'import dep'"},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			testenv.NeedTool(t, tool)
			h := cachedIn(t, filepath.Join(t.TempDir(), "layers"), "RUSTUP_HOME="+os.ExpandEnv("$HOME/.rustup"))
			same := unchanged(t, h.home)
			s := session(t, h.Host, host.SessionOptions{Cwd: files(t, test.files)})
			if got := succeeds(t, s, test.command); strings.Contains(got, "read-only") {
				t.Errorf("it says %q", got)
			}
			same()
		})
	}
}

// tarred is a compressed archive of one file.
func tarred(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
	_, err := w.Write([]byte(content))
	must(t, err)
	must(t, w.Close())
	must(t, packed.Close())
	return b.String()
}

// TestNetworkEnvironment: where there is no network, programs that download give up at once;
// where it is by host, they reach their own loopback without the proxy, and a name that a
// rule allows by it.
func TestNetworkEnvironment(t *testing.T) {
	t.Parallel()
	const show = "bash ./show.sh | grep -E 'RETR|retries|no_proxy|NO_PROXY|JAVA|NODE_USE' | sort"
	for _, test := range []struct {
		network     host.SandboxNetwork
		allow       string
		wants, lack []string
	}{
		{host.NetworkOff, "Bash", []string{"PIP_RETRIES=3", "npm_config_fetch_retries=0", "CARGO_NET_RETRY=0"}, []string{"PIP_RETRIES=0", "JAVA"}},
		{host.NetworkHosts, "Bash", []string{"npm_config_fetch_retries=0"}, []string{"JAVA"}},
		{host.NetworkHosts, "Bash | WebFetch(domain:registry.example)", []string{"no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1", "proxyPort="}, []string{"CARGO_NET_RETRY", "TOOLQUAY"}},
		{host.NetworkHosts, "Bash | WebFetch(domain:127.0.0.1)", []string{"no_proxy=localhost,::1\n"}, nil},
		{host.NetworkAll, "Bash", nil, []string{"CARGO_NET_RETRY", "proxy", "NODE"}},
	} {
		h := newShelled(t, func(o *host.Options) {
			o.Shell.Sandbox.Network, o.Permissions.Rules = test.network, rules("", "", test.allow)
			o.Shell.Environ, o.Shell.Environment = append(o.Shell.Environ, "PIP_RETRIES=3"), []string{"PIP_*"}
		})
		got := succeeds(t, session(t, h.Host, host.SessionOptions{Cwd: files(t, map[string]string{"show.sh": "env"})}), show)
		for _, want := range test.wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s, %s: %q is not in %q", test.network, test.allow, want, got)
			}
		}
		for _, lack := range test.lack {
			if strings.Contains(got, lack) {
				t.Errorf("%s, %s: %q is in %q", test.network, test.allow, lack, got)
			}
		}
	}
}
