package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// installRows say what plugins cost that are installed and not called.
func installRows() []row {
	return []row{
		{
			name: "the first call with 100 plugins installed", ours: firstCall(100),
			baseline: "with 1 plugin", theirs: firstCall(1),
			compare: difference, limit: "nothing compiled",
		},
		{
			name: "the first call with 1,000 plugins installed", ours: firstCall(1000),
			baseline: "with 1 plugin", theirs: firstCall(1),
			compare: difference, limit: "under 10 ms in all",
		},
	}
}

// processRows run the command as a whole, on a warm cache.
func processRows() []row {
	return []row{
		{
			name: "toolquay call Read, a whole process", ours: processRead, needs: "rg",
			baseline: "rg --version", theirs: processRipgrep,
			compare: ratio, limit: "at most 10x",
		},
		{
			name: "toolquay call with 1,000 plugins installed, a whole process", ours: processInstalled(1000),
			baseline: "with 1 plugin", theirs: processInstalled(1),
			compare: difference, limit: "at most +10 ms",
		},
	}
}

// firstCall opens a host over a directory of plugins and makes one call. The
// compile cache is warm.
func firstCall(installed int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		dir, err := l.installed(installed)
		if err != nil {
			b.Fatal(err)
		}
		o := host.Options{Storage: host.StorageOptions{CacheDir: filepath.Join(l.dir, "cache")}, Plugins: host.PluginOptions{Sources: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}}}
		if err := openAndCall(o, l.dir); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := openAndCall(o, l.dir); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func openAndCall(o host.Options, cwd string) error {
	ctx := context.Background()
	h, err := host.Open(ctx, o)
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: cwd})
	if err != nil {
		return err
	}
	results := s.Results(ctx, []abi.ToolUse{{ID: "1", Name: "Tool0", Input: json.RawMessage("{}")}})
	if results[0].Error != nil && results[0].Error.Code != abi.CodeUndeclared {
		return results[0].Error
	}
	return nil
}

// installed is a folder of so many plugins, each of which differs from the
// others.
func (l *lab) installed(n int) (string, error) {
	dir := filepath.Join(l.dir, fmt.Sprintf("plugins-%d", n))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	for i := range n {
		name := fmt.Sprintf("plugin-%d", i)
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		manifest := fmt.Sprintf("manifest = 1\nname = %q\nversion = \"1.0.0\"\n[[tools]]\nname = \"Tool%d\"\nsummary = \"A tool\"\ninput_schema = '{\"type\":\"object\"}'\n", name, i)
		if err := os.WriteFile(filepath.Join(folder, "plugin.toml"), []byte(manifest), 0o600); err != nil {
			return "", err
		}
		wasm, err := plugins.AppendCustomSection(guestWasm, "bench", []byte(name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".wasm"), wasm, 0o600); err != nil {
			return "", err
		}
	}
	// Files that changed just now are read again: an index cannot tell a further
	// change within the same tick of the clock.
	time.Sleep(settling)
	return dir, nil
}

// settling is the time after which the plugins' index trusts what it knows.
const settling = 3 * time.Second

// program is the command, built as task build does it.
func (l *lab) program() (string, error) {
	program := filepath.Join(l.dir, "bin", "toolquay")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/toolquay/toolquay/cmd/host")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the command: %w\n%s", err, out)
	}
	return program, nil
}

// process runs the command over and over. The first run warms the cache.
func (l *lab) process(b *testing.B, args ...string) {
	b.Helper()
	program, err := l.program()
	if err != nil {
		b.Fatal(err)
	}
	home := filepath.Join(l.dir, "home")
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	run := func() {
		c := exec.Command(program, args...)
		c.Dir, c.Env = l.dir, env
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	run()
	for b.Loop() {
		run()
	}
}

func processRead(b *testing.B, l *lab) {
	file := filepath.Join(l.dir, "file.txt")
	if err := os.WriteFile(file, content[:kib4], 0o600); err != nil {
		b.Fatal(err)
	}
	l.process(b, "call", "Read", `{"file_path":"file.txt"}`)
}

func processInstalled(n int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		dir, err := l.installed(n)
		if err != nil {
			b.Fatal(err)
		}
		l.process(b, "--plugins", dir, "call", "Tool0", "{}")
	}
}

func processRipgrep(b *testing.B, _ *lab) {
	for b.Loop() {
		if err := exec.Command("rg", "--version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
