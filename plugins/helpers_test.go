package plugins_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain runs more tests at once: some wait for files that are to be read.
func TestMain(m *testing.M) {
	testenv.Waiting()
	var err error
	if rested.root, err = os.MkdirTemp("", "toolquay-plugins-"); err != nil {
		panic(err)
	}
	m.Run()
	_ = os.RemoveAll(rested.root)
}

// fixture is one of the direct runner's modules.
func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("direct", "testdata", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

const anyObject = `{"type":"object"}`

// manifest writes a plugin.toml with tools of the given names. Lines that
// belong at its top come first.
func manifest(name, top string, tools ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "manifest = 1\nname = %q\nversion = \"1.0.0\"\n%s\n", name, top)
	for _, tool := range tools {
		fmt.Fprintf(&b, "[[tools]]\nname = %q\ninput_schema = '%s'\n", tool, anyObject)
	}
	return b.String()
}

const wantsRead = "[[capabilities]]\nname = \"fs.read\"\nreason = \"to show files\"\n"

func write(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		tb.Fatal(err)
	}
}

// folder makes a folder plugin and returns its path.
func folder(tb testing.TB, dir, name, toml string, module []byte) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	write(tb, filepath.Join(path, abi.ManifestFile), []byte(toml))
	write(tb, filepath.Join(path, name+".wasm"), module)
	return path
}

// single packs a manifest into a module and returns the file's path.
func single(tb testing.TB, dir, file, toml string, module []byte) string {
	tb.Helper()
	packed, err := plugins.AppendCustomSection(module, abi.SectionManifest, []byte(toml))
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, file)
	write(tb, path, packed)
	return path
}

func user(dir string) plugins.Source    { return plugins.Dir(plugins.OriginUser, dir) }
func builtin(dir string) plugins.Source { return plugins.Dir(plugins.OriginBuiltin, dir) }

// open opens a set on the real runner, or on the one that o has.
func open(tb testing.TB, o plugins.Options, sources ...plugins.Source) *plugins.Set {
	tb.Helper()
	if o.Runners == nil {
		o.Runners = []plugins.Runner{direct.New(direct.Options{})}
	}
	if o.Capabilities == nil {
		o.Capabilities = []string{abi.CapFSRead}
	}
	o.Sources = append(o.Sources, sources...)
	set, err := plugins.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := set.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	return set
}

func plugin(tb testing.TB, set *plugins.Set, name string) *plugins.Plugin {
	tb.Helper()
	p, ok := set.Plugin(name)
	if !ok {
		tb.Fatalf("there is no plugin %s among %v", name, pluginNames(set))
	}
	return p
}

func tool(tb testing.TB, set *plugins.Set, name string) *plugins.Tool {
	tb.Helper()
	t, ok := set.Tool(name)
	if !ok {
		for _, p := range set.Plugins() {
			tb.Logf("%s: %v", p.Path, p.Problem())
		}
		tb.Fatalf("there is no tool %s", name)
	}
	return t
}

func pluginNames(set *plugins.Set) []string {
	var names []string
	for _, p := range set.Plugins() {
		names = append(names, p.Name)
	}
	return names
}

func toolNames(set *plugins.Set) []string {
	var names []string
	for _, t := range set.Tools() {
		names = append(names, t.Name)
	}
	return names
}

func wantNames(tb testing.TB, got []string, want ...string) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("got %q, want %q", got, want)
	}
}

// wantProblem checks that an error says what it should and has the code.
func wantProblem(tb testing.TB, err error, code abi.Code, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("there is no error; want one of code %s that says %q", code, parts)
	}
	if got := abi.CodeOf(err); code != "" && got != code {
		tb.Errorf("the code of %q is %s, want %s", err, got, code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			tb.Errorf("the error %q does not say %q", err, part)
		}
	}
}

func call(tb testing.TB, t *plugins.Tool, input string) (string, error) {
	tb.Helper()
	result, err := t.Call(tb.Context(), plugins.Invocation{ID: "toolu_1", Cwd: "/", Input: []byte(input)})
	return result.Text(), err
}

func wantCall(tb testing.TB, t *plugins.Tool, want string) {
	tb.Helper()
	if got, err := call(tb, t, "{}"); err != nil || got != want {
		tb.Errorf("calling %s: got %q, %v; want %q", t.Name, got, err, want)
	}
}

// within fails the test where doing it does not end.
func within(tb testing.TB, do func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(testenv.Patience):
		tb.Fatalf("it takes longer than %s", testenv.Patience)
	}
}

// counter is a runner that runs nothing and counts what is asked of it: for the
// tests whose subject is how often that is.
type counter struct {
	abi                     string
	loads, calls, assesses  atomic.Int32
	closedInstances, closed atomic.Int32
	load                    func() error
	call                    func(context.Context) error
	wasm                    atomic.Pointer[[]byte]
	trusted                 atomic.Bool
}

func (c *counter) ABI() string { return c.abi }

func (c *counter) Load(_ context.Context, m plugins.Module) (plugins.Instance, error) {
	c.loads.Add(1)
	c.wasm.Store(&m.Wasm)
	c.trusted.Store(m.Trusted)
	if c.load != nil {
		if err := c.load(); err != nil {
			return nil, err
		}
	}
	return (*countedInstance)(c), nil
}

func (c *counter) Close(context.Context) error {
	c.closed.Add(1)
	return nil
}

type countedInstance counter

func (c *countedInstance) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	c.calls.Add(1)
	if c.call != nil {
		if err := c.call(ctx); err != nil {
			return abi.ToolResult{}, err
		}
	}
	return abi.ToolResult{ToolUseID: inv.ID}, nil
}

func (c *countedInstance) Assess(context.Context, plugins.Question) (abi.Assessment, error) {
	c.assesses.Add(1)
	return abi.Assessment{}, nil
}

func (c *countedInstance) Close(context.Context) error {
	c.closedInstances.Add(1)
	return nil
}

func counting() (*counter, plugins.Options) {
	c := &counter{abi: abi.ABIDirect}
	return c, plugins.Options{Runners: []plugins.Runner{c}}
}
