package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// BenchmarkFirstCall opens a host over a directory of plugins, calls one tool,
// and closes the host: what a process that makes one call does, once compiled
// code and the index of what is installed are on disk.
func BenchmarkFirstCall(b *testing.B) {
	module, err := os.ReadFile(filepath.Join("..", "plugins", "direct", "testdata", "ok.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("plugins=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				installPlugin(b, dir, i, module)
			}
			time.Sleep(2100 * time.Millisecond) // younger files are not trusted unread
			o := host.Options{
				Storage: host.StorageOptions{CacheDir: filepath.Join(b.TempDir(), "cache")},
				Plugins: host.PluginOptions{Sources: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}},
			}
			callFirst(b, o, dir)
			b.ReportAllocs()
			for b.Loop() {
				callFirst(b, o, dir)
			}
		})
	}
}

func installPlugin(b *testing.B, dir string, i int, module []byte) {
	b.Helper()
	name := fmt.Sprintf("plugin-%d", i)
	toml := fmt.Sprintf("manifest = 1\nname = %q\nversion = \"1.0.0\"\n[[tools]]\nname = \"Tool%d\"\nsummary = \"A tool\"\ninput_schema = '{\"type\":\"object\"}'\n", name, i)
	wasm, err := plugins.AppendCustomSection(module, "bench", []byte(name))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
		b.Fatal(err)
	}
	for file, content := range map[string][]byte{abi.ManifestFile: []byte(toml), name + ".wasm": wasm} {
		if err := os.WriteFile(filepath.Join(dir, name, file), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

func callFirst(b *testing.B, o host.Options, cwd string) {
	b.Helper()
	h, err := host.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(context.WithoutCancel(b.Context()))
	s, err := h.NewSession(host.SessionOptions{Cwd: cwd})
	if err != nil {
		b.Fatal(err)
	}
	if r := s.Results(b.Context(), []abi.ToolUse{{ID: "1", Name: "Tool0", Input: json.RawMessage("{}")}})[0]; r.IsError {
		b.Fatal(r.Text())
	}
}
