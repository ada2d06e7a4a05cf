package skills_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/internal/testenv"
)

// plain is the least that a skill says.
const plain = "---\nname: x\ndescription: d\n---\nx"

// write makes files in a directory, by their names there.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func user(dir string) []skills.Source { return []skills.Source{{Label: "user", Dir: dir}} }

func all(*skills.Skill) bool { return true }

// named are the names of a set's skills, those that are not offered with an exclamation mark.
func named(set *skills.Set) (names []string) {
	for _, s := range set.All() {
		name := s.Name
		if s.Problem() != nil {
			name += "!"
		}
		names = append(names, name)
	}
	return names
}

// load loads a skill, which must be there.
func load(t *testing.T, set *skills.Set, name, args string) *skills.Loaded {
	t.Helper()
	s, err := set.Find(name, all)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Load(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFormat reads skills as people write them. What breaks the format in small ways is said, and
// used.
func TestFormat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		// name, description, hint and tools are what is read, and faults begins each fault.
		name, description, hint string
		tools                   []string
		faults                  []string
		body                    string
	}{
		"the format": {
			text: "---\nname: pdf\ndescription: Reads PDF.\nlicense: MIT\ncompatibility: Needs poppler\nmetadata:\n  version: \"1\"\nallowed-tools: Bash(pdftotext:*) Read\n---\n\n# PDF\n",
			name: "pdf", description: "Reads PDF.", tools: []string{"Bash(pdftotext:*)", "Read"}, body: "# PDF\n",
		},
		"unknown keys": {text: "---\nname: pdf\ndescription: d\nmodel: big\nhooks: [a, {b: c}]\n---\nx", name: "pdf", description: "d", body: "x\n"},
		"CRLF, and a byte order mark": {
			text: "\ufeff---\r\nname: pdf\r\ndescription: >\r\n  two\r\n  lines\r\n---\r\na\r\nb\r\n", name: "pdf", description: "two lines", body: "a\nb\n",
		},
		"a colon in a plain text": {
			text: "---\nname: pdf\ndescription: Use when: it's a PDF\n  that is long\nargument-hint: \"[file]\"\n---\nx", name: "pdf", description: "Use when: it's a PDF that is long", hint: "[file]", body: "x\n",
			faults: []string{"line 3: the front matter is not YAML, and was read line by line"},
		},
		"a hint that is a list to YAML": {text: "---\nname: pdf\ndescription: d\nargument-hint: [file] [page]\n---\nx", name: "pdf", description: "d", hint: "[file] [page]", body: "x\n", faults: []string{"line 3: the front matter is not YAML"}},
		"a hint that is one item":       {text: "---\nname: pdf\ndescription: d\nargument-hint: [file]\n---\nx", name: "pdf", description: "d", hint: "[file]", body: "x\n"},
		"tools as a list":               {text: "---\nname: pdf\ndescription: d\nallowed-tools:\n  - Bash(git add:*), Bash(git commit:*)\n  - Read\n---\nx", name: "pdf", description: "d", tools: []string{"Bash(git add:*)", "Bash(git commit:*)", "Read"}, body: "x\n"},
		"another name":                  {text: "---\nname: other\ndescription: d\n---\nx", name: "other", description: "d", body: "x\n", faults: []string{"line 2: the name is not that of the folder"}},
		"a name with capitals":          {text: "---\nname: My_Skill\ndescription: d\n---\nx", name: "My_Skill", description: "d", body: "x\n", faults: []string{"line 2: the name \"My_Skill\" is not of the format"}},
		"a name with blanks":            {text: "---\nname: My Skill\ndescription: d\n---\nx", name: "pdf", description: "d", body: "x\n", faults: []string{"line 2: the name \"My Skill\" cannot be called"}},
		"a name that leads elsewhere":   {text: "---\nname: ../../etc\ndescription: d\n---\nx", name: "pdf", description: "d", body: "x\n", faults: []string{"line 2: the name \"../../etc\" cannot be called"}},
		"a name of control characters":  {text: "---\nname: \"a\\eb\"\ndescription: d\n---\nx", name: "pdf", description: "d", body: "x\n", faults: []string{`line 2: the name "a\x1bb" cannot be called`}},
		"a long name":                   {text: "---\nname: " + strings.Repeat("a", 65) + "\ndescription: d\n---\nx", name: "pdf", description: "d", body: "x\n", faults: []string{"line 2: the name"}},
		"a long description":            {text: "---\nname: pdf\ndescription: " + strings.Repeat("ä", 1025) + "\n---\nx", name: "pdf", description: strings.Repeat("ä", 1023) + "…", body: "x\n", faults: []string{"line 3: the description has 1025 characters"}},
		"control characters":            {text: "---\nname: pdf\ndescription: \"a\\e[31m\\u202e\\nb\"\n---\nx", name: "pdf", description: `a\x1b[31m\u202e b`, body: "x\n"},
		"no front matter":               {text: "# Reading PDF\n\nUse it.", name: "pdf", description: "Reading PDF", body: "# Reading PDF\n\nUse it.\n", faults: []string{"line 1: there is no front matter", "line 1: it has no name", "line 1: it has no description"}},
		"empty front matter":            {text: "---\n---\nx", name: "pdf", description: "x", body: "x\n", faults: []string{"line 1: it has no name", "line 1: it has no description"}},
		"blank lines before":            {text: "\n\n---\nname: pdf\ndescription:\n  a: b\n---\nx", name: "pdf", description: "x", body: "x\n", faults: []string{"line 5: description must be a text", "line 5: it has no description"}},
		"a key twice":                   {text: "---\nname: pdf\ndescription: a\ndescription: b\n---\nx", name: "pdf", description: "a", body: "x\n", faults: []string{`line 4: "description" is there twice`}},
		"metadata that is a text":       {text: "---\nname: pdf\ndescription: d\nmetadata: x\n---\nx", name: "pdf", description: "d", body: "x\n", faults: []string{"line 4: metadata must be"}},
		"too many tools":                {text: "---\nname: pdf\ndescription: d\nallowed-tools: " + strings.Repeat("Read ", 51) + "\n---\nx", name: "pdf", description: "d", tools: slices.Repeat([]string{"Read"}, 50), body: "x\n", faults: []string{"line 4: allowed-tools has more than 50"}},
		"tools that do not show":        {text: "---\nname: pdf\ndescription: d\nallowed-tools: [\"Bash(a\\nb)\", \"Bash(\\e[2J)\", \"Bash(\\u202e)\", Read]\n---\nx", name: "pdf", description: "d", tools: []string{"Read"}, body: "x\n", faults: []string{"line 4: proposals of allowed-tools with characters that do not show"}},
		"aliases":                       {text: "---\nname: &n pdf\ndescription: *n\n---\nx", name: "pdf", description: "x", body: "x\n", faults: []string{"line 3: description must be a text", "line 3: it has no description"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := skills.Load(user(write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": test.text})), nil)
			if len(set.All()) != 1 || set.All()[0].Problem() != nil {
				t.Fatalf("found %v, %v", named(set), set.All())
			}
			s := set.All()[0]
			if s.Name != test.name || s.Description != test.description || s.Hint != test.hint || !slices.Equal(s.Tools, test.tools) || s.Hidden {
				t.Errorf("read %+v", *s)
			}
			if len(s.Faults) != len(test.faults) {
				t.Fatalf("the faults are %v; want %q", s.Faults, test.faults)
			}
			for i, f := range s.Faults {
				if !strings.HasPrefix(f.Error(), test.faults[i]) || f.Fatal {
					t.Errorf("fault %d is %q; want %q", i, f.Error(), test.faults[i])
				}
			}
			l := load(t, set, test.name, "")
			if l.Text != test.body || l.Chars != utf8.RuneCountInString(test.body) {
				t.Errorf("loaded %q, of %d characters; want %q", l.Text, l.Chars, test.body)
			}
		})
	}
}

// TestCannotBeUsed says why skills are not offered, with the line.
func TestCannotBeUsed(t *testing.T) {
	t.Parallel()
	var bombs strings.Builder
	bombs.WriteString("a: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&bombs, "%c: &%[1]c [*%[2]c, *%[2]c, *%[2]c, *%[2]c, *%[2]c, *%[2]c, *%[2]c, *%[2]c, *%[2]c]\n", 'b'+i, 'a'+i)
	}
	bomb := bombs.String()
	for name, test := range map[string]struct{ text, problem string }{
		"broken YAML":        {"---\nname: pdf\ndescription: [\n---\nx", "line 3: the front matter is not YAML"},
		"a list":             {"---\n- a\n---\nx", "line 2: the front matter is not YAML: it must be keys and values"},
		"no end":             {"---\nname: pdf\n", "line 1: the front matter has no end"},
		"an end too far":     {"---\nname: pdf\n" + strings.Repeat("# comment\n", 10_000) + "---\n", "the front matter does not end within 65536 bytes"},
		"long front matter":  {"---\nname: pdf\ndescription: d\nx: " + strings.Repeat("a", 66_000) + "\n---\n", "line 2: the front matter has more than 65536 bytes"},
		"deep front matter":  {"---\nname: pdf\nx: " + strings.Repeat("[", 60_000) + "\n---\n", "the front matter is not YAML"},
		"not UTF-8":          {"---\nname: pdf\ndescription: \xff\n---\n", "it is not text in UTF-8"},
		"binary":             {"\x7fELF\x00", "it is not text in UTF-8"},
		"larger than 10 MiB": {"---\nname: pdf\ndescription: d\n---\n" + strings.Repeat("a", skills.MaxFile), "at most 10485760 are read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := skills.Load(user(write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": test.text, "skills/good/SKILL.md": "---\nname: good\ndescription: d\n---\n"})), nil)
			if got := named(set); !slices.Equal(got, []string{"good", "pdf!"}) {
				t.Fatalf("found %v", got)
			}
			problem := set.All()[1].Problem()
			if !strings.Contains(problem.Error(), test.problem) {
				t.Errorf("the problem is %q; want %q", problem, test.problem)
			}
			if _, err := set.Find("pdf", all); abi.CodeOf(err) != abi.CodeDisabled || !strings.Contains(err.Error(), problem.Error()) {
				t.Errorf("calling it: %v", err)
			}
		})
	}
	// What only aliases make large is read as it is written.
	set := skills.Load(user(write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n" + bomb + "---\nx"})), nil)
	if got := named(set); !slices.Equal(got, []string{"pdf"}) {
		t.Errorf("found %v: %v", got, set.All()[0].Problem())
	}
}

// TestSources gives names to the weightiest, and finds the others by their source.
func TestSources(t *testing.T) {
	t.Parallel()
	md := func(text string) string { return "---\nname: pdf\ndescription: d\n---\n" + text }
	one := write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": md("user's"), "commands/pdf.md": "a command", "commands/git/commit.md": "Commit.", "skills/.hidden/SKILL.md": md(""), "skills/README.md": "-", "skills/empty/a.txt": "-"})
	two := write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": md("project's"), "skills/twin/SKILL.md": md("twin"), "commands/deep/er/and/deeper/x.md": "too deep", "commands/deep/er/and/y.MD": "deep"})
	plugin := write(t, t.TempDir(), map[string]string{"pdf/SKILL.md": md("plugin's"), "own/SKILL.md": "---\nname: own\ndescription: d\n---\nown"})
	set := skills.Load([]skills.Source{
		{Label: "user", Dir: one}, {Label: "project", Dir: two, Within: two}, {Label: "acme", Dir: plugin, Flat: true, Plugin: true}, {Label: "nowhere", Dir: filepath.Join(one, "nowhere")},
	}, []skills.Provided{
		{Name: "pdf", Description: "program's", Fetch: func(context.Context, string) (string, error) { return "program's", nil }},
		{Name: "../x", Fetch: func(context.Context, string) (string, error) { return "", nil }},
	})
	want := []string{"../x!", "acme:own", "acme:pdf", "deep:er:and:y", "git:commit", "pdf", "program:pdf", "project:pdf", "project:pdf!", "user:pdf"}
	if got := named(set); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	for name, text := range map[string]string{
		"pdf": "user's\n", "project:pdf": "project's\n", "acme:pdf": "plugin's\n", "program:pdf": "program's", "user:pdf": "a command\n",
		"own": "own\n", "acme:own": "own\n", "git:commit": "Commit.\n", "user:git:commit": "Commit.\n",
	} {
		if l := load(t, set, name, ""); l.Text != text {
			t.Errorf("%s is %q, want %q", name, l.Text, text)
		}
	}
	if len(set.Problems()) != 0 {
		t.Errorf("the problems are %v", set.Problems())
	}
	if got, _ := set.Find("pfd", all); got != nil {
		t.Errorf("pfd is %v", got)
	}
	for name, want := range map[string]string{"pfd": `there is no skill "pfd"; did you mean "pdf"?; there are acme:own, acme:pdf,`, "\x1b[": `there is no skill "\x1b["; there are`} {
		if _, err := set.Find(name, all); abi.CodeOf(err) != abi.CodeNotFound || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := set.Find("acme:own", func(s *skills.Skill) bool { return s.Label != "acme" }); abi.CodeOf(err) != abi.CodeNotFound || strings.Contains(err.Error(), "are acme") {
		t.Errorf("one that does not pass: %v", err)
	}
	var none *skills.Set
	if none.All() != nil || !none.None() || none.Problems() != nil {
		t.Error("no set has skills")
	}
}

// TestArguments are put in where the text has a place for them.
func TestArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command          bool
		text, args, want string
	}{
		{true, "Review $1 as $2.", `17 "Ann B"`, "Review 17 as Ann B.\n"},
		{true, "All: $ARGUMENTS.", `17 "Ann B"`, "All: 17 \"Ann B\".\n"},
		{true, "$1 $2 $3", "a b", "a b \n"},
		{true, "$10 $0 $ $x $$1", "a", "$10 $0 $ $x $a\n"},
		{true, "$1", "$2 $ARGUMENTS", "$2\n"}, // not looked through again
		{true, "$ARGUMENTS", "$ARGUMENTS", "$ARGUMENTS\n"},
		{true, "Do it.", "now", "Do it.\n\nARGUMENTS: now\n"},
		{true, "$1|$2", "it's Bob's", "it's|Bob's\n"},
		{true, "$1|$2", `"no end`, "no end|\n"},
		{true, "$1", "", "\n"},
		{true, "Price: $5", "", "Price: \n"},
		{false, "awk '{print $1}' $ARGUMENTS", "f.txt", "awk '{print $1}' f.txt\n"},
		{false, "awk '{print $1}'", "f.txt", "awk '{print $1}'\n\nARGUMENTS: f.txt\n"},
		{true, "!`rm -rf /` @/etc/passwd", "", "!`rm -rf /` @/etc/passwd\n"}, // text, whatever it says
	} {
		name := map[bool]string{true: "commands/x.md", false: "skills/x/SKILL.md"}[test.command]
		set := skills.Load(user(write(t, t.TempDir(), map[string]string{name: "---\nname: x\ndescription: d\n---\n" + test.text})), nil)
		if l := load(t, set, "x", test.args); l.Text != test.want {
			t.Errorf("%s: %q with %q is %q, want %q", name, test.text, test.args, l.Text, test.want)
		}
	}
}

