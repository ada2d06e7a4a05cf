package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// writer is a tool of the embedder's that writes a file.
func writer() host.NativeTool {
	contract := abi.Tool{
		Name: "Put", Summary: "Writes", InputSchema: anything,
		Fields: []abi.Field{{Name: "file_path", Kind: abi.FieldPath, Effect: abi.EffectWrite}},
	}
	return host.NativeTool{Contract: contract, Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		var in struct {
			Path    string `json:"file_path"`
			Content string `json:"content"`
			Remove  bool   `json:"remove"`
		}
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return abi.ToolResult{}, err
		}
		path := in.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Cwd, path)
		}
		err := os.WriteFile(path, []byte(in.Content), 0o600)
		if in.Remove {
			err = os.Remove(path)
		}
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock("written")}}, err
	}}
}

const stale = "Files that were read earlier have changed since"

// reading is a session with files that can be read and written.
func reading(tb testing.TB, content map[string]string) (*host.Session, string) {
	tb.Helper()
	dir := files(tb, content)
	h := open(tb, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Put | Echo")}, Tools: []host.NativeTool{writer(), echo("Echo")}})
	return session(tb, h, host.SessionOptions{Cwd: dir}), dir
}

func TestStaleReads(t *testing.T) {
	t.Parallel()
	s, dir := reading(t, map[string]string{"a.txt": "alpha\n", "b.txt": "beta\n", "unread.txt": "x\n"})
	call := func(tool, input string) string {
		t.Helper()
		r, _ := one(t, s, tool, input)
		if r.IsError {
			t.Fatalf("%s %s: %s", tool, input, r.Text())
		}
		return r.Text()
	}
	expect := func(what, got string, paths ...string) {
		t.Helper()
		want := "written"
		if len(paths) > 0 {
			for i, p := range paths {
				paths[i] = filepath.Join(dir, p)
			}
			want += "\n" + stale + ", so what was read of them is out of date: " + strings.Join(paths, ", ") + ". Read them again before relying on their content."
		}
		if got != want {
			t.Errorf("%s: %q; want %q", what, got, want)
		}
	}
	call("Read", `{"file_path":"a.txt"}`)
	call("Read", `{"file_path":"b.txt"}`)
	expect("an unread file", call("Put", `{"file_path":"unread.txt","content":"y"}`))
	expect("a file that was read", call("Put", `{"file_path":"a.txt","content":"other"}`), "a.txt")
	expect("told before", call("Put", `{"file_path":"unread.txt","content":"z"}`))
	expect("the same content in a new file", call("Put", `{"file_path":"b.txt","content":"BETA\n"}`), "b.txt")
	call("Read", `{"file_path":"a.txt"}`)
	expect("read again", call("Put", `{"file_path":"unread.txt","content":"1"}`))

	// Somebody else writes; a call that only reads is not asked, the next one is.
	later := time.Now().Add(time.Second)
	if err := errors.Join(os.Chtimes(filepath.Join(dir, "a.txt"), later, later), os.Remove(filepath.Join(dir, "b.txt"))); err != nil {
		t.Fatal(err)
	}
	if got := call("Echo", `{"s":"fine"}`); got != "fine" {
		t.Errorf("a call that only reads says %q", got)
	}
	expect("touched and removed", call("Put", `{"file_path":"unread.txt","content":"2"}`), "a.txt", "b.txt")
	expect("both told", call("Put", `{"file_path":"unread.txt","content":"3"}`))
}

// TestStaleInOneTurn tells of a change at the call that made it, also to a file that an
// earlier call of the turn has shown, and once.
func TestStaleInOneTurn(t *testing.T) {
	t.Parallel()
	notebook := `{"cells":[{"cell_type":"markdown","id":"m","metadata":{},"source":["hello"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	const other = `,"content":"other"`
	for _, name := range []string{"a.txt", "a.ipynb"} {
		s, dir := reading(t, map[string]string{"a.txt": "alpha\n", "a.ipynb": notebook, "b.txt": "x\n"})
		path := filepath.Join(dir, name)
		input := func(path, more string) string { return fmt.Sprintf(`{"file_path":%q%s}`, path, more) }
		got, _ := turnOf(t, s, use("1", "Read", input(path, "")),
			use("2", "Put", input(path, other)), use("3", "Put", input(filepath.Join(dir, "b.txt"), other)))
		later, _ := one(t, s, "Put", input(filepath.Join(dir, "b.txt"), other))
		if len(got) != 3 || got[0].IsError || !strings.Contains(got[1].Text(), stale) || !strings.Contains(got[1].Text(), path) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for _, text := range []string{got[2].Text(), later.Text()} {
			if text != "written" {
				t.Errorf("%s: told again: %q", name, text)
			}
		}
	}
}

func TestManyStaleReads(t *testing.T) {
	t.Parallel()
	content := map[string]string{"other": ""}
	for i := range 13 {
		content[fmt.Sprintf("f%02d", i)] = "x\n"
	}
	s, dir := reading(t, content)
	for i := range 13 {
		one(t, s, "Read", fmt.Sprintf(`{"file_path":"f%02d"}`, i))
	}
	later := time.Now().Add(time.Second)
	for i := range 13 {
		if err := os.Chtimes(filepath.Join(dir, fmt.Sprintf("f%02d", i)), later, later); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := one(t, s, "Put", `{"file_path":"other","content":"y"}`)
	if got := r.Text(); strings.Count(got, dir) != 10 || !strings.Contains(got, "f12, ") || !strings.Contains(got, "f03 and 3 more. Read") {
		t.Errorf("got %q", got)
	}
}
