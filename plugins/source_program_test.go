package plugins

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// opened counts what is opened of a file system.
type opened struct {
	fs.FS
	names map[string]int
}

func (o opened) Open(name string) (fs.File, error) {
	o.names[name]++
	return o.FS.Open(name)
}

// embeddedPlugin is what a program may have within it: a plugin with a tool.
func embeddedPlugin(tool string) opened {
	toml := fmt.Sprintf("manifest = 1\nname = \"boxed\"\nversion = \"1.0.0\"\n[[tools]]\nname = %q\ndescription = \"Does it.\"\ninput_schema = '{\"type\": \"object\"}'\n", tool)
	return opened{fstest.MapFS{
		"boxed/" + abi.ManifestFile: {Data: []byte(toml)},
		"boxed/boxed.wasm":          {Data: []byte("\x00asm\x01\x00\x00\x00")},
	}, make(map[string]int)}
}

// unused is a runner that nothing is loaded by.
type unused struct{ Runner }

func (unused) ABI() string { return abi.ABIDirect }

func (unused) Close(context.Context) error { return nil }

// toolsOf opens a set with one source and returns the names of its tools.
func toolsOf(t *testing.T, cache string, s Source) string {
	t.Helper()
	set, err := Open(Options{Sources: []Source{s}, CacheDir: cache, Runners: []Runner{unused{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close(t.Context())
	var names []string
	for _, p := range set.Plugins() {
		if p.Problem() != nil {
			t.Error(p.Problem())
		}
		names = append(names, p.generation.finding.Summary.ToolNames()...)
	}
	return strings.Join(names, " ")
}

// TestProgramsAreReadOnce: what was read of a program's plugins holds for its next
// process, and not for another program.
func TestProgramsAreReadOnce(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	old := time.Now().Add(-time.Hour).UnixNano()
	program := &discovery.Program{Path: "/program", Stamp: discovery.Stamp{Size: 1 << 30, Modified: old, Changed: old, Inode: 1}}
	manifest := "boxed/" + abi.ManifestFile
	for i, reads := range []int{1, 0, 0} {
		files := embeddedPlugin("First")
		if got := toolsOf(t, cache, within(program, OriginBuiltin, "box", files)); got != "First" || (files.names[manifest] > 0) != (reads > 0) {
			t.Errorf("process %d found %q and opened %v", i+1, got, files.names)
		}
	}
	newer := *program
	newer.Stamp.Modified++
	if got := toolsOf(t, cache, within(&newer, OriginBuiltin, "box", embeddedPlugin("Second"))); got != "Second" {
		t.Errorf("a newer program found %q", got)
	}
	if got := toolsOf(t, cache, within(program, OriginBuiltin, "other box", embeddedPlugin("Third"))); got != "Third" {
		t.Errorf("another part of the program found %q", got)
	}
}
