package host_test

import (
	"slices"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestReasons has a question list all that asks, as sentences.
func TestReasons(t *testing.T) {
	t.Parallel()
	const commands = "This mode asks before commands that are not known to only read."
	for name, test := range map[string]struct {
		tool, input, ask string
		mode             permissions.Mode
		want             []string
	}{
		"an edit":      {tool: "Put", input: `{"path":"a"}`, want: []string{"This mode asks before edits."}},
		"an edit away": {tool: "Put", input: `{"path":"/opt/a"}`, mode: permissions.ModeAcceptEdits, want: []string{"It is an edit outside the working directories."}},
		"a read":       {tool: "Get", input: `{"path":"/opt/a"}`, want: []string{"It is outside the working directories."}},
		"a command": {tool: "Bash", input: `{"command":"make --version && frobnicate a"}`, want: []string{
			commands, "`frobnicate` is not on the list of known programs."}},
		"all parts": {tool: "Bash", input: `{"command":"gizmo test && npm test && gizmo; cat /etc/hosts /etc/group"}`, want: []string{
			commands,
			"`gizmo` is not on the list of known programs.",
			"`npm test`: it writes logs, and heeds the repository's .npmrc or .yarnrc, which may name programs.",
			"Reading /etc/hosts: it is outside the working directories.",
			"Reading /etc/group: it is outside the working directories.",
		}},
		"a rule first": {tool: "Bash", input: `{"command":"frobnicate a && git push"}`, ask: "Bash(git push:*)", want: []string{
			"The ask rule Bash(git push:*) (user) asks.", commands, "`frobnicate` is not on the list of known programs."}},
		"a protected file": {tool: "Put", input: `{"path":".git/config"}`, want: []string{"Git runs programs that its hooks and configuration name."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r ran
			person := no()
			h := open(t, host.Options{Tools: []host.NativeTool{r.put(), r.get(), r.shell(notRun)}, Permissions: host.PermissionOptions{Rules: rules("", test.ask, "")}})
			one(t, session(t, h, host.SessionOptions{Asker: person, Mode: test.mode}), test.tool, test.input)
			if q := person.last.Load(); q == nil || !slices.Equal(q.Reasons, test.want) {
				t.Errorf("got %q, want %q", q.Reasons, test.want)
			}
		})
	}
}
