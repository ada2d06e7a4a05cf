package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestChainCommands puts commands through the chain that a file tool's rules bind.
func TestChainCommands(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	deny := rules("Read(.env)", "", "Bash(cat *) | Bash(grep *)")
	for name, test := range map[string]struct {
		input string
		mode  permissions.Mode
		list  []permissions.RuleSet
		want  abi.Code
		says  string
	}{
		"a denied file":                {input: `{"command":"cat .env"}`, list: deny, want: abi.CodeDenied, says: "Read(.env)"},
		"through a link":               {input: `{"command":"cat link"}`, list: deny, want: abi.CodeDenied, says: "Read(.env)"},
		"through a linked directory":   {input: `{"command":"cat here/.env"}`, list: deny, want: abi.CodeDenied},
		"by a redirect":                {input: `{"command":"cat < .env"}`, list: deny, want: abi.CodeDenied},
		"by a redirect through a link": {input: `{"command":"cat < link"}`, list: deny, want: abi.CodeDenied},
		"in a substitution":            {input: `{"command":"echo $(cat .env)"}`, list: deny, want: abi.CodeDenied},
		"after a cd":                   {input: `{"command":"cd sub && cat ../.env"}`, list: deny, want: abi.CodeDenied},
		"in bypassPermissions":         {input: `{"command":"cat .env"}`, mode: permissions.ModeBypass, list: deny, want: abi.CodeDenied},
		"behind a wrapper":             {input: `{"command":"timeout 3 nice cat .env"}`, list: deny, want: abi.CodeDenied},
		"another file":                 {input: `{"command":"cat a.txt"}`, list: deny},
		"a file by a rule outside":     {input: `{"command":"cat /etc/hostname-of-nobody"}`, list: rules("Read(//etc/**)", "", "Bash"), want: abi.CodeDenied},
		"cd elsewhere and a redirect":  {input: `{"command":"cd / && echo x > y"}`, list: rules("", "", "Bash"), want: abi.CodeNeedsApproval},
		"cd inside and a redirect":     {input: `{"command":"cd sub && echo x > y"}`, list: rules("", "", "Bash | Edit(sub/**)")},
		"leaving the sandbox":          {input: `{"command":"cat a.txt","dangerouslyDisableSandbox":true}`, mode: permissions.ModeBypass, want: abi.CodeNeedsApproval, says: "sandbox"},
		"leaving it, by a word":        {input: `{"command":"cat a.txt","dangerouslyDisableSandbox":"false"}`, mode: permissions.ModeBypass, want: abi.CodeNeedsApproval},
		"leaving it, in another case":  {input: `{"command":"cat a.txt","DangerouslyDisableSandbox":true,"dangerouslyDisableSandbox":false}`, mode: permissions.ModeBypass, want: abi.CodeNeedsApproval},
		"staying":                      {input: `{"command":"cat a.txt","dangerouslyDisableSandbox":false}`},
		"a control character":          {input: `{"command":"cat a.txt\u202e"}`, list: rules("", "", "Bash"), want: abi.CodeNeedsApproval},
		"a denied one unparsable":      {input: `{"command":"cat .env 'x"}`, list: rules("Bash(cat *)", "", "Bash"), want: abi.CodeDenied},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			dir := files(t, map[string]string{".env": "SECRET", "a.txt": "alpha", "sub/b": ""})
			must(t, os.Symlink(".env", filepath.Join(dir, "link")))
			must(t, os.Symlink(".", filepath.Join(dir, "here")))
			h := open(t, host.Options{Tools: []host.NativeTool{r.shell(runLine)}, Permissions: host.PermissionOptions{Rules: test.list}})
			s := session(t, h, host.SessionOptions{Cwd: dir, Mode: test.mode})
			result, _ := one(t, s, "Bash", test.input)
			if test.want != "" {
				wantError(t, result, test.want, test.says)
			} else if result.IsError {
				t.Error(result.Text())
			}
			if ran := r.count() == 1; ran != (test.want == "") || strings.Contains(result.Text(), "SECRET") {
				t.Errorf("ran: %v, with %q", ran, result.Text())
			}
		})
	}
}

