package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/builtin"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

//go:embed testdata/guest.wasm
var guestWasm []byte

//go:embed testdata/raw.wasm
var rawWasm []byte

//go:embed testdata/extism.wasm
var extismWasm []byte

const (
	kib4 = 4 << 10
	mib1 = 1 << 20
)

// lab is what the cases share.
type lab struct {
	dir    string
	runner *direct.Runner
	host   *host.Host
	guests *guests
	// commands are there when a row has asked for them; see [lab.shells].
	commands *shells
	// small has rows that search do so in a small tree, and a package that is tested have no test.
	small bool
}

func newLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "toolquay-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, runner: direct.New(direct.Options{CacheDir: filepath.Join(dir, "cache")}), guests: newGuests(dir)}
	l.host, err = host.Open(context.Background(), host.Options{
		Storage: host.StorageOptions{CacheDir: filepath.Join(dir, "cache")},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{guestPlugin(), rustPlugin()},
			Granted: []string{"bench", "tool"},
		},
		Capabilities: []capability.Capability{memory{size: kib4}},
		Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{fiftyRules()}},
	})
	return l, err
}

func (l *lab) close() {
	ctx := context.Background()
	if l.commands != nil {
		if err := l.commands.close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	if err := errors.Join(l.host.Close(ctx), l.runner.Close(ctx), l.guests.close(), os.RemoveAll(l.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// benchSchema is the one of both plugins' tools.
const benchSchema = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`

// guestPlugin is guest.wasm as a plugin.
func guestPlugin() plugins.Source {
	const manifest = `
manifest = 1
name = "bench"
version = "1.0.0"
[[capabilities]]
name = "bench.read"
reason = "to be measured"
[[tools]]
name = "Bench"
summary = "Reads"
read_only = true
concurrency_safe = true
input_schema = '''` + benchSchema + "'''\n"
	return plugins.Source{Origin: plugins.OriginFlag, Path: "bench", FS: fstest.MapFS{
		"plugin.toml": {Data: []byte(manifest)},
		"bench.wasm":  {Data: guestWasm},
	}}
}

//go:embed guests/tool/plugin.toml guests/tool/tool.wasm
var rustTool embed.FS

// rustPlugin does the same, written in Rust.
func rustPlugin() plugins.Source {
	folder, err := fs.Sub(rustTool, "guests/tool")
	if err != nil {
		panic(err) // the name is a constant
	}
	return plugins.Source{Origin: plugins.OriginFlag, Path: "tool", FS: folder}
}

func fiftyRules() permissions.RuleSet {
	set := permissions.RuleSet{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(.env)")}
	for i := range 50 {
		set.Allow = append(set.Allow, permissions.RuleText{Text: fmt.Sprintf("Read(//srv/data%d/**)", i)})
	}
	return set
}

// memory answers bench.read from memory, so that no system call is measured.
type memory struct{ size int }

var content = bytes.Repeat([]byte("0123456789abcde\n"), mib1/16)

func (m memory) Names() []string { return []string{"bench.read"} }

func (m memory) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return m, nil
}

func (m memory) Accesses() []permissions.Access {
	return []permissions.Access{{Kind: permissions.AccessRead, Target: "/srv/data49/file", Real: "/srv/data49/file"}}
}

func (m memory) Do(context.Context, capability.Judge) (abi.Answer, error) { return m.answer(), nil }

func (m memory) Close() error { return nil }

func (m memory) answer() abi.Answer {
	return abi.Answer{
		OK:   json.RawMessage(`{"path":"/srv/data49/file"}`),
		Body: abi.Bytes(content[:m.size]),
		Size: int64(m.size),
	}
}

// load loads a module into the lab's runner.
func (l *lab) load(wasm []byte, m *abi.Manifest) (plugins.Instance, error) {
	limits := plugins.DefaultLimits
	limits.CapabilityCalls = 1 << 30
	return l.runner.Load(context.Background(), plugins.Module{Manifest: m, Hash: sha256.Sum256(wasm), Wasm: wasm, Limits: limits, Trusted: true})
}

// readModule is the module of the built-in Read tool: a real Rust guest.
func readModule() ([]byte, error) { return fs.ReadFile(builtin.FS(), "files/files.wasm") }
