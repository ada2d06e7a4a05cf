package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestChoose(t *testing.T) {
	none := sandbox.Report{Kind: "none", Reasons: []string{"bubblewrap is not installed"}}
	there := sandbox.Report{Kind: "bubblewrap", Available: true}
	for _, test := range []struct {
		mode    sandbox.Mode
		report  sandbox.Report
		use     bool
		warning string
		err     string
	}{
		{sandbox.Off, there, false, "", ""},
		{sandbox.Off, none, false, "", ""},
		{sandbox.WhenAvailable, there, true, "", ""},
		{sandbox.WhenAvailable, none, false, "without a sandbox", ""},
		{sandbox.Required, there, true, "", ""},
		{sandbox.Required, none, false, "", "bubblewrap is not installed"},
		{"sometimes", there, false, "", "none of"},
	} {
		use, warning, err := sandbox.Choose(test.mode, test.report)
		if use != test.use || !strings.Contains(warning, test.warning) || (warning == "") != (test.warning == "") {
			t.Errorf("%s, available %v: got %v and %q", test.mode, test.report.Available, use, warning)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s, available %v: got %v", test.mode, test.report.Available, err)
		}
		if test.mode == sandbox.Required && err != nil && !errors.Is(err, sandbox.ErrNone) {
			t.Errorf("got %v", err)
		}
	}
}

// profiles are specifications with a golden file each.
var profiles = map[string]sandbox.Spec{
	"nothing": {},
	"work": {
		Writable: []string{"/Users/me/work", "/Users/me/work/a/b"}, Hidden: []string{"/Users/me/.ssh", "/Users/me/work/a"},
		Protected: []string{"/Users/me/work/.git/hooks/", "/Users/me/work/.bashrc"}, Temp: "/private/var/folders/x/T",
	},
	"odd names": {
		Writable: []string{`/Users/me/a "b" \c)`}, Network: sandbox.NetworkAll,
		Hidden: []string{"/Users/me/a \"b\" \\c)/(deny\n\t#", "/Users/me/caf\u00e9", "/Users/me/cafe\u0301s", "/Users/me/\xff\xfe", "/Users/me/office", "/Users/me/sstreet"},
	},
	"view": {
		Writable: []string{"/Users/me/work"}, Visible: []string{"/usr", "/System", "/Users/me/go"}, Hidden: []string{"/Users/me/work/.env", "/Users/me/go/private"},
		Bind: []sandbox.Bind{{Source: "/Users/me/notes"}, {Source: "/Users/me/log", Writable: true}}, Protected: []string{"/Users/me/work/.npmrc"}, Temp: "/private/var/folders/x/T",
	},
	"hosts": {Writable: []string{"/w"}, Network: sandbox.NetworkHosts, ProxyPort: 4711},
	"read only": {
		Writable: []string{"/w"}, Protected: []string{"/w/x"}, Temp: "/t", Network: sandbox.NetworkAll, ReadOnly: true,
		Bind: []sandbox.Bind{{Source: "/t/cwd", FIFO: true}, {Source: "/o", Writable: true}},
	},
}

func TestProfile(t *testing.T) {
	for name, spec := range profiles {
		t.Run(name, func(t *testing.T) {
			got := sandbox.Profile(spec)
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".sb")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// On macOS the profile is run.
func TestProfileHolds(t *testing.T) {
	testenv.Permitted(t, testenv.SandboxExec)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/w", "/o", "/w/secret"} {
		if err := os.MkdirAll(root+dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+dir+"/f", []byte("content\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{
		Writable: []string{root + "/w"}, Hidden: []string{root + "/w/secret"}, Protected: []string{root + "/w/.bashrc"}, Cwd: root + "/w",
	}
	for shell, allowed := range map[string]bool{
		`echo x > n`: true, `cat ../o/f`: true, `echo x > ../o/n`: false, `cat secret/f`: false,
		`mv secret s; cat s/f`: false, `echo x > .bashrc`: false, `echo x > b; mv b .bashrc`: false,
		`: > /dev/tcp/127.0.0.1/9`: false,
	} {
		cmd := exec.CommandContext(t.Context(), "sandbox-exec", "-p", sandbox.Profile(spec), "/bin/bash", "-c", shell)
		cmd.Dir = spec.Cwd
		if out, err := cmd.CombinedOutput(); (err == nil) != allowed {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}
