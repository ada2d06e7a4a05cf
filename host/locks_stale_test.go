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
	"github.com/toolquay/toolquay/permissions"
)

// TestLocksOfTheFilesAsTheyThenAre has a call that runs alone change which files the
// calls after it mean, which were submitted before it ran: those that come to mean
// the same file keep their order, and those that do not run side by side.
func TestLocksOfTheFilesAsTheyThenAre(t *testing.T) {
	t.Parallel()
	relink := func(root string) error {
		return os.Symlink(filepath.Join("sub", "x"), filepath.Join(root, "link"))
	}
	tests := map[string]struct {
		alter         func(root string) error
		cwd           string // where the session is afterwards; empty is where it was
		beside        bool   // it runs beside other calls instead of alone
		first, second string
		file          string // that both mean
	}{
		"another directory":                {cwd: "sub", first: "x", second: "ROOT/sub/x", file: "sub/x"},
		"another directory, beside others": {cwd: "sub", beside: true, first: "x", second: "ROOT/sub/x", file: "sub/x"},
		"another directory, the other way": {cwd: "sub", beside: true, first: "ROOT/sub/x", second: "x", file: "sub/x"},
		"a new link":                       {alter: relink, first: "link", second: "sub/x", file: "sub/x"},
		"another link": {alter: func(root string) error {
			return os.Rename(filepath.Join(root, "other"), filepath.Join(root, "dir"))
		}, first: "dir/x", second: "sub/x", file: "sub/x"},
		"a second name": {alter: func(root string) error {
			return os.Link(filepath.Join(root, "sub", "x"), filepath.Join(root, "hard"))
		}, first: "hard", second: "sub/x", file: "sub/x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := files(t, map[string]string{"sub/x": "", "away/x": ""})
			must(t, os.Symlink("away", filepath.Join(root, "dir")))
			must(t, os.Symlink("sub", filepath.Join(root, "other")))
			alter := alters(root, test.cwd, test.alter)
			if test.beside {
				alter = safely(alter)
			}
			s := session(t, open(t, host.Options{
				Tools:       []host.NativeTool{alter, appends(&overlaps{})},
				Permissions: host.PermissionOptions{Rules: rules("", "", "Append | Alter")},
			}), host.SessionOptions{Cwd: root})
			results := s.Results(t.Context(), []abi.ToolUse{
				use("0", "Alter", `{}`), appending("1", root, test.first), appending("2", root, test.second),
			})
			for _, r := range results {
				if r.IsError {
					t.Error(r.Text())
				}
			}
			got := contentOf(filepath.Join(root, test.file))
			if test.beside && got == "<2><1>" {
				return // both began before the change was known; one waited, and nothing is lost
			}
			if got != "<1><2>" {
				t.Errorf("the file holds %q, and one by one %q", got, "<1><2>")
			}
		})
	}
}

// alters is a tool that runs alone, does something to files, and leaves the session
// in another directory.
func alters(root, cwd string, alter func(root string) error) host.NativeTool {
	tool := echo("Alter", alone)
	tool.Run = func(context.Context, *host.Call) (r abi.ToolResult, err error) {
		if alter != nil {
			err = alter(root)
		}
		if cwd != "" {
			r.Changes = []abi.Change{{Kind: abi.ChangeCwd, Value: fmt.Appendf(nil, "%q", cwd)}}
		}
		return r, err
	}
	return tool
}

// appending is a call of [appends].
func appending(id, root, path string) abi.ToolUse {
	if rest, ok := strings.CutPrefix(path, "ROOT/"); ok {
		path = filepath.Join(root, rest)
	}
	return use(id, "Append", fmt.Sprintf(`{"path":%q,"text":"<%s>"}`, path, id))
}

// relinks is a tool that has a link lead to the file secret.
func relinks(t *testing.T, link string, contract abi.Tool, before time.Duration) host.NativeTool {
	t.Helper()
	return host.NativeTool{Contract: contract, Run: func(context.Context, *host.Call) (abi.ToolResult, error) {
		time.Sleep(before)
		return text("swapped"), errors.Join(os.Remove(link), os.Symlink("secret", link))
	}}
}

// TestJudgedByTheFilesAsTheyThenAre has a call change what a path leads to, while a call
// that names the path waits for it: the rules are held against where the path leads then.
func TestJudgedByTheFilesAsTheyThenAre(t *testing.T) {
	t.Parallel()
	locked := appends(&overlaps{}).Contract // it locks what the link leads to
	locked.Name = "Swap"
	unlocked := locked
	unlocked.Locks = ""
	look := reads(&overlaps{})
	derived := reads(&overlaps{})
	derived.Contract.Locks, derived.Contract.ConcurrencySafe, derived.Contract.ReadOnly = "", abi.TraitDerived, abi.TraitDerived
	for name, test := range map[string]struct {
		swap   abi.Tool
		before time.Duration
		look   host.NativeTool
		times  int
	}{
		"at once, with locks":    {locked, 0, look, 30},
		"after a while":          {locked, 10 * time.Millisecond, look, 1},
		"at once, without locks": {unlocked, 0, derived, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range test.times {
				root := files(t, map[string]string{"plain": "", "secret": "it"})
				link := filepath.Join(root, "link")
				must(t, os.Symlink("plain", link))
				s := session(t, open(t, host.Options{
					Tools:       []host.NativeTool{relinks(t, link, test.swap, test.before), test.look},
					Permissions: host.PermissionOptions{Rules: rules("Read(secret)", "", "Swap | Look")},
				}), host.SessionOptions{Cwd: root})
				results := s.Results(t.Context(), []abi.ToolUse{
					use("0", "Swap", `{"path":"link","text":""}`), use("1", "Look", `{"path":"link"}`),
				})
				if results[0].IsError {
					t.Fatal(results[0].Text())
				}
				wantError(t, results[1], abi.CodeDenied)
			}
		})
	}
}

// TestRewrittenIsJudgedAnew has a hook name another file for a tool with locks: the rules are
// held against that one.
func TestRewrittenIsJudgedAnew(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"plain": "", "secret": "it"})
	s := session(t, open(t, host.Options{
		Tools: []host.NativeTool{reads(&overlaps{})},
		Permissions: host.PermissionOptions{
			Rules: rules("Read(secret)", "", "Look"),
			Hooks: hookSet(t, host.Hook{Event: host.PreToolUse, Func: func(context.Context, host.HookInput) (host.HookOutput, error) {
				return host.HookOutput{Verdict: permissions.Allow, UpdatedInput: json.RawMessage(`{"path":"secret"}`)}, nil
			}}),
		},
	}), host.SessionOptions{Cwd: root})
	for range 30 {
		wantError(t, s.Results(t.Context(), []abi.ToolUse{use("1", "Look", `{"path":"plain"}`)})[0], abi.CodeDenied)
	}
}
