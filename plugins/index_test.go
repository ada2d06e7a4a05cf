package plugins_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// reads is a plugin directory that counts how often its files are read.
type reads struct {
	fs.FS
	mu     *sync.Mutex
	opened map[string]int
}

func (r reads) Open(name string) (fs.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened[name]++
	return r.FS.Open(name)
}

func (r reads) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.FS, name) }

// watched is a plugin directory on disk whose reads are counted.
func watched(dir string) (plugins.Source, reads) {
	source := user(dir)
	r := reads{source.FS, new(sync.Mutex), make(map[string]int)}
	source.FS = r
	return source, r
}

// rested are plugin directories whose files an index trusts. Each test takes one, and
// all wait for that at the same time.
var rested restedDirs

type restedDirs struct {
	mu     sync.Mutex
	root   string // TestMain removes it
	made   int
	unused []string
	since  time.Time // the last one was written
}

// take gives a directory that a moment later has rested.
func (r *restedDirs) take(t *testing.T) (dir string, since time.Time) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unused) == 0 {
		r.make(t)
	}
	dir, r.unused = r.unused[0], r.unused[1:]
	return dir, r.since
}

func (r *restedDirs) make(t *testing.T) {
	t.Helper()
	for range 25 {
		dir := filepath.Join(r.root, strconv.Itoa(r.made))
		threeForms(t, dir)
		r.made++
		r.unused = append(r.unused, dir)
	}
	r.since = time.Now()
}

// threeForms writes one plugin of each form.
func threeForms(t *testing.T, dir string) {
	t.Helper()
	config := "[[config]]\nname = \"rows\"\ntype = \"integer\"\n"
	folder(t, dir, "in-folder", manifest("in-folder", config, "Folder")+"aliases = [\"OldFolder\"]\n", fixture(t, "ok"))
	single(t, dir, "in-file.wasm", manifest("in-file", "", "File"), fixture(t, "counter"))
	pieces, err := plugins.AppendCustomSection(fixture(t, "ok"), abi.SectionTools, []byte(`{"name":"Pieces","input_schema":{"type":"object"}}`))
	if err != nil {
		t.Fatal(err)
	}
	toml := "manifest = 1\nname = \"in-pieces\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Pieces\"\n"
	folder(t, dir, "in-pieces", toml, pieces)
}

// indexed gives a directory with one plugin of each form, and an index of it.
func indexed(t *testing.T) (dir string, o plugins.Options) {
	t.Helper()
	testenv.Permitted(t, testenv.Unix) // elsewhere no file is trusted unread
	dir, since := rested.take(t)
	time.Sleep(rest - time.Since(since))
	o = plugins.Options{CacheDir: filepath.Join(t.TempDir(), "cache")}
	open(t, o, user(dir))
	return dir, o
}

func TestIndexSparesReading(t *testing.T) {
	t.Parallel()
	dir, o := indexed(t)
	source, r := watched(dir)
	set := open(t, o, source)
	wantNames(t, pluginNames(set), "in-file", "in-folder", "in-pieces")
	if set.Aliases()["OldFolder"] != "Folder" {
		t.Errorf("the aliases are %v", set.Aliases())
	}
	for name := range r.opened {
		if name != "." {
			t.Errorf("%s was read, though nothing of it was asked for", name)
		}
	}
	wantCall(t, tool(t, set, "OldFolder"), "ok")
	if r.opened["in-folder/plugin.toml"] != 1 || r.opened["in-file.wasm"]+r.opened["in-pieces/plugin.toml"] != 0 {
		t.Errorf("after a call to one plugin these were read: %v", r.opened)
	}
	wantCall(t, tool(t, set, "File"), "1")
	wantCall(t, tool(t, set, "Pieces"), "ok")
	wantNames(t, toolNames(set), "File", "Folder", "Pieces")
}

// Whatever happens to a file, what is found through the index is what is found
// without it.
func TestIndexFollowsTheFiles(t *testing.T) {
	t.Parallel()
	newer := manifest("in-folder", "", "Newer")
	tests := map[string]func(t *testing.T, dir string){
		"nothing": func(*testing.T, string) {},
		"touched": func(t *testing.T, dir string) {
			t.Helper()
			touch(t, filepath.Join(dir, "in-folder", abi.ManifestFile))
		},
		"manifest": func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "in-folder", abi.ManifestFile), []byte(newer))
		},
		"its time undone": func(t *testing.T, dir string) {
			t.Helper()
			rewriteInSecret(t, filepath.Join(dir, "in-folder", abi.ManifestFile), "Folder", "Hidden")
		},
		"broken": func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "in-folder", abi.ManifestFile), []byte("name ="))
		},
		"module gone": func(t *testing.T, dir string) {
			t.Helper()
			remove(t, filepath.Join(dir, "in-folder", "in-folder.wasm"))
		},
		"folder gone": func(t *testing.T, dir string) { t.Helper(); remove(t, filepath.Join(dir, "in-folder")) },
		"file gone":   func(t *testing.T, dir string) { t.Helper(); remove(t, filepath.Join(dir, "in-file.wasm")) },
		"file replaced": func(t *testing.T, dir string) {
			t.Helper()
			single(t, dir, "in-file.wasm", manifest("in-file", "", "Other"), fixture(t, "ok"))
		},
		"pieces replaced": func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "in-pieces", "in-pieces.wasm"), fixture(t, "ok"))
		},
		"one more": func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "more", manifest("more", "", "More"), fixture(t, "ok"))
		},
		"a rival": func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "more", manifest("more", "", "OldFolder"), fixture(t, "ok"))
		},
		"a file's folder": func(t *testing.T, dir string) {
			t.Helper()
			remove(t, filepath.Join(dir, "in-file.wasm"))
			folder(t, dir, "in-file.wasm", manifest("other", "", "Other"), fixture(t, "ok"))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := indexed(t)
			change(t, dir)
			for _, kind := range []string{"first", "second"} {
				got, want := describe(open(t, o, user(dir))), describe(open(t, plugins.Options{}, user(dir)))
				if got != want {
					t.Errorf("the %s time with an index:\n%s\nwithout:\n%s", kind, got, want)
				}
			}
		})
	}
}

