package permissions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

const goodSettings = `[permissions]
deny = [
  "Read(.env)", # a secret
  "Bash",
]
ask = ["Edit(/vendor)"]
allow = ["Read(//usr/share/doc)"]
mode = "default"
additional_directories = ["../lib"]
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadSettings(t *testing.T) {
	t.Parallel()
	path := write(t, goodSettings)
	s, err := permissions.LoadSettings(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.File != path || len(s.Deny) != 2 || s.Deny[0] != (permissions.RuleText{Text: "Read(.env)", Line: 3}) ||
		s.Deny[1].Line != 4 || s.Ask[0].Line != 6 || s.Allow[0].Line != 7 || s.Mode != permissions.ModeDefault ||
		len(s.Directories) != 1 {
		t.Errorf("%+v", s)
	}
	setup := testSetup()
	set, warnings := s.RuleSet(permissions.SourceProject, true)
	if len(warnings) != 0 {
		t.Errorf("%v", warnings)
	}
	setup.Rules = []permissions.RuleSet{set}
	d := permissions.Decide(compile(t, setup), parseRequest("read /ws/proj/.env"), permissions.Evidence{})
	if want := (permissions.Source{Kind: permissions.SourceProject, File: path, Line: 3}); d.Rule == nil || d.Rule.Source != want {
		t.Errorf("decided by %+v", d.Rule)
	}
}

func TestUntrustedProjectOnlyTightens(t *testing.T) {
	t.Parallel()
	s, err := permissions.ParseSettings("p.toml", []byte(goodSettings))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []permissions.SourceKind{permissions.SourceProject, permissions.SourceProjectLocal} {
		set, warnings := s.RuleSet(kind, false)
		if len(set.Deny) != 2 || len(set.Ask) != 1 || set.Allow != nil || set.Mode != "" || set.Directories != nil {
			t.Errorf("%s: %+v", kind, set)
		}
		if len(warnings) != 3 || warnings[0].String() != kind.String()+", p.toml: 1 allow rules left out: the project is not trusted" {
			t.Errorf("%s: %v", kind, warnings)
		}
	}
	if set, warnings := s.RuleSet(permissions.SourceUser, false); len(set.Allow) != 1 || len(warnings) != 0 {
		t.Errorf("the user's own rules: %+v, %v", set, warnings)
	}
	var none *permissions.Settings
	if set, warnings := none.RuleSet(permissions.SourceUser, true); len(set.Deny) != 0 || warnings != nil {
		t.Errorf("no settings: %+v", set)
	}
}

func TestLoadSettingsFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"all at once": {"[permissions]\ndenny = []\nmode = 3\nask = [1]\n", "settings.toml: line 2: permissions.denny: unknown key; did you mean \"deny\"?\n" +
			"settings.toml: line 3: permissions.mode: found the integer 3, expected a string\n" +
			"settings.toml: line 4: permissions.ask[0]: found the integer 1, expected a string"},
		"mode":      {"[permissions]\n\nmode = 'plan'\n", `line 3: permissions.mode: unknown mode "plan"`},
		"no mode":   {"[permissions]\nmode = ''\n", `line 2: permissions.mode: unknown mode ""`},
		"syntax":    {"[permissions]\nmode = default\n", "line 2: "},
		"duplicate": {"[permissions]\ndeny = []\ndeny = []\n", "line 3: "},
		"mark":      {"\xef\xbb\xbf[permissions]\n", "byte order mark"},
		"latin-1":   {"[permissions]\ndeny = ['\xe9']\n", "line 2: not valid UTF-8"},
		"large":     {strings.Repeat("#", 2<<20), "larger than 1048576 bytes"},
		"table":     {"deny = []\n", `line 1: deny: unknown key`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, tt.text)
			s, err := permissions.LoadSettings(path)
			if err == nil || s != nil {
				t.Fatalf("no error: %+v", s)
			}
			got := strings.ReplaceAll(err.Error(), path, "settings.toml")
			if !strings.Contains(got, tt.want) || !strings.Contains(got, "settings.toml") {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestLoadSettingsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if s, err := permissions.LoadSettings(filepath.Join(dir, "missing")); s != nil || err != nil {
		t.Errorf("missing: %v, %v", s, err)
	}
	if _, err := permissions.LoadSettings(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("directory: %v", err)
	}
	if _, err := permissions.LoadSettings(filepath.Join(write(t, ""), "below")); err == nil {
		t.Error("a file for a directory is taken for missing settings")
	}
	if s, err := permissions.LoadSettings(write(t, "")); err != nil || s == nil || s.Mode != "" {
		t.Errorf("empty: %+v, %v", s, err)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add(goodSettings)
	f.Add("permissions.deny = ['Read(a)']\npermissions.mode = 'x'")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := permissions.ParseSettings("f", []byte(text))
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if err != nil {
			return
		}
		set, _ := s.RuleSet(permissions.SourceUser, true)
		setup := testSetup()
		setup.Rules = []permissions.RuleSet{set}
		p, _, err := permissions.Compile(setup)
		if err != nil {
			return
		}
		if n := len(p.Rules()); n < len(s.Deny)+len(s.Ask) || n > len(s.Deny)+len(s.Ask)+len(s.Allow) {
			t.Fatalf("%d rules of %d, %d, %d", n, len(s.Deny), len(s.Ask), len(s.Allow))
		}
	})
}

func TestIsolationIsDemandedInSettings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want abi.Isolation
		says string
	}{
		"":                                   {"", ""},
		"[plugins]\nisolation = \"process\"": {abi.IsolationProcess, ""},
		"[plugins]\nisolation = \"sandbox\"": {abi.IsolationSandbox, ""},
		"[plugins]\nisolation = \"\"":        {"", `s.toml: line 2: plugins.isolation: "" is no isolation; write "sandbox" or "process"`},
		"[plugins]\nisolation = \"thread\"":  {"", `s.toml: line 2: plugins.isolation: "thread" is no isolation`},
		"[plugins]\nisolation = true":        {"", "s.toml: line 2: plugins.isolation"},
		"[plugins]\nisolate = true":          {"", "s.toml: line 2: plugins.isolate"},
	}
	for text, test := range tests {
		s, err := permissions.ParseSettings("s.toml", []byte(text))
		switch {
		case test.says != "":
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q: got %v; want one that says %q", text, err, test.says)
			}
		case err != nil || s.Isolation != test.want:
			t.Errorf("%q: got %+v, %v", text, s, err)
		}
	}
}
