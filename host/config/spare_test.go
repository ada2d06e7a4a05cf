package config_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/config"
)

// TestProbe has directories for state that can and cannot be written.
func TestProbe(t *testing.T) {
	base := t.TempDir()
	inTheWay := filepath.Join(base, "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	place := func(name string, mode os.FileMode) string {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	spare := func(temporary string) string {
		return filepath.Join(temporary, "toolquay-state-"+strconv.Itoa(os.Getuid()))
	}
	open, squatted, linked := place("open", 0o700), place("squatted", 0o700), place("linked", 0o700)
	if err := os.Mkdir(spare(squatted), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(spare(squatted), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(open, spare(linked)); err != nil {
		t.Fatal(err)
	}
	shared, runtimeDir := place("shared", 0o700), place("run", 0o700)
	tests := map[string]struct {
		state, runtime, temporary string
		spare, says               string
		unix                      bool
	}{
		"it can be written":      {state: filepath.Join(base, "new", "state"), temporary: open},
		"it cannot":              {state: filepath.Join(inTheWay, "x"), temporary: open, spare: spare(open), says: inTheWay},
		"there is none":          {temporary: open, spare: spare(open), says: "HOME"},
		"a runtime directory":    {state: inTheWay, runtime: runtimeDir, temporary: open, spare: filepath.Join(runtimeDir, "toolquay"), says: inTheWay},
		"a relative one":         {state: inTheWay, runtime: "run", temporary: open, spare: spare(open), says: inTheWay},
		"a runtime file":         {state: inTheWay, runtime: inTheWay, temporary: open, spare: spare(open), says: inTheWay},
		"nowhere":                {state: inTheWay, temporary: inTheWay, says: "cannot take its place"},
		"a spare open to others": {state: inTheWay, temporary: squatted, says: "0700", unix: true},
		"a spare that is a link": {state: inTheWay, temporary: linked, says: "not a directory", unix: true},
		"a state open to others": {state: shared, temporary: open},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.unix && runtime.GOOS == "windows" {
				return // access control lists close directories there
			}
			t.Setenv("XDG_RUNTIME_DIR", test.runtime)
			for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
				t.Setenv(variable, test.temporary)
			}
			d := config.Dirs{State: test.state}
			d.Probe()
			if d.Spare != test.spare || (d.StateError == nil) != (test.says == "") ||
				d.StateError != nil && !strings.Contains(d.StateError.Error(), test.says) {
				t.Errorf("the spare directory is %q: %v", d.Spare, d.StateError)
			}
			want := test.state
			if test.says != "" {
				want = test.spare
			}
			if want != "" {
				want = filepath.Join(want, "decisions")
			}
			if d.Decisions() != want {
				t.Errorf("decisions are kept in %q, want %q", d.Decisions(), want)
			}
			if d.State != "" && d.Trust() != filepath.Join(test.state, "trust.json") {
				t.Errorf("trust is kept in %s", d.Trust())
			}
		})
	}
}