// describe writes all that a set says of its plugins.
func describe(set *plugins.Set) string {
	var b strings.Builder
	for _, p := range set.Plugins() {
		fmt.Fprintf(&b, "%s %s %s: %q, %v, %+v\n", p.Name, p.Origin, p.Path, p.ToolNames(), p.Manifest() != nil, p.Problem())
	}
	for _, t := range set.Tools() {
		fmt.Fprintf(&b, "%s: %x, %v\n", t.Name, t.Definition(), t.Available())
	}
	fmt.Fprintln(&b, set.Aliases())
	return b.String()
}

func touch(t *testing.T, path string) {
	t.Helper()
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// rewriteInSecret changes a file in place, to the same size, and puts the time of
// its last modification back.
func rewriteInSecret(t *testing.T, path, before, after string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, bytes.ReplaceAll(content, []byte(before), []byte(after)))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestConfigurationOfPluginsThatAreNotReadAgain is checked, and taken up, as that of others.
func TestConfigurationOfPluginsThatAreNotReadAgain(t *testing.T) {
	t.Parallel()
	dir, o := indexed(t)
	rows := func(value string) map[string]map[string]json.RawMessage {
		return map[string]map[string]json.RawMessage{"in-folder": {"rows": json.RawMessage(value)}}
	}
	o.Config = rows(`"5"`)
	source, r := watched(dir)
	set := open(t, o, source)
	wantProblem(t, plugin(t, set, "in-folder").Problem(), "", "is not an integer")
	if n := r.opened["in-folder/plugin.toml"]; n > 0 {
		t.Errorf("its manifest was read %d times", n)
	}
	set.Configure(rows(`5`))
	newer, _, err := set.Reload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set.Release()
	if err := plugin(t, newer, "in-folder").Problem(); err != nil {
		t.Error(err)
	}
}

// A file that was written a moment ago may be written again without its stamp
// telling.
func TestIndexDoesNotTrustFreshFiles(t *testing.T) {
	t.Parallel()
	dir, made := t.TempDir(), time.Now()
	folder(t, dir, "one", manifest("one", "", "Show"), fixture(t, "ok"))
	o := plugins.Options{CacheDir: filepath.Join(t.TempDir(), "cache")}
	open(t, o, user(dir))
	source, r := watched(dir)
	open(t, o, source)
	if r.opened["one/plugin.toml"] == 0 && time.Since(made) < 2*time.Second {
		t.Error("a manifest that was just written was not read again")
	}
}

// What an index says wrongly is found out before it matters.
func TestIndexThatLies(t *testing.T) {
	t.Parallel()
	for lie, called := range map[string]string{"manifest": "Folder", "tool": "Forged"} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			dir, o := indexed(t)
			index := indexFile(t, o)
			content, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			forged, err := plugins.ForgeIndex(content, dir, "in-folder", lie)
			if err != nil {
				t.Fatal(err)
			}
			write(t, index, forged)
			set := open(t, o, user(dir))
			p := plugin(t, set, "in-folder")
			if p.Problem() != nil {
				t.Fatalf("the lie was not believed, so that this tests nothing: %v", p.Problem())
			}
			forgedTool := tool(t, set, called)
			_, err = call(t, forgedTool, "{}")
			wantProblem(t, err, abi.CodeChanged, "plugin in-folder changed after it was found")
			wantProblem(t, forgedTool.Available(), abi.CodeChanged, "")
			wantProblem(t, p.Problem(), abi.CodeChanged, "reload the plugins, or start again")
			if p.Manifest() != nil {
				t.Error("it has a manifest all the same")
			}
			if err := openGrants(t, filepath.Join(t.TempDir(), "c.json")).Add(p, noon); abi.CodeOf(err) != abi.CodeChanged {
				t.Errorf("consenting to it: %v", err)
			}
			if _, err := os.Stat(index); err == nil {
				t.Error("the index is still there")
			}
			wantCall(t, tool(t, open(t, o, user(dir)), "Folder"), "ok")
			newer, changes, err := set.Reload(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer newer.Release()
			if len(changes.Changed) != 1 {
				t.Errorf("a reload changed %+v", changes)
			}
			wantCall(t, tool(t, newer, "Folder"), "ok")
		})
	}
}

func indexFile(t *testing.T, o plugins.Options) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "discovered", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("there are the indexes %v, %v", files, err)
	}
	return files[0]
}
