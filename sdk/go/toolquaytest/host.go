// Package toolquaytest is a host for "go test": it runs the tools that a plugin
// registered, natively, on files that the test supplies.
//
//	func TestShout(t *testing.T) {
//		host := toolquaytest.Files(map[string]string{"a.txt": "hello"})
//		result := host.Call(t, "Shout", map[string]any{"path": "a.txt"})
//		if result.Text() != "HELLO" {
//			t.Error(result.Text())
//		}
//	}
//
// Calls pass through the same messages as in a real host, so that a tool which
// breaks the protocol fails its test. A tool is held to the plugin.toml beside the test,
// or above it in its module (see [Host.Manifest]), as a real host holds it: to its
// capabilities with their scopes, to read_only, to its input_schema, to its
// configuration, and to the limits output and capability_calls. What the manifest says of
// locks is not held, and there are no rules of a user's and no grants.
//
// Files may be read, and written as in a session: once a call before has shown the file
// (see [toolquay.FS.ShowLines]), or where the call has read all of it and expects its
// hash. What is written stays in memory, for the calls that follow. The capabilities on
// files and to search behave as the real ones do, but for what each says it leaves out:
// text is UTF-8 with LF and written as it is, quotes match nothing but themselves, a diff
// is one change without lines around it. The time is that of [Host.Time], and random
// bytes are the same in each run. Other capabilities, among them docs.read, and failures
// are supplied with [Host.On].
package toolquaytest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/internal/guest"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Host runs tools. Its calls may be made in parallel once it is set up.
type Host struct {
	cwd      string
	files    *layers
	seen     *seen
	config   map[string]wire.Raw
	handlers map[string]Capability
	now      time.Time

	userModified bool

	load     sync.Once
	text     string // of the manifest; empty is that of the file
	unheld   bool
	manifest *manifest // nil holds the tools to nothing
	fault    error     // of the manifest
}

// Capability answers one capability operation: with a value that encodes to the
// JSON object of the answer's head, and with its body, nil for none. An error
// that carries a code keeps it.
type Capability func(args []byte) (ok any, body []byte, err error)

// Files is a host whose working directory, /work, holds these files: contents
// by slash-separated path. They were all changed at the same time.
func Files(files map[string]string) *Host {
	tree := make(fstest.MapFS, len(files))
	for name, content := range files {
		tree[path.Clean(name)] = &fstest.MapFile{
			Data: []byte(content), Mode: 0o644, ModTime: time.UnixMilli(1_700_000_000_000),
		}
	}
	return newHost("/work", tree)
}

// Dir is a host whose working directory is a real one.
func Dir(dir string) *Host {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	return newHost(filepath.ToSlash(abs), os.DirFS(dir))
}

func newHost(cwd string, files fs.FS) *Host {
	return &Host{
		cwd: cwd, files: newLayers(files), seen: &seen{files: map[string]*sight{}}, config: map[string]wire.Raw{},
		handlers: map[string]Capability{}, now: time.UnixMilli(1_700_000_000_000).UTC(),
	}
}

// Manifest holds the tools to this text of a plugin.toml instead of to the file, and
// returns the host.
func (h *Host) Manifest(text string) *Host {
	h.text = text
	return h
}

// WithoutManifest holds the tools to no manifest and returns the host: they may ask for
// every capability, and their input is not checked.
func (h *Host) WithoutManifest() *Host {
	h.unheld = true
	return h
}

// Time sets what clock.now answers, and returns the host. Without it that is
// 2023-11-14 22:13:20 UTC.
func (h *Host) Time(now time.Time) *Host {
	h.now = now
	return h
}

// held reads the manifest once. It is nil where the tools are held to none.
func (h *Host) held(tb testing.TB) *manifest {
	tb.Helper()
	h.load.Do(func() {
		if h.unheld {
			return
		}
		text := h.text
		if text == "" {
			text, h.fault = findManifest()
		}
		if h.fault == nil {
			h.manifest, h.fault = parseManifest(text)
		}
	})
	if h.fault != nil {
		tb.Fatalf("%s: %v", manifestFile, h.fault)
	}
	return h.manifest
}