// TestPluginNamedAsASource keeps its skills from being called as another source's.
func TestPluginNamedAsASource(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": plain})
	for label, taken := range map[string]bool{"user": true, "program": true, "acme": false} {
		set := skills.Load(append(user(dir), skills.Source{Label: label, Dir: filepath.Join(dir, "skills"), Flat: true, Plugin: true}), nil)
		if n, p := len(set.All()), set.Problems(); (n == 1) != taken || (len(p) == 1) != taken {
			t.Errorf("a plugin %s: %d skills, %v", label, n, p)
		}
	}
}

// TestDescribe keeps to its budget in characters: names first of all, and then descriptions that are
// shortened alike.
func TestDescribe(t *testing.T) {
	t.Parallel()
	list := func(n, chars int) []*skills.Skill {
		var out []*skills.Skill
		for i := range n {
			out = append(out, &skills.Skill{Name: fmt.Sprintf("skill-%04d", i), Description: strings.Repeat("ä", chars)})
		}
		return out
	}
	for _, test := range []struct {
		skills, chars int
		whole         bool   // the descriptions are
		ends          string // of the list
	}{
		{1, 1024, true, "ä\n"}, {7, 1024, true, "ä\n"}, {8, 1024, false, "…\n"}, {100, 200, false, "…\n"}, {100, 50, true, "ä\n"},
		{300, 500, false, "skill-0298, skill-0299\n"}, {1000, 500, false, " more\n"}, {0, 0, true, ""},
	} {
		got := skills.Describe(list(test.skills, test.chars), 8000)
		if n := utf8.RuneCountInString(got); n > 8000 || !strings.HasSuffix(got, test.ends) {
			t.Errorf("%d skills of %d: %d characters, which end in %q", test.skills, test.chars, n, got[max(0, len(got)-40):])
		}
		if whole := strings.Count(got, "ä") == test.skills*test.chars; whole != test.whole {
			t.Errorf("%d skills of %d: whole is %v", test.skills, test.chars, whole)
		}
	}
	short := skills.Describe([]*skills.Skill{{Name: "a", Description: "long " + strings.Repeat("x", 300)}, {Name: "b", Description: "short", Hint: "[file]"}}, 200)
	if lines := strings.Split(short, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "- a: long xxx") || !strings.HasSuffix(lines[0], "…") || lines[1] != "- b: short (arguments: [file])" {
		t.Errorf("got %q", short)
	}
}

