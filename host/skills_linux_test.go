//go:build linux && (amd64 || arm64)

package host_test

import (
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
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = rules("", "", "Bash")
		o.Skills.Sources = []host.SkillSource{{Label: "user", Dir: dir}}
	})
	s := session(t, h.Host, host.SessionOptions{Asker: agreeing()})
	run := `d=$(printf %s ` + dir + `)/skills; sh $d/mend/scripts/run.sh; cat $d/other/SKILL.md`
	if got := told(t, s, run); strings.Contains(got, "RAN") {
		t.Errorf("before it is loaded: %q", got)
	}
	call(t, s, skillTool, `{"skill":"mend"}`)
	if got := told(t, s, run); !strings.Contains(got, "RAN") || !strings.Contains(got, "KEPT") || strings.Contains(got, "Does other") {
		t.Errorf("once it is loaded: %q", got)
	}
}
