package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// feeds is a command that reads what another one names.
const feeds = `find . -type l -print0 | xargs -0 cat`

// TestChainGlobs judges the files that a pattern matches by where they lead.
func TestChainGlobs(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.WriteFile(elsewhere, []byte("OUTSIDE"), 0o600))
	many := sync.OnceValue(func() string {
		content := map[string]string{}
		for i := range 10_001 {
			content[fmt.Sprint("many/", i)] = ""
		}
		return files(t, content)
	})
	for name, test := range map[string]struct {
		command string
		links   map[string]string
		many    bool // there are more names than are looked at
		free    bool // no rule denies anything
		want    abi.Code
	}{
		"a loop":                     {command: `for f in *.txt; do cat "$f"; done`},
		"a loop to a link out":       {command: `for f in *.txt; do cat "$f"; done`, links: map[string]string{"b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"names of a pipe":            {command: feeds, free: true, links: map[string]string{"b.txt": "a.txt"}},
		"a link among them":          {command: feeds, free: true, links: map[string]string{"sub/b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"a denied one among them":    {command: feeds, want: abi.CodeNeedsApproval},
		"links that ls lists":        {command: "ls | xargs cat", free: true, links: map[string]string{"b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"links that grep follows":    {command: "grep -R alpha .", free: true, links: map[string]string{"sub/b": elsewhere}, want: abi.CodeNeedsApproval},
		"links that it follows in":   {command: "grep -R alpha .", free: true, links: map[string]string{"sub/b": "../a.txt", "sub/c": "."}},
		"links behind links":         {command: "grep -R alpha sub", free: true, links: map[string]string{"sub/b": "../other", "other/c": elsewhere}, want: abi.CodeNeedsApproval},
		"links to /proc":             {command: "find -L . -maxdepth 1", free: true, links: map[string]string{"sub/b": "/proc/self"}, want: abi.CodeNeedsApproval},
		"links that are not met":     {command: "grep -r alpha .", free: true, links: map[string]string{"sub/b": elsewhere}},
		"too many names for links":   {command: "grep -R alpha .", free: true, many: true, want: abi.CodeNeedsApproval},
		"plain files":                {command: "cat *.txt"},
		"a link inside":              {command: "cat *.txt", links: map[string]string{"b.txt": "a.txt"}},
		"a link out":                 {command: "cat *.txt", links: map[string]string{"b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"a link that does not match": {command: "cat *.txt", links: map[string]string{"b.go": elsewhere}},
		"a class":                    {command: "cat [!a].txt", links: map[string]string{"b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"a directory":                {command: "cat d*/elsewhere", links: map[string]string{"dir": filepath.Dir(elsewhere)}, want: abi.CodeNeedsApproval},
		"to a denied file":           {command: "cat *.txt", links: map[string]string{"b.txt": ".env"}, want: abi.CodeDenied},
		"too many to look at":        {command: "cat many/*", many: true, want: abi.CodeNeedsApproval},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dir string
			if test.many {
				testenv.SkipUnlessThorough(t) // making the files takes longer than all the rest
				dir = many()
			} else {
				dir = files(t, map[string]string{".env": "SECRET", "a.txt": "alpha", "sub/x": "", "other/x": ""})
			}
			for link, target := range test.links {
				must(t, os.Symlink(target, filepath.Join(dir, link)))
			}
			denied := rules("Read(.env)", "", "")
			if test.free {
				denied = nil
			}
			var r ran
			h := open(t, host.Options{Tools: []host.NativeTool{r.shell(runLine)}, Permissions: host.PermissionOptions{Rules: denied}})
			result, _ := one(t, session(t, h, host.SessionOptions{Cwd: dir}), "Bash", fmt.Sprintf(`{"command":%q}`, test.command))
			if test.want != "" {
				wantError(t, result, test.want)
			} else if result.IsError {
				t.Errorf("%+v", result)
			}
			if (r.count() > 0) != (test.want == "") {
				t.Errorf("it ran %d times", r.count())
			}
		})
	}
}