// TestMany lists 1,000 skills in time, and leaves out what is beyond.
func TestMany(t *testing.T) { //nolint:paralleltest // others would take its time
	files := make(map[string]string)
	for i := range 1003 {
		files[fmt.Sprintf("skills/s%04d/SKILL.md", i)] = fmt.Sprintf("---\nname: s%04d\ndescription: Does the work of number %d when it is asked for.\n---\n%s", i, i, strings.Repeat("text\n", 100))
	}
	dir := write(t, t.TempDir(), files)
	if !testenv.Race {
		const usual = 10 * time.Millisecond // to read the files; a busy machine is slower at both
		testenv.InTime(t, 100*time.Millisecond, func() time.Duration {
			reads := testenv.Took(func() {
				for name := range files {
					if _, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
						t.Error(err)
					}
				}
			})
			slower := max(1, reads.Seconds()/usual.Seconds())
			return time.Duration(float64(testenv.Took(func() { skills.Load(user(dir), nil).All() })) / slower)
		})
	}
	set := skills.Load(user(dir), nil)
	if n := len(set.Listed(all)); n != 1000 {
		t.Errorf("%d are listed", n)
	}
	if p := set.Problems(); len(p) != 1 || !strings.Contains(p[0].Err.Error(), "the rest is left out (3)") {
		t.Errorf("the problems are %v", p)
	}
}

