//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// A command sees no temporary files but its own, wherever they lie.
func TestTemporaryFilesOfOthers(t *testing.T) {
	for name, test := range map[string]struct {
		temp, cwd string // the machine's folder for temporary files, and where the command works
	}{
		"beside":                            {"scratch", "w"},
		"where the command works":           {"w", "w"},
		"around the command":                {"w", "w/project"},
		"all in one, which is not writable": {"", "w"},
	} {
		t.Run(name, func(t *testing.T) {
			at := test.temp + "/"
			root := tree(t, at+"toolquay-1/tmp/mine", at+"toolquay-1/output", at+"toolquay-2/tmp/theirs", "w/project/f")
			t.Setenv("TMPDIR", root+"/"+test.temp)
			s := find(t, sandbox.Options{State: root + "/state"})
			spec := sandbox.Spec{
				Writable: under(root, test.cwd), Cwd: root + "/" + test.cwd, Temp: root + "/" + at + "toolquay-1/tmp",
				Bind: []sandbox.Bind{{Source: root, Target: root}}, // as all is that does not lie in /tmp
			}
			out, err := run(t, s, spec, []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "T=" + root + "/" + test.temp},
				`cat /tmp/mine $T/toolquay-1/tmp/mine; cat $T/toolquay-1/output $T/toolquay-2/tmp/theirs 2>/dev/null; echo x > /tmp/n; echo ran`)
			want := "content of " + at + "toolquay-1/tmp/mine"
			if err != nil || out != want+want+"ran\n" && out != want+"\n"+want+"\nran\n" {
				t.Errorf("got %v, %q", err, out)
			}
		})
	}
}