// File returns what a file holds, as the calls before have left it, and whether there
// is one. The path may be relative to the working directory.
func (h *Host) File(name string) ([]byte, bool) {
	inside, err := h.within(name)
	if err != nil {
		return nil, false
	}
	content, err := fs.ReadFile(h.files, inside)
	return content, err == nil
}

// SetFile changes a file between calls, as somebody else would, and returns the host.
// It does not touch a real directory.
func (h *Host) SetFile(name, content string) *Host {
	inside, err := h.within(name)
	if err != nil {
		panic("toolquaytest: " + err.Error())
	}
	h.files.write(inside, []byte(content))
	return h
}

// Show has the model see all of a file, as by the tool Read, so that it may be written,
// and returns the host. It takes no notice of a file that is not there.
func (h *Host) Show(name string) *Host {
	if content, ok := h.File(name); ok {
		inside, _ := h.within(name) // File has found it
		h.seen.look(inside, content, []span{{0, len(content)}})
	}
	return h
}

// Config sets a value of the plugin's configuration and returns the host.
func (h *Host) Config(key string, value any) *Host {
	data, err := json.Marshal(value)
	if err != nil {
		panic("toolquaytest: the configuration value " + key + " is no JSON: " + err.Error())
	}
	h.config[key] = data
	return h
}

// UserModified makes calls whose input a person wrote in place of the model's, and returns the
// host.
func (h *Host) UserModified() *Host {
	h.userModified = true
	return h
}

// On supplies a capability, or replaces one, and returns the host.
func (h *Host) On(capability string, answer Capability) *Host {
	h.handlers[capability] = answer
	return h
}

// Call runs a tool once. The input is encoded by the rules of encoding/json. A tool
// that breaks the protocol, or that plugin.toml does not list, fails the test. What a
// real host would end the call for, such as an input that does not fit the schema, is a
// result with an error.
func (h *Host) Call(tb testing.TB, tool string, input any) *Result {
	tb.Helper()
	head := wire.CallHead{Tool: tool, ID: tb.Name(), Cwd: h.cwd, UserModified: h.userModified, Config: h.config}
	s := &session{host: h, tool: tool, answers: map[uint32]*answer{}, own: &seen{files: map[string]*sight{}}}
	data, err := json.Marshal(input)
	if err != nil {
		tb.Fatalf("the input is no JSON: %v", err)
	}
	if s.manifest = h.held(tb); s.manifest != nil {
		var refused error
		data, refused, err = s.admit(&head, data)
		if err != nil {
			tb.Fatalf("%s: tool %s: %v", manifestFile, tool, err)
		}
		if refused != nil {
			return failed(refused)
		}
	}
	r := s.result(guest.Call(s, request(tb, head.AppendJSON, data)))
	if s.fault != "" {
		tb.Fatalf("tool %s broke the protocol: %s", tool, s.fault)
	}
	if !r.IsError {
		s.settle()
	}
	return r
}

// Assess asks a tool's Assess about an input. A tool that plugin.toml does not list fails
// the test.
func (h *Host) Assess(tb testing.TB, tool string, input any, facts ...toolquay.Fact) toolquay.Assessment {
	tb.Helper()
	head := wire.AssessHead{Tool: tool, Cwd: h.cwd, Config: h.config, Facts: facts}
	data, err := json.Marshal(input)
	if err != nil {
		tb.Fatalf("the input is no JSON: %v", err)
	}
	if m := h.held(tb); m != nil {
		if head.Config, err = m.settings(h.config); err != nil {
			tb.Fatalf("%s: %v", manifestFile, err)
		}
		t := m.tool(tool)
		if t == nil {
			tb.Fatalf("%s: tool %s: %v", manifestFile, tool, errUnlisted)
		}
		data = t.normalize(data)
	}
	message := guest.Assess(request(tb, head.AppendJSON, data))
	var a toolquay.Assessment
	frame, err := wire.Decode(message)
	if err == nil {
		err = wire.Unmarshal(frame.Head, &a)
	}
	if err != nil {
		tb.Fatalf("tool %s broke the protocol: %v", tool, err)
	}
	return a
}

func request(tb testing.TB, head func([]byte) []byte, data []byte) []byte {
	tb.Helper()
	message, err := wire.Append(nil, head, wire.Part{Type: wire.PartJSON, Data: data})
	if err != nil {
		tb.Fatal(err)
	}
	return message
}
