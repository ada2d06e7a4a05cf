package shell_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// A sandbox of which a path was changed while it was made is made once more: another
// command's harmless change is no reason to fail. It is bubblewrap that the change
// comes right before.
func TestSandboxMadeOnceMore(t *testing.T) {
	testenv.Permitted(t, testenv.Linux)
	program := testenv.NeedTool(t, "bwrap")
	s := newSession(t)
	root := filepath.Dir(s.dir)
	made := filepath.Join(root, "made")
	script := "#!/bin/sh\ncd " + root + "\n" +
		"if mv -T change made 2>/dev/null; then mv " + s.dir + "/x " + s.dir + "/y; ln -s y " + s.dir + "/x; fi\n" +
		"exec " + program + ` "$@"` + "\n"
	between := filepath.Join(root, "between")
	testenv.WriteProgram(t, between, []byte(script))
	for _, dir := range []string{filepath.Join(s.dir, "x"), filepath.Join(s.dir, "x", "secret")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	box, report := sandbox.Find(t.Context(), sandbox.Options{State: filepath.Join(root, "state"), Home: root, Program: between})
	if !report.Available {
		testenv.Missing(t, "no sandbox: "+report.String())
	}
	s.hidden = []string{filepath.Join(s.dir, "x", "secret")}
	c := newShell(t, func(o *shell.Options) { o.Mode, o.Sandbox, o.Network = sandbox.Required, box, sandbox.NetworkOff })
	if err := os.Mkdir(filepath.Join(root, "change"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := s.bash(c, "touch n; ls x/secret 2>/dev/null || echo hidden")
	if r.Exit != 0 || r.out != "hidden\n" {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(made); err != nil {
		t.Error("nothing was changed")
	}
}