// TestChanges loads what a file says now: changed, hidden, broken, removed, or not admitted by now.
func TestChanges(t *testing.T) {
	t.Parallel()
	const front = "---\nname: pdf\ndescription: d\n"
	for name, test := range map[string]struct {
		now  string // empty removes it
		code abi.Code
		says string
	}{
		"changed":      {front + "---\nnew\n", "", "new\n"},
		"hidden":       {front + "disable-model-invocation: true\n---\nnew\n", abi.CodeDisabled, "is not for models"},
		"broken":       {"---\n- a\n---\n", abi.CodeDisabled, "cannot be used any more: line 2"},
		"removed":      {"", abi.CodeNotFound, "its file was removed"},
		"not admitted": {front + "allowed-tools: Bash\n---\nnew\n", abi.CodeDisabled, "nobody was shown it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": front + "---\nold\n"})
			admit := func() func(*skills.Skill) error {
				return func(s *skills.Skill) error {
					if len(s.Tools) > 0 {
						return errors.New("nobody was shown it")
					}
					return nil
				}
			}
			set := skills.Load([]skills.Source{{Label: "user", Dir: dir, Admit: admit}}, nil)
			if l := load(t, set, "pdf", ""); l.Text != "old\n" {
				t.Errorf("loaded %q", l.Text)
			}
			s, err := set.Find("pdf", all)
			if err != nil {
				t.Fatal(err)
			}
			if test.now == "" {
				err = os.RemoveAll(filepath.Join(dir, "skills", "pdf"))
			} else {
				err = os.WriteFile(s.Path, []byte(test.now), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			l, err := s.Load(t.Context(), "")
			if test.code == "" {
				if err != nil || l.Text != test.says {
					t.Errorf("loaded %+v, %v", l, err)
				}
			} else if abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v; want %s, %q", err, test.code, test.says)
			}
		})
	}
}

