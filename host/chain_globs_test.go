package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestChainGlobs judges the files that a pattern matches by where they lead.
func TestChainGlobs(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.WriteFile(elsewhere, []byte("OUTSIDE"), 0o600))
	for name, test := range map[string]struct {
		command string
		links   map[string]string
		files   int
		want    abi.Code
	}{
		"plain files":                {command: "cat *.txt"},
		"a link inside":              {command: "cat *.txt", links: map[string]string{"b.txt": "a.txt"}},
		"a link out":                 {command: "cat *.txt", links: map[string]string{"b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"a link that does not match": {command: "cat *.txt", links: map[string]string{"b.go": elsewhere}},
		"a class":                    {command: "cat [!a].txt", links: map[string]string{"b.txt": elsewhere}, want: abi.CodeNeedsApproval},
		"a directory":                {command: "cat d*/elsewhere", links: map[string]string{"dir": filepath.Dir(elsewhere)}, want: abi.CodeNeedsApproval},
		"to a denied file":           {command: "cat *.txt", links: map[string]string{"b.txt": ".env"}, want: abi.CodeDenied},
		"too many to look at":        {command: "cat *.txt", files: 10_001, want: abi.CodeNeedsApproval},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := map[string]string{".env": "SECRET", "a.txt": "alpha"}
			for i := range test.files {
				content[fmt.Sprint("many/", i)] = ""
			}
			dir := files(t, content)
			if test.files > 0 {
				test.command = "cat many/*"
			}
			for link, target := range test.links {
				must(t, os.Symlink(target, filepath.Join(dir, link)))
			}
			var r ran
			h := open(t, host.Options{Tools: []host.NativeTool{r.shell(runLine)}, Rules: rules("Read(.env)", "", "")})
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
