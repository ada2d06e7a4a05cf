package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// What one session keeps, another does not read unasked, though the directory of all
// of them lies in its working directory.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	const secret = "a line that one session keeps\n"
	root := t.TempDir()
	var r ran
	long := does("Long", func(context.Context, *host.Call) (string, error) { return strings.Repeat(secret, 10_000), nil })
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(root, "sessions")}, Tools: append(r.chainTools(), long)})
	sessions := make(map[string]*host.Session)
	for _, id := range []string{"one", "other"} {
		s := session(t, h, host.SessionOptions{ID: id, Cwd: root})
		if result, _ := one(t, s, "Long", `{}`); !strings.Contains(result.Text(), "<persisted-output>") {
			t.Fatalf("got %q", result.Text())
		}
		sessions[id] = s
	}
	get := func(path string) string { return fmt.Sprintf(`{"path":%q}`, path) }
	s := sessions["one"]
	for folder, readable := range map[string]bool{s.Dir(): true, sessions["other"].Dir(): false} {
		kept, err := filepath.Glob(filepath.Join(folder, "tool-results", "*"))
		if err != nil || len(kept) != 1 {
			t.Fatalf("%v, %v", kept, err)
		}
		link := filepath.Join(root, "link-to-"+filepath.Base(folder))
		must(t, os.Symlink(kept[0], link))
		for _, use := range []abi.ToolUse{
			use("1", "Get", get(kept[0])),
			use("2", "Get", get(link)),
			use("3", "Bash", fmt.Sprintf(`{"command":%q}`, "cat "+kept[0])),
			use("4", "Bash", fmt.Sprintf(`{"command":%q}`, "grep -r line "+folder)),
		} {
			results, _ := turnOf(t, s, use)
			if !readable {
				wantError(t, results[0], abi.CodeNeedsApproval, "what other sessions keep")
			} else if results[0].IsError {
				t.Errorf("%s: %s", use.Input, results[0].Text())
			}
		}
	}
	for where, want := range map[string]string{root: "No matches", s.Dir(): ".txt"} {
		found, _ := one(t, s, "Grep", fmt.Sprintf(`{"pattern":"one session keeps","path":%q}`, where))
		if found.IsError || !strings.Contains(found.Text(), want) {
			t.Errorf("a search of %s found %s", where, found.Text())
		}
	}
	bypass := session(t, h, host.SessionOptions{Cwd: root, Mode: permissions.ModeBypass})
	kept, _ := filepath.Glob(filepath.Join(s.Dir(), "tool-results", "*"))
	if result, _ := one(t, bypass, "Get", get(kept[0])); result.IsError {
		t.Errorf("where nothing asks: %s", result.Text())
	}
}
