package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

const (
	allow = permissions.Allow
	deny  = permissions.Deny
)

// user is the user's file as a target.
func (p *place) user() settings.Target {
	return settings.Target{Kind: user, Path: p.path(userFile)}
}

// project is a file of the project as a target.
func (p *place) project(name string) settings.Target {
	return settings.Target{Kind: permissions.SourceProjectLocal, Path: p.path(name), Root: p.path("proj")}
}

func (p *place) read(tb testing.TB, name string) string {
	tb.Helper()
	content, err := os.ReadFile(p.path(name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

// edits are files before and after the allow rule X was added and, where remove
// is not empty, before and after it was taken out.
type edit struct{ before, after string }

var addedTOML = map[string]edit{
	"empty":              {"", "[permissions]\nallow = [\n  \"X\",\n]\n"},
	"comment only":       {"# mine", "# mine\n\n[permissions]\nallow = [\n  \"X\",\n]\n"},
	"other table":        {"[plugins]\nisolation = \"process\"\n", "[plugins]\nisolation = \"process\"\n\n[permissions]\nallow = [\n  \"X\",\n]\n"},
	"no list":            {"[permissions] # p\n\n# next\n[plugins]\n", "[permissions] # p\nallow = [\n  \"X\",\n]\n\n# next\n[plugins]\n"},
	"other list":         {"[permissions]\ndeny = [\"A\"] # a\n\n[plugins]\n", "[permissions]\ndeny = [\"A\"] # a\nallow = [\n  \"X\",\n]\n\n[plugins]\n"},
	"other list, no end": {"[permissions]\ndeny = [\"A\"]", "[permissions]\ndeny = [\"A\"]\nallow = [\n  \"X\",\n]\n"},
	"indented":           {"[permissions]\n  deny = [\n  ]\n", "[permissions]\n  deny = [\n  ]\n  allow = [\n    \"X\",\n  ]\n"},
	"one line":           {"[permissions]\nallow = [\"A\", 'B'] # c\n", "[permissions]\nallow = [\"A\", 'B', \"X\"] # c\n"},
	"one line, comma":    {"[permissions]\nallow = [ \"A\", ]\n", "[permissions]\nallow = [ \"A\", \"X\", ]\n"},
	"none yet":           {"[permissions]\nallow = []\n", "[permissions]\nallow = [\"X\"]\n"},
	"none, a blank":      {"[permissions]\nallow = [ ]\n", "[permissions]\nallow = [\"X\" ]\n"},
	"none, lines":        {"[permissions]\nallow = [\n  # none [yet], \"no\"\n]\n", "[permissions]\nallow = [\n  # none [yet], \"no\"\n  \"X\",\n]\n"},
	"lines":              {"[permissions]\nallow = [\n\t\"A\",\n\t\"B\", # why, ]\n\t# more\n]\n", "[permissions]\nallow = [\n\t\"A\",\n\t\"B\", # why, ]\n\t\"X\",\n\t# more\n]\n"},
	"lines, no comma":    {"[permissions]\nallow = [\n  \"A\",\n  \"B\" # why\n]\n", "[permissions]\nallow = [\n  \"A\",\n  \"B\", # why\n  \"X\"\n]\n"},
	"bracket beside":     {"[permissions]\nallow = [\n  \"A\",\n  \"B\"]\n", "[permissions]\nallow = [\n  \"A\",\n  \"B\",\n  \"X\"]\n"},
	"bracket, comma":     {"[permissions]\nallow = [\n  \"A\", ]\n", "[permissions]\nallow = [\n  \"A\",\n  \"X\", ]\n"},
	"first on the line":  {"[permissions]\nallow = [\"A\",\n         \"B\",\n]\n", "[permissions]\nallow = [\"A\",\n         \"B\",\n         \"X\",\n]\n"},
	"comma first":        {"[permissions]\nallow = [\n  \"A\"\n  , \"B\"\n]\n", "[permissions]\nallow = [\n  \"A\"\n  , \"B\", \"X\"\n]\n"},
	"late comma":         {"[permissions]\nallow = [\n  \"A\" # a\n  , # b\n]\n", "[permissions]\nallow = [\n  \"A\" # a\n  , # b\n  \"X\",\n]\n"},
	"tables in it":       {"[permissions]\nallow = [{ rule = \"A\", match = [\"x\"] }]\n", "[permissions]\nallow = [{ rule = \"A\", match = [\"x\"] }, \"X\"]\n"},
	"long string":        {"[permissions]\nallow = [\n  \"\"\"\nA]\"\"\",\n]\n", "[permissions]\nallow = [\n  \"\"\"\nA]\"\"\",\n  \"X\",\n]\n"},
	"dotted":             {"permissions.deny = [\"A\"]\nplugins.isolation = \"process\"\n", "permissions.deny = [\"A\"]\npermissions.allow = [\n  \"X\",\n]\nplugins.isolation = \"process\"\n"},
	"dotted list":        {"permissions . 'allow' = [\"A\"]\n", "permissions . 'allow' = [\"A\", \"X\"]\n"},
	"inline table":       {"permissions = { deny = [\"A\"] }\n", "permissions = { deny = [\"A\"], allow = [\"X\"] }\n"},
	"inline, with list":  {"permissions = { allow = [\"A\"] }\n", "permissions = { allow = [\"A\", \"X\"] }\n"},
	"inline, empty":      {"permissions = {}\n", "permissions = { allow = [\"X\"] }\n"},
	"quoted keys":        {"[\"permissions\"]\n\"allow\" = [\"A\"]\n", "[\"permissions\"]\n\"allow\" = [\"A\", \"X\"]\n"},
	"tables of another":  {"[[permissions.deny]]\nrule = \"A\"\n", "[[permissions.deny]]\nrule = \"A\"\n\n[permissions]\nallow = [\n  \"X\",\n]\n"},
	"CRLF":               {"[permissions]\r\nallow = [\r\n  \"A\", # a\r\n]\r\n", "[permissions]\r\nallow = [\r\n  \"A\", # a\r\n  \"X\",\r\n]\r\n"},
	"CRLF, no list":      {"[permissions]\r\n[plugins]\r\n", "[permissions]\r\nallow = [\r\n  \"X\",\r\n]\r\n[plugins]\r\n"},
	"mark":               {"\xef\xbb\xbf[permissions]\nallow = [\"A\"]\n", "\xef\xbb\xbf[permissions]\nallow = [\"A\", \"X\"]\n"},
}

var addedJSON = map[string]edit{
	"empty":        {"{}\n", "{\n  \"permissions\": {\n    \"allow\": [\n      \"X\"\n    ]\n  }\n}\n"},
	"other key":    {"{\n\t\"model\": 1.0\n}\n", "{\n\t\"model\": 1.0,\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"X\"\n\t\t]\n\t}\n}\n"},
	"other list":   {"{\n  \"permissions\": {\n    \"deny\": [\"A\"]\n  }\n}", "{\n  \"permissions\": {\n    \"deny\": [\"A\"],\n    \"allow\": [\n      \"X\"\n    ]\n  }\n}"},
	"no list":      {"{\n  \"permissions\": {}\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"X\"\n    ]\n  }\n}"},
	"no list, gap": {"{\n  \"permissions\": {\n  }\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"X\"\n    ]\n  }\n}"},
	"none yet":     {"{\n    \"permissions\": {\n        \"allow\": []\n    }\n}", "{\n    \"permissions\": {\n        \"allow\": [\n            \"X\"\n        ]\n    }\n}"},
	"none, gap":    {"{\n  \"permissions\": {\n    \"allow\": [\n    ]\n  }\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"X\"\n    ]\n  }\n}"},
	"lines":        {"{\n  \"permissions\": {\n    \"allow\": [\n      \"A\"\n    ]\n  }\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n      \"X\"\n    ]\n  }\n}"},
	"one line":     {"{\n  \"permissions\": {\"allow\": [\"A\"]}\n}", "{\n  \"permissions\": {\"allow\": [\"A\", \"X\"]}\n}"},
	"compact":      {`{"permissions":{"allow":["A"]}}`, `{"permissions":{"allow":["A","X"]}}`},
	"compact none": {`{"permissions":{"allow":[]}}`, `{"permissions":{"allow":["X"]}}`},
	"compact list": {`{"permissions":{"deny":["A"]}}`, `{"permissions":{"deny":["A"],"allow":["X"]}}`},
	"compact root": {`{"model": "m"}`, `{"model": "m", "permissions": {"allow": ["X"]}}`},
	"CRLF":         {"{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"A\"\r\n    ]\r\n  }\r\n}\r\n", "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"A\",\r\n      \"X\"\r\n    ]\r\n  }\r\n}\r\n"},
	"mark":         {"\xef\xbb\xbf{\"permissions\":{\"allow\":[]}}", "\xef\xbb\xbf{\"permissions\":{\"allow\":[\"X\"]}}"},
}

func TestAddRule(t *testing.T) {
	t.Parallel()
	for name, tests := range map[string]map[string]edit{localFile: addedTOML, claudeLocal: addedJSON} {
		for title, tt := range tests {
			t.Run(filepath.Ext(name)+" "+title, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.write(t, name, tt.before)
				rule := settings.Rule{Text: "X"}
				added, err := settings.AddRule(p.project(name), allow, rule)
				if got := p.read(t, name); !added || err != nil || got != tt.after {
					t.Fatalf("%t, %v, got:\n%q\nwant:\n%q", added, err, got, tt.after)
				}
				if added, err = settings.AddRule(p.project(name), allow, rule); added || err != nil || p.read(t, name) != tt.after {
					t.Errorf("again: %t, %v", added, err)
				}
				// Out again, nothing else may have changed; where lines were made for
				// it they may stay.
				removed, err := settings.RemoveRule(p.project(name), allow, "X")
				if after := p.read(t, name); !removed || err != nil || !subsequence(strings.ReplaceAll(after, "\n", ""), tt.after) || strings.Contains(after, "X") {
					t.Errorf("removed: %t, %v, %q", removed, err, after)
				}
				if removed, err = settings.RemoveRule(p.project(name), allow, "X"); removed || err != nil {
					t.Errorf("removed again: %t, %v", removed, err)
				}
			})
		}
	}
}

func TestRemoveRule(t *testing.T) {
	t.Parallel()
	toml := map[string]edit{
		"of one line":    {"[permissions]\nallow = [\"A\", \"X\", \"B\"]\n", "[permissions]\nallow = [\"A\", \"B\"]\n"},
		"first":          {"[permissions]\nallow = [\"X\", \"A\"]\n", "[permissions]\nallow = [\"A\"]\n"},
		"last":           {"[permissions]\nallow = [\"A\", \"X\"] # a\n", "[permissions]\nallow = [\"A\"] # a\n"},
		"last, comma":    {"[permissions]\nallow = [\"A\", \"X\", ]\n", "[permissions]\nallow = [\"A\", ]\n"},
		"only":           {"[permissions]\nallow = [ \"X\" ]\n", "[permissions]\nallow = [  ]\n"},
		"twice":          {"[permissions]\nallow = [\"X\", 'X', \"A\"]\n", "[permissions]\nallow = [\"A\"]\n"},
		"a table":        {"[permissions]\nallow = [{ rule = \"X\", match = [\"]\"] }, \"A\"]\n", "[permissions]\nallow = [\"A\"]\n"},
		"line":           {"[permissions]\nallow = [\n  \"A\", # a\n  \"X\", # why, not\n  # b\n  \"B\"\n]\n", "[permissions]\nallow = [\n  \"A\", # a\n  # b\n  \"B\"\n]\n"},
		"last line":      {"[permissions]\nallow = [\n  \"A\",\n  \"X\" # why\n]\n", "[permissions]\nallow = [\n  \"A\",\n]\n"},
		"late comma":     {"[permissions]\nallow = [\n  \"X\" # why\n  , \"A\"\n]\n", "[permissions]\nallow = [\n   \"A\"\n]\n"},
		"other list":     {"[permissions]\ndeny = [\"X\"]\nallow = [\"X\"]\n", "[permissions]\ndeny = [\"X\"]\nallow = []\n"},
		"bracket beside": {"[permissions]\nallow = [\n  \"A\",\n  \"X\"]\n", "[permissions]\nallow = [\n  \"A\",\n  ]\n"},
		"CRLF":           {"[permissions]\r\nallow = [\r\n  \"X\",\r\n]\r\n", "[permissions]\r\nallow = [\r\n]\r\n"},
	}
	json := map[string]edit{
		"only":    {"{\"permissions\": {\"allow\": [ \"X\" ]}}", "{\"permissions\": {\"allow\": []}}"},
		"first":   {"{\"permissions\": {\"allow\": [\n \"X\",\n \"A\"\n]}}", "{\"permissions\": {\"allow\": [\n \"A\"\n]}}"},
		"last":    {"{\"permissions\": {\"allow\": [\n \"A\",\n \"X\"\n]}}", "{\"permissions\": {\"allow\": [\n \"A\"\n]}}"},
		"escaped": {"{\"permissions\": {\"allow\": [\"\\u0058\", \"A\"]}}", "{\"permissions\": {\"allow\": [\"A\"]}}"},
	}
	for name, tests := range map[string]map[string]edit{localFile: toml, claudeLocal: json} {
		for title, tt := range tests {
			t.Run(filepath.Ext(name)+" "+title, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.write(t, name, tt.before)
				removed, err := settings.RemoveRule(p.project(name), allow, "X")
				if got := p.read(t, name); !removed || err != nil || got != tt.after {
					t.Errorf("%t, %v, got:\n%q\nwant:\n%q", removed, err, got, tt.after)
				}
			})
		}
	}
}

// subsequence reports whether all of a stands in b in order.
func subsequence(a, b string) bool {
	for i := range len(a) {
		at := strings.IndexByte(b, a[i])
		if at < 0 {
			return false
		}
		b = b[at+1:]
	}
	return true
}

func TestNewFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, want := range map[string]string{
		localFile:   "[permissions]\nallow = [\n  \"X\",\n]\n",
		claudeLocal: "{\n  \"permissions\": {\n    \"allow\": [\n      \"X\"\n    ]\n  }\n}\n",
	} {
		if removed, err := settings.RemoveRule(p.project(name), allow, "X"); removed || err != nil {
			t.Errorf("%t, %v", removed, err)
		}
		if added, err := settings.AddRule(p.project(name), allow, settings.Rule{Text: "X"}); !added || err != nil {
			t.Fatal(added, err)
		}
		if got := p.read(t, name); got != want {
			t.Errorf("%q", got)
		}
		entries, err := os.ReadDir(filepath.Dir(p.path(name)))
		if err != nil || len(entries) != 1 {
			t.Errorf("beside it lie %v, %v", entries, err)
		}
		for path, mode := range map[string]os.FileMode{p.path(name): 0o600, filepath.Dir(p.path(name)): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
}

func TestRulesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	rules := []settings.Rule{
		{Text: `Bash(echo "a\*b" 'c')`},
		{Text: "Read(a\u202eb\u2028\U000e0041 ü 😀)"},
		{Text: "Bash(make)", Expires: time.Date(2027, 1, 1, 1, 0, 0, 5, time.FixedZone("", 3600))},
		{Text: "Bash(git:*)", Match: []string{"git a\tb\u0007", `"`}, NotMatch: []string{"gita"}},
	}
	p := newPlace(t)
	for i, r := range rules {
		if added, err := settings.AddRule(p.user(), deny, r); !added || err != nil {
			t.Fatal(i, added, err)
		}
		if added, err := settings.AddRule(p.user(), deny, r); added || err != nil {
			t.Error("again", i, added, err)
		}
	}
	const want = "[permissions]\ndeny = [\n" +
		"  \"Bash(echo \\\"a\\\\*b\\\" 'c')\",\n" +
		"  \"Read(a\\u202eb\\u2028\U000e0041 ü 😀)\",\n" +
		"  { rule = \"Bash(make)\", expires = 2027-01-01T00:00:00Z },\n" +
		"  { rule = \"Bash(git:*)\", match = [\"git a\\tb\\u0007\", \"\\\"\"], not_match = [\"gita\"] },\n]\n"
	if got := p.read(t, userFile); got != want {
		t.Errorf("%s", got)
	}
	f, err := settings.Parse(user, "f", []byte(p.read(t, userFile)))
	if err != nil || len(f.Deny) != 4 || f.Deny[1].Text != rules[1].Text || !f.Deny[2].Expires.Equal(rules[2].Expires.Truncate(time.Second)) ||
		!slices.Equal(f.Deny[3].Match, rules[3].Match) {
		t.Errorf("%+v, %v", f, err)
	}
	if added, err := settings.AddRule(p.project(claudeFile), deny, rules[2]); added || err == nil || !strings.Contains(err.Error(), "settings.toml") {
		t.Errorf("%t, %v", added, err)
	}
	if added, err := settings.AddRule(p.project(claudeFile), deny, rules[1]); !added || err != nil || !strings.Contains(p.read(t, claudeFile), `\u202eb`) {
		t.Errorf("%t, %v", added, err)
	}
}

func TestEditsAreRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "")
	tests := map[string]struct {
		target settings.Target
		list   permissions.Verdict
		rule   string
		says   string
	}{
		"policy":         {settings.Target{Kind: policy, Path: p.path(systemFile)}, allow, "X", "a policy is changed by its administrator"},
		"command line":   {settings.Target{Kind: permissions.SourceCommandLine, Path: p.path("x")}, allow, "X", "rules of the command line stand in no file"},
		"session":        {settings.Target{Kind: permissions.SourceSession, Path: p.path("x")}, allow, "X", "rules of the session stand in no file"},
		"relative":       {settings.Target{Kind: user, Path: "x.toml"}, allow, "X", "not an absolute path"},
		"out of it":      {settings.Target{Kind: project, Path: p.path(userFile), Root: p.path("proj")}, allow, "X", "outside of the project"},
		"no root":        {settings.Target{Kind: project, Path: p.path(userFile)}, allow, "X", "the project's root"},
		"no list":        {p.user(), permissions.None, "X", "no list of rules for none"},
		"malformed":      {p.user(), allow, "Bash(", `the rule "Bash(": a ( without its )`},
		"not text":       {p.user(), allow, "Bash(\xff)", "not text"},
		"NUL":            {p.user(), allow, "Bash(\x00)", "not text"},
		"empty":          {p.user(), deny, "", "the rule is empty"},
		"file for a dir": {settings.Target{Kind: user, Path: p.path(userFile + "/x")}, allow, "X", "not a directory"},
	}
	for name, tt := range tests {
		added, err := settings.AddRule(tt.target, tt.list, settings.Rule{Text: tt.rule})
		if added || err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %t, %v", name, added, err)
		}
	}
	for _, v := range []permissions.Verdict{permissions.None, 99} {
		if removed, err := settings.RemoveRule(p.user(), v, "X"); removed || err == nil {
			t.Errorf("%v: %t, %v", v, removed, err)
		}
	}
}