// TestEqual finds skills again, after no change and after each kind of one.
func TestEqual(t *testing.T) {
	t.Parallel()
	fetch := func(context.Context, string) (string, error) { return "", nil }
	provided := []skills.Provided{{Name: "p", Fetch: fetch}}
	dir := write(t, t.TempDir(), map[string]string{"skills/x/SKILL.md": plain, "commands/y.md": "y"})
	before := skills.Load(user(dir), provided)
	if !skills.Equal(before, skills.Load(user(dir), provided)) || !skills.Equal(nil, skills.Load(nil, nil)) {
		t.Error("what was found again differs")
	}
	if skills.Equal(before, skills.Load(user(dir), nil)) {
		t.Error("a provided skill went unseen")
	}
	for _, change := range []map[string]string{
		{"skills/x/SKILL.md": "---\nname: x\ndescription: e\n---\nx"},
		{"skills/x/SKILL.md": "---\nname: x\ndescription: e\ndisable-model-invocation: true\n---\nx"},
		{"skills/x/SKILL.md": "---\nname: x\ndescription: e\nallowed-tools: Read\n---\nx"},
		{"skills/x/SKILL.md": "---\nname: x\n---\nx"},
		{"skills/z/SKILL.md": "---\nname: z\ndescription: d\n---\nz"},
		{"commands/z.md": "z"},
	} {
		write(t, dir, change)
		after := skills.Load(user(dir), provided)
		if skills.Equal(before, after) {
			t.Errorf("the change is not seen: %q", change)
		}
		before = after
	}
}

