//go:build amd64 || arm64

package sandbox_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestDiagnose(t *testing.T) {
	const said = "Creating new namespace failed: Operation not permitted"
	for _, test := range []struct {
		machine sandbox.Machine
		said    string
		want    string
	}{
		{sandbox.NewMachine("0", "", "", true, false), said, "user.max_user_namespaces"},
		{sandbox.NewMachine("1000", "0", "", true, false), said, "kernel.unprivileged_userns_clone"},
		{sandbox.NewMachine("1000", "1", "1", true, false), said, "AppArmor"},
		{sandbox.NewMachine("1000", "", "", false, false), said, "seccomp"},
		{sandbox.NewMachine("1000", "", "", true, true), said, "container"},
		{sandbox.NewMachine("1000", "", "", true, true), "Can't mount proc on /newroot/proc", "hides parts of /proc"},
	} {
		reasons := sandbox.Diagnose(test.said, test.machine)
		if len(reasons) != 2 || !strings.Contains(reasons[0], test.want) || !strings.Contains(reasons[1], test.said) {
			t.Errorf("got %q, want %q", reasons, test.want)
		}
	}
	if reasons := sandbox.Diagnose(said, sandbox.NewMachine("1", "1", "0", true, false)); len(reasons) != 1 {
		t.Errorf("got %q where nothing is known", reasons)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"bubblewrap 0.8.0\n": "0.8.0", "bubblewrap 0.11": "0.11.0",
		"": "", "bwrap 0.8.0": "", "bubblewrap zero": "", "bubblewrap 0.8.0-rc1": "",
	} {
		if got, err := sandbox.ParseVersion(text); (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// What does not work is reported and not used.
func TestFindReports(t *testing.T) {
	program := func(name, script string) string {
		path := filepath.Join(t.TempDir(), name)
		testenv.WriteProgram(t, path, []byte("#!/bin/sh\n"+script))
		return path
	}
	state := filepath.Join(t.TempDir(), "state")
	for want, o := range map[string]sandbox.Options{
		"not installed":           {Program: "/no/such/bwrap", State: state},
		"does not tell":           {Program: program("silent", "exit 1"), State: state},
		"at least 0.5.0":          {Program: program("old", "echo bubblewrap 0.4.1"), State: state},
		"bubblewrap said: broken": {Program: program("broken", `[ "$1" = --version ] && echo bubblewrap 0.8.0 || { echo broken; exit 1; }`), State: state},
		"folder for its state":    {Program: program("fine", "echo bubblewrap 0.8.0")},
	} {
		s, report := sandbox.Find(t.Context(), o)
		if s != nil {
			t.Cleanup(func() { _ = s.Close() }) // it was only tried
		}
		if s != nil && s.Confines() || report.Available || !strings.Contains(report.String(), want) {
			t.Errorf("got %v, want %q", report, want)
		}
	}
}
