package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// desk is a session with the built-in tools, over real files.
type desk struct {
	*testing.T
	session *host.Session
	dir     string
	calls   int
}

// desks is the host of all of them: each module is compiled once.
var desks = sync.OnceValues(func() (*host.Host, error) {
	return host.Open(context.Background(), host.Options{
		Builtins: true, Storage: host.StorageOptions{CacheDir: testenv.CompileCache()},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Edit(./secret.txt)")}}},
	})
})

// newDesk is one where files may be edited unasked, unless a person is there to ask.
// Its files were not written just now: what is known of them is proved by their times.
func newDesk(t *testing.T, content map[string]string, person ...host.Asker) *desk {
	t.Helper()
	d := &desk{T: t, dir: t.TempDir()}
	for name, text := range content {
		d.put(name, text)
	}
	h, err := desks()
	if err != nil {
		t.Fatal(err)
	}
	o := host.SessionOptions{Cwd: d.dir, Mode: permissions.ModeAcceptEdits}
	if len(person) > 0 {
		o.Mode, o.Asker = permissions.ModeDefault, person[0]
	}
	if d.session, err = h.NewSession(o); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

// put is somebody else who writes a file, an hour ago, and waits until the system tells
// the time of that from now.
func (d *desk) put(name, text string) {
	d.Helper()
	before := time.Now().Add(-time.Hour)
	for _, do := range []func() error{
		func() error { return os.MkdirAll(filepath.Dir(d.path(name)), 0o755) },
		func() error { return os.WriteFile(d.path(name), []byte(text), 0o644) },
		func() error { return os.Chtimes(d.path(name), before, before) },
	} {
		if err := do(); err != nil {
			d.Fatal(err)
		}
	}
	time.Sleep(60 * time.Millisecond)
}

// holds says that a file has a content.
func (d *desk) holds(name, want string) {
	d.Helper()
	if got, err := os.ReadFile(d.path(name)); err != nil || string(got) != want {
		d.Errorf("%s holds %.300q, %v; want %.300q", name, got, err, want)
	}
}

// input is that of a call.
type input map[string]any

func (d *desk) use(tool string, in input) abi.ToolUse {
	d.Helper()
	d.calls++
	text, err := json.Marshal(in)
	if err != nil {
		d.Fatal(err)
	}
	return abi.ToolUse{ID: "c" + strconv.Itoa(d.calls), Name: tool, Input: text}
}

// turn makes calls in one turn.
func (d *desk) turn(uses ...abi.ToolUse) []abi.ToolResult {
	d.Helper()
	results := d.session.Results(d.Context(), uses)
	if len(results) != len(uses) {
		d.Fatalf("%d calls have %d results", len(uses), len(results))
	}
	return results
}

// call makes one call, in a turn of its own.
func (d *desk) call(tool string, in input) abi.ToolResult {
	d.Helper()
	return d.turn(d.use(tool, in))[0]
}

// does makes a call that must succeed, and returns what it says.
func (d *desk) does(tool string, in input) string {
	d.Helper()
	r := d.call(tool, in)
	if r.IsError {
		d.Fatalf("%s %v: %s", tool, in, r.Text())
	}
	return r.Text()
}

// fails makes a call that must fail, with a number where it has one.
func (d *desk) fails(number int, tool string, in input, says ...string) {
	d.Helper()
	r := d.call(tool, in)
	var meta struct{ Code int }
	if len(r.Meta) > 0 {
		if err := json.Unmarshal(r.Meta, &meta); err != nil {
			d.Fatal(err)
		}
	}
	if !r.IsError || meta.Code != number {
		d.Errorf("%s %v: %s, with the number %d; want %d", tool, in, r.Text(), meta.Code, number)
	}
	for _, want := range says {
		if !strings.Contains(r.Text(), want) {
			d.Errorf("%s %v: %q does not say %q", tool, in, r.Text(), want)
		}
	}
}

func file(name string) input { return input{"file_path": name} }

func edit(name, from, to string) input {
	return input{"file_path": name, "old_string": from, "new_string": to}
}

func content(name, text string) input { return input{"file_path": name, "content": text} }