// TestHidden are found, and neither listed nor loaded by models.
func TestHidden(t *testing.T) {
	t.Parallel()
	for value, hidden := range map[string]bool{"true": true, "True": true, "yes please": true, "Yes": true, "on": true, "false": false, "no": false, "off": false, `"no"`: false} {
		set := skills.Load(user(write(t, t.TempDir(), map[string]string{"commands/x.md": "---\ndisable-model-invocation: " + value + "\n---\nx"})), nil)
		_, err := set.Find("x", all)
		if got := set.All()[0].Hidden; got != hidden || (abi.CodeOf(err) == abi.CodeDisabled) != hidden || set.None() != hidden {
			t.Errorf("%s: hidden is %v, found %v", value, got, err)
		}
	}
}

// TestLong loads the beginning of a long text, and says how long it is.
func TestLong(t *testing.T) {
	t.Parallel()
	set := skills.Load(user(write(t, t.TempDir(), map[string]string{"commands/x.md": strings.Repeat("ä", skills.MaxText+7)})), nil)
	if l := load(t, set, "x", ""); l.Chars != skills.MaxText+8 || l.Text != strings.Repeat("ä", skills.MaxText) {
		t.Errorf("loaded %d characters, of %d", utf8.RuneCountInString(l.Text), l.Chars)
	}
}

// TestArgumentsMultiply loads a short text that names long arguments so often that all of it would be
// some 10 GB: it is counted, not made.
func TestArgumentsMultiply(t *testing.T) {
	t.Parallel()
	const times, long = 500_000, 20_000
	set := skills.Load(user(write(t, t.TempDir(), map[string]string{"commands/many.md": strings.Repeat("$1", times)})), nil)
	l := load(t, set, "many", strings.Repeat("ä", long))
	if l.Chars != times*long+1 || l.Text != strings.Repeat("ä", skills.MaxText) {
		t.Errorf("loaded %d bytes, and counted %d", len(l.Text), l.Chars)
	}
}

// TestCutCharacter lists skills whose first part, as much as is read to list them, ends in a character.
func TestCutCharacter(t *testing.T) {
	t.Parallel()
	for _, char := range []string{"ä", "漢", "😀"} {
		for i := range 4 {
			text := "---\nname: x\ndescription: " + strings.Repeat("d", i+1) + "\n---\n" + strings.Repeat(char, 40_000)
			set := skills.Load(user(write(t, t.TempDir(), map[string]string{"skills/x/SKILL.md": text})), nil)
			if got := named(set); !slices.Equal(got, []string{"x"}) {
				t.Errorf("%s, %d: found %q, %v", char, i, got, set.All()[0].Problem())
			}
		}
	}
}

// TestManyWarnings bounds what is kept of a file that is wrong in each line.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	text := "---\nname: x\ndescription: d\n" + strings.Repeat("a: b\n", 5000) + "---\nx"
	set := skills.Load(user(write(t, t.TempDir(), map[string]string{"skills/x/SKILL.md": text})), nil)
	if s := set.All()[0]; s.Problem() != nil || len(s.Faults) != 100 {
		t.Errorf("%v, with %d faults", s.Problem(), len(s.Faults))
	}
}