// TestChainDerived runs read-only commands together, and what writes, or leaves the
// session elsewhere, alone.
func TestChainDerived(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		most  int
	}{
		"all read":       {[]string{"cat a", "ls", "wc -l b"}, 3},
		"one writes":     {[]string{"cat a", "touch b", "ls", "cat c"}, 2},
		"one moves":      {[]string{"cat a", "cd sub", "cat c"}, 1},
		"one is unknown": {[]string{"cat a", "frobnicate", "cat c"}, 1},
		"one is broken":  {[]string{"cat a", "cat 'c", "cat c"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			running, most := map[string]bool{}, 0
			meet := make(chan struct{})
			tool := (&ran{}).shell(func(_ context.Context, _, line string) (string, error) {
				mu.Lock()
				running[line] = true
				if most = max(most, len(running)); most == test.most && test.most > 1 {
					select {
					case <-meet:
					default:
						close(meet)
					}
				}
				mu.Unlock()
				if test.most > 1 { // those that can, wait for each other
					limit := 300 * time.Millisecond
					if slices.Contains(test.lines[len(test.lines)-test.most:], line) {
						limit = testenv.Patience // they are to meet
					}
					select {
					case <-meet:
					case <-time.After(limit):
					}
				}
				mu.Lock()
				delete(running, line)
				mu.Unlock()
				return "", nil
			})
			h := open(t, host.Options{Tools: []host.NativeTool{tool}})
			s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass, Cwd: files(t, map[string]string{"sub/x": ""})})
			var uses []abi.ToolUse
			for i, line := range test.lines {
				input, err := json.Marshal(map[string]string{"command": line})
				must(t, err)
				uses = append(uses, use(string(rune('a'+i)), "Bash", string(input)))
			}
			results, _ := turnOf(t, s, uses...)
			for i := range results {
				if results[i].IsError {
					t.Error(results[i].Text())
				}
			}
			if most != test.most {
				t.Errorf("%d ran at once, want %d", most, test.most)
			}
		})
	}
}

// TestChainFacts tells a tool of the paths that it may read, and of no others,
// though a command stands before them.
func TestChainFacts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []abi.Fact
	tool := (&ran{}).get()
	tool.Contract.InputSchema = anything
	tool.Contract.Validates = true
	tool.Contract.Fields = []abi.Field{
		{Name: "command", Kind: abi.FieldCommand}, {Name: "path", Kind: abi.FieldPath, Effect: "read"},
	}
	tool.Assess = func(_ context.Context, _ json.RawMessage, facts []abi.Fact) (abi.Assessment, error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, facts...)
		return abi.Assessment{}, nil
	}
	dir := files(t, map[string]string{"a.txt": "alpha"})
	elsewhere := files(t, map[string]string{"b.txt": "beta"})
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Cwd: dir, Asker: no()})
	for path, want := range map[string]int{"a.txt": 1, filepath.Join(elsewhere, "b.txt"): 0} {
		told = nil
		input, err := json.Marshal(map[string]string{"command": "cat a.txt", "path": path})
		must(t, err)
		one(t, s, "Get", string(input))
		if len(told) != want || want == 1 && told[0].Path != path {
			t.Errorf("of %s it is told %v", path, told)
		}
	}
}

// TestChainWorkingDirs takes the directories that settings name for working
// directories of the shell too, and where they lay when the session began.
func TestChainWorkingDirs(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	other, elsewhere := filepath.Join(t.TempDir(), "other"), t.TempDir()
	must(t, os.Mkdir(other, 0o700))
	list := rules("", "", "Bash(echo:*)")
	list[0].Directories = []string{other}
	var r ran
	h := open(t, host.Options{Tools: []host.NativeTool{r.shell(runLine)}, Permissions: host.PermissionOptions{Rules: list}})
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits})
	line := `{"command":"cd ` + other + ` && echo x > y"}`
	if result, _ := one(t, s, "Bash", line); result.IsError {
		t.Errorf("a directory of the settings: %+v", result)
	}
	must(t, os.RemoveAll(other))
	must(t, os.Symlink(elsewhere, other))
	result, _ := one(t, s, "Bash", line)
	wantError(t, result, abi.CodeNeedsApproval)
	if exists(filepath.Join(elsewhere, "y")) {
		t.Error("it was written where a link leads")
	}
}
