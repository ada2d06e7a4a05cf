//go:build linux && (amd64 || arm64)

package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
)

// TestSkillScriptsRun in the sandbox of commands once the skill is loaded, by names that their words
// do not tell; they can change nothing there.
func TestSkillScriptsRun(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"skills/mend/SKILL.md": skillText("mend", "", "Run scripts/run.sh.\n"), "skills/mend/scripts/run.sh": "echo RAN; echo x > $(dirname $0)/new || echo KEPT\n",
		"skills/other/SKILL.md": skillText("other", "", "-\n"),
	})
	for name, own := range map[string][]string{"elsewhere": nil, "in a folder of the host's own": {dir}} {
		h := newShelled(t, func(o *host.Options) {
			o.Permissions.Rules = rules("", "", "Bash")
			o.Skills.Sources = []host.SkillSource{{Label: "user", Dir: dir}}
			o.Paths.Host = append(o.Paths.Host, own...)
		})
		s := session(t, h.Host, host.SessionOptions{Asker: agreeing()})
		run := `d=$(printf %s ` + dir + `)/skills; sh $d/mend/scripts/run.sh; cat $d/other/SKILL.md`
		if got := told(t, s, run); strings.Contains(got, "RAN") {
			t.Errorf("%s, before it is loaded: %q", name, got)
		}
		call(t, s, skillTool, `{"skill":"mend"}`)
		if got := told(t, s, run); !strings.Contains(got, "RAN") || !strings.Contains(got, "KEPT") || strings.Contains(got, "Does other") {
			t.Errorf("%s, once it is loaded: %q", name, got)
		}
		call(t, s, "Read", `{"file_path":"`+dir+`/skills/mend/scripts/run.sh"}`)
		if r := call(t, s, "Grep", `{"pattern":"RAN","path":"`+dir+`/skills/mend"}`); !strings.Contains(r.Text(), "run.sh") {
			t.Errorf("%s, Grep finds %q", name, r.Text())
		}
	}
}

// TestSkillsInAWorktree of the project that the session came from stay readable, whether they were
// loaded before it was entered or after.
func TestSkillsInAWorktree(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "-", "skills/mend/SKILL.md": skillText("mend", "", "-\n"), "skills/mend/how.txt": "like this\n"})
	configured(t, dir)
	gitIn(t, dir, "add", "a.txt")
	gitIn(t, dir, "commit", "-q", "-m", "one")
	h, _ := withTree(t, func(o *host.Options) {
		o.Permissions.Rules = rules("", "", "EnterWorktree | Bash")
		o.Skills.Sources = []host.SkillSource{{Label: "project", Dir: dir, Within: dir}}
	})
	for _, before := range []bool{true, false} {
		s := session(t, h.Host, host.SessionOptions{Cwd: dir})
		if before {
			call(t, s, skillTool, `{"skill":"mend"}`)
		}
		entered(t, s, fmt.Sprintf(`{"name":"before-%v"}`, before))
		if !before {
			call(t, s, skillTool, `{"skill":"mend"}`)
		}
		if r, _ := one(t, s, "Read", `{"file_path":"`+dir+`/skills/mend/how.txt"}`); r.IsError || !strings.Contains(r.Text(), "like this") {
			t.Errorf("loaded before: %v; read %s", before, r.Text())
		}
		if got := told(t, s, "d=$(printf %s "+dir+"); cat $d/skills/mend/how.txt"); !strings.HasSuffix(got, "like this") {
			t.Errorf("loaded before: %v; a command read %s", before, got)
		}
		if r, _ := one(t, s, "Read", `{"file_path":"`+dir+`/a.txt"}`); !r.IsError {
			t.Errorf("what is no skill's can be read: %s", r.Text())
		}
	}
}