func TestWhatCannotBeEditedIsLeftToThePerson(t *testing.T) {
	t.Parallel()
	const tables = "[[permissions.allow]]\nrule = \"A\"\n"
	p := newPlace(t)
	p.write(t, userFile, tables)
	added, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "X"})
	if manual, ok := errors.AsType[*settings.ManualError](err); added || !ok || manual.File != p.path(userFile) ||
		!strings.HasSuffix(err.Error(), `do it by hand: add "X" to the list allow of permissions`) {
		t.Errorf("%t, %v", added, err)
	}
	removed, err := settings.RemoveRule(p.user(), allow, "A")
	if _, ok := errors.AsType[*settings.ManualError](err); removed || !ok ||
		!strings.HasSuffix(err.Error(), `do it by hand: take "A" out of the list allow of permissions`) {
		t.Errorf("%t, %v", removed, err)
	}
	if p.read(t, userFile) != tables {
		t.Error("it was changed")
	}
}

func TestBrokenFilesAreNotEdited(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{localFile: "[permissions]\nallow = [\"A\"]\nx = 1\n", claudeLocal: "", claudeFile: "{\"permissions\": []}"} {
		p := newPlace(t)
		p.write(t, name, text)
		added, err := settings.AddRule(p.project(name), allow, settings.Rule{Text: "X"})
		if added || err == nil || !strings.Contains(err.Error(), "mend it first") || p.read(t, name) != text {
			t.Errorf("%t, %v", added, err)
		}
	}
}

func TestLinksAreKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, "dotfiles/toolquay.toml", "")
	p.write(t, userFile, "")
	link := func(to, name string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(p.path(name)), os.Symlink(to, p.path(name))); err != nil {
			t.Fatal(err)
		}
	}
	link(p.path("dotfiles/toolquay.toml"), userFile)
	if added, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "X"}); !added || err != nil {
		t.Fatal(added, err)
	}
	if to, err := os.Readlink(p.path(userFile)); err != nil || to != p.path("dotfiles/toolquay.toml") || !strings.Contains(p.read(t, "dotfiles/toolquay.toml"), "X") {
		t.Errorf("%s, %v", to, err)
	}
	// What a repository links to is not what the person was shown.
	p.write(t, localFile, "")
	link(p.path("dotfiles/toolquay.toml"), localFile)
	before := p.read(t, localFile)
	if added, err := settings.AddRule(p.project(localFile), allow, settings.Rule{Text: "Y"}); added || err == nil || p.read(t, localFile) != before {
		t.Errorf("%t, %v", added, err)
	}
	link(p.path("nowhere"), localFile)
	if added, err := settings.AddRule(p.project(localFile), allow, settings.Rule{Text: "Y"}); added || err == nil {
		t.Errorf("%t, %v", added, err)
	}
	link(p.path("dotfiles"), "proj/.toolquay")
	if added, err := settings.AddRule(p.project(localFile), allow, settings.Rule{Text: "Y"}); added || err == nil {
		t.Errorf("%t, %v", added, err)
	}
	if entries, err := os.ReadDir(p.path("dotfiles")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestModeIsKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "")
	if err := os.Chmod(p.path(userFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "X"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(p.path(userFile)); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestManyAddAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const writers, each = 8, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if added, err := settings.AddRule(p.user(), allow, settings.Rule{Text: fmt.Sprintf("T%d_%d", w, i)}); !added || err != nil {
					t.Error(added, err)
				}
			}
		})
	}
	wg.Wait()
	if l := p.load(t); len(l.Rules[0].Allow) != writers*each {
		t.Errorf("%d of %d rules are there", len(l.Rules[0].Allow), writers*each)
	}
	if entries, err := os.ReadDir(filepath.Dir(p.path(userFile))); err != nil || len(entries) != 1 {
		t.Errorf("beside it lie %v, %v", entries, err)
	}
}

func TestFullFilesGrowNoFurther(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text := strings.Repeat("#", 1<<20-10)
	p.write(t, userFile, text)
	added, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "X"})
	if added || err == nil || p.read(t, userFile) != text {
		t.Errorf("%t, %v", added, err)
	}
}
