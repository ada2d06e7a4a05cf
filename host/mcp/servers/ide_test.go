package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// reported is a diagnostic as an editor writes it.
type reported struct {
	Message  string `json:"message"`
	Severity any    `json:"severity"`
	Source   string `json:"source,omitempty"`
	Range    struct {
		Start struct {
			Line      int `json:"line"`
			Character int `json:"character"`
		} `json:"start"`
	} `json:"range"`
}

// editorTools are those of an editor that finds what begins with a severity in the lines of files.
func editorTools(s *mcp.Server, found func(file string) (string, error)) {
	add(s, "getDiagnostics", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ URI string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		u, err := url.Parse(in.URI)
		if err != nil || u.Scheme != "file" {
			return nil, fmt.Errorf("not a file: %s", in.URI)
		}
		answer, err := found(filepath.FromSlash(u.Path))
		if err != nil {
			return nil, err
		}
		return text(answer), nil
	})
	add(s, "executeCode", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("executed"), nil })
}

// lint finds the lines of a file that begin with error: or warning:.
func lint(file string) (string, error) {
	content, _ := os.ReadFile(file) // what is not there has no problems
	list := []reported{}
	for i, line := range strings.Split(string(content), "\n") {
		for word, severity := range map[string]any{"error": 1, "warning": "Warning"} {
			if message, ok := strings.CutPrefix(line, word+": "); ok {
				d := reported{Message: message, Severity: severity, Source: "lint"}
				d.Range.Start.Line = i
				list = append(list, d)
			}
		}
	}
	answer, err := json.Marshal([]any{
		map[string]any{"uri": "file:///elsewhere", "diagnostics": []reported{{Message: "of another file", Severity: 1}}},
		map[string]any{"uri": (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), "diagnostics": list},
	})
	return string(answer), err
}

// edits writes and edits a file in a session where that is allowed.
type edits struct {
	t    *testing.T
	s    *host.Session
	file string
}

func editing(t *testing.T, h *host.Host) edits {
	t.Helper()
	dir := t.TempDir()
	return edits{t, session(t, h, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits}), filepath.Join(dir, "a file.txt")}
}

func (e edits) write(content string) string {
	e.t.Helper()
	return e.done("Write", map[string]any{"file_path": e.file, "content": content})
}

func (e edits) edit(old, with string) string {
	e.t.Helper()
	return e.done("Edit", map[string]any{"file_path": e.file, "old_string": old, "new_string": with})
}

func (e edits) done(tool string, input any) string {
	e.t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		e.t.Fatal(err)
	}
	r := call(e.t.Context(), e.s, tool, string(text))
	if r.IsError {
		e.t.Fatalf("%s failed: %s", tool, r.Text())
	}
	return r.Text()
}

// openEditor opens a host with the built-in tools that runs programs.
func openEditor(t *testing.T, deny string) *host.Host {
	t.Helper()
	return open(t, host.Options{
		Builtins: true, Shell: &host.Shell{}, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")},
	}, "", deny)
}

// TestDiagnosticsOfEdits notes what an edit brought, by an editor that is a program: errors first,
// ten at most, and nothing that was there before.
func TestDiagnosticsOfEdits(t *testing.T) {
	servers.SetDiagnosticsTime(t, testenv.Patience)
	h := openEditor(t, "")
	config := program(t, "editor")
	e := editing(t, h)
	config.Name, config.Read = "ide", []string{filepath.Dir(e.file)}
	connect(t, h, config)
	if got := e.write("fine\n"); strings.Contains(got, "user's editor") {
		t.Errorf("of a clean file: %s", got)
	}
	note := fmt.Sprintf("The user's editor reports, since this edit of %s:", e.file)
	if got, want := e.edit("fine", "warning: so so\nerror: bad\nfine"), note+"\n- error, line 2:1: bad (lint)\n- warning, line 1:1: so so (lint)"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	if got, want := e.edit("warning", "\nerror: worse\nwarning"), note+"\n- error, line 2:1: worse (lint)"; !strings.HasSuffix(got, want) {
		t.Errorf("moved ones are told again, or the new one is not: %s", got)
	}
	_, told, _ := strings.Cut(e.write(strings.Repeat("error: \x1b[31m many\n", 13)), note)
	if !strings.HasSuffix(told, "\nand 3 more") || strings.Contains(told, "- error, line 11:") || strings.Contains(told, "\x1b") {
		t.Errorf("got %s", told)
	}
}

// TestEditorsThatDoNotTell add nothing to a result, and delay it by two seconds at most.
func TestEditorsThatDoNotTell(t *testing.T) {
	t.Parallel()
	type made struct{ name, deny string }
	for name, test := range map[string]struct {
		made
		found func(file string) (string, error)
	}{
		"fails":          {made{"ide", ""}, func(string) (string, error) { return "", errors.New("no") }},
		"tells nonsense": {made{"ide", ""}, func(string) (string, error) { return "all is well", nil }},
		"hangs": {made{"ide", ""}, func(string) (string, error) {
			time.Sleep(3 * time.Second)
			return lint("")
		}},
		"is denied":      {made{"ide", "mcp__ide__getDiagnostics"}, lint},
		"is no editor":   {made{"other", ""}, lint},
		"tells of other": {made{"ide", ""}, func(string) (string, error) { return lint("/elsewhere") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer()
			editorTools(s, test.found)
			h := openEditor(t, test.deny)
			connect(t, h, servers.Config{Name: test.name, URL: serve(t, s)})
			if got := editing(t, h).write("error: bad\n"); strings.Contains(got, "user's editor") {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestEditorsToolsComeLast, and can be called as those of any server.
func TestEditorsToolsComeLast(t *testing.T) {
	t.Parallel()
	s := newServer()
	editorTools(s, lint)
	h := open(t, host.Options{}, "mcp__ide", "")
	connect(t, h, servers.Config{Name: "ide", URL: serve(t, s)}, servers.Config{Name: "zoo", URL: serve(t, newServer())})
	in := session(t, h, host.SessionOptions{})
	if got, want := strings.Join(offered(t, in), " "), "mcp__zoo__say mcp__ide__executeCode mcp__ide__getDiagnostics mcp__ide__say"; got != want {
		t.Errorf("offered: %s", got)
	}
	if r := call(t.Context(), in, "mcp__ide__executeCode", `{"code":"1+1"}`); r.IsError || r.Text() != "executed" || r.Error != (*abi.Error)(nil) {
		t.Errorf("got %s", r.Text())
	}
}