// TestEmbedded reads skills of a program's own file system, which have no folder.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"skills/pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: d\n---\nx")}, "commands/c.md": {Data: []byte("c")}}
	set := skills.Load([]skills.Source{{Label: "app", FS: fsys}}, nil)
	if l := load(t, set, "pdf", ""); l.Text != "x\n" || l.Skill.Dir != "" || l.Skill.Path != "" {
		t.Errorf("loaded %+v", l)
	}
	if got := named(set); !slices.Equal(got, []string{"c", "pdf"}) {
		t.Errorf("found %v", got)
	}
}

// TestSplit parts what a model wrote.
func TestSplit(t *testing.T) {
	t.Parallel()
	for written, want := range map[string][2]string{
		"x": {"x", ""}, "/x": {"x", ""}, " /x  a b ": {"x", "a b"}, "/x\n a\nb": {"x", "a\nb"}, "user:x": {"user:x", ""}, "": {"", ""}, "/": {"", ""},
	} {
		if name, args := skills.Split(written); name != want[0] || args != want[1] {
			t.Errorf("%q is %q with %q, want %q", written, name, args, want)
		}
	}
}

// TestCheck reads what a path names, whole.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{
		"skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\n", "skills/bad/SKILL.md": "---\nname: bad\ndescription: d\n---\n" + strings.Repeat("a", 80_000) + "\xff", "commands/c.md": "c", "other/a.txt": "-",
	})
	for path, want := range map[string]string{
		"skills/pdf": "pdf", "skills/pdf/SKILL.md": "pdf", "skills": "bad! pdf", "commands/c.md": "c", "skills/bad": "bad!",
	} {
		found, err := skills.Check(filepath.Join(dir, path))
		var names []string
		for _, s := range found {
			name := s.Name
			if s.Problem() != nil {
				name += "!"
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"other": "holds no skill", "other/a.txt": "neither a folder nor a Markdown file", "nowhere": "no such file"} {
		if _, err := skills.Check(filepath.Join(dir, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestFiles lists what is to be followed.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{"skills/pdf/SKILL.md": "-", "commands/git/deep/c.md": "-"})
	got := skills.Files([]skills.Source{{Dir: dir, Watched: []string{"trust.json"}}, {Dir: filepath.Join(dir, "skills"), Flat: true}, {FS: fstest.MapFS{}}})
	want := []string{"trust.json", dir + "/skills", dir + "/skills/pdf", dir + "/commands", dir + "/commands/git", dir + "/commands/git/deep", dir + "/skills", dir + "/skills/pdf"}
	for i := range want {
		want[i] = filepath.FromSlash(want[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzSkill reads any text as a skill and as a command: never with a panic, and what is listed keeps
// to its bounds.
func FuzzSkill(f *testing.F) {
	for _, seed := range []string{
		"---\nname: a\ndescription: b: c\nallowed-tools: Bash(a b), Read\n---\n$1 $ARGUMENTS", "---\n- a\n---", "---\na: &a [*a]\n---\n", "\ufeff---\r\nname: >\r\n  a\r\n---", "", "---", "--- \n\t---\n",
		"---\nname: a\n? [b]\n: c\n---\n", "---\n!!binary a: b\nname: !!int 1\n---\n", "---\nargument-hint: [a] [b]\nname: 'x''y'\n---",
	} {
		f.Add(seed, "a 'b c' $1")
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		fsys := fstest.MapFS{"skills/x/SKILL.md": {Data: []byte(text)}, "commands/y.md": {Data: []byte(text)}}
		for _, s := range skills.Load([]skills.Source{{Label: "app", FS: fsys}}, nil).All() {
			if n := utf8.RuneCountInString(s.Description); n > 1024 || strings.ContainsAny(s.Description+s.Name+s.Hint, "\n\x1b") || len(s.Tools) > 50 {
				t.Errorf("read %+v", *s)
			}
			if s.Problem() != nil {
				continue
			}
			l, err := s.Load(t.Context(), args)
			if s.Hidden != (err != nil) || err == nil && (l.Chars < utf8.RuneCountInString(l.Text) || strings.Contains(l.Text, "\r") && !strings.Contains(args, "\r")) {
				t.Errorf("loaded %+v, %v", l, err)
			}
		}
	})
}
