package gitrepo

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// configurations are files in git's format, with and without mistakes.
var configurations = []string{
	"",
	"[core]\n\thooksPath = .githooks\n",
	"\ufeff[core]hooksPath=x",
	"[core]\r\n\thooksPath = a b \t\r\n[user]\r\n",
	"[CoRe] HOOKSPATH = x ; said\n# and\n;more\nbare\n",
	"[core]\n hooksPath = \"a ; b\" c # d\n x=\"  \"\n",
	"[core]\n hooksPath = a\\\n  b\\tc\\\"d\\\\\\n\n",
	"[includeIf \"gitdir:~/x \\\"y\\\\z/\"]\n path = ../p\n[include] path=q\n",
	"[a.B]\nx=1\n[a \"B\"]\nx=2\n[ a]\nx=3\n",
	"[core]\n x = \"open\n y=1\n", "[core]\n x = \\q\n", "[core\nx=1\n", "[core]\n1x=2\n-y=3\nz z=1\n", "x=1\n", "[core]\nx=1\\", "[core \"a\nb\"]\nx=1",
	"[core]\nx = a\"b \"c  \"\"  \n", "[core] ; said\nx\n=1\n", "[core]]\n", "[]\nx=1\n", "[a]\nx=#y\nz=\n", "[a\t\"b\"]\nx=\ty\t\n",
}

// TestParseConfig reads what git does, as far as it goes in a file with a mistake.
func TestParseConfig(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	texts := configurations
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"[core]", "[a \"", "\"]", "x", "=", " ", "\t", "\n", "\\", "\"", "#", ";", "y = z\n", "[b.c]\n", "\\\n", "\\t", "\r\n", "é"}
	for range testenv.Sample(300) {
		var text strings.Builder
		text.WriteString("[core]\n")
		for range r.IntN(14) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		texts = append(texts, text.String())
	}
	file := filepath.Join(t.TempDir(), "config")
	understood := 0
	for _, text := range texts {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range parseConfig([]byte(text)) {
			got.WriteString(s.section + "." + s.subsection + "." + s.key + "=" + s.value + "\n")
		}
		out, err := exec.CommandContext(t.Context(), git, "config", "--list", "-z", "--file", file).Output()
		if err != nil {
			continue // git does nothing at all with such a file
		}
		understood++
		if want := plainly(string(out)); got.String() != want {
			t.Errorf("%q:\n%q\ngit has\n%q", text, got.String(), want)
		}
	}
	if understood < testenv.Sample(50) {
		t.Errorf("git understood %d of the files", understood)
	}
}

// plainly is git's list as the test writes settings.
func plainly(out string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		name, value, _ := strings.Cut(line, "\n")
		first, last := strings.Index(name, "."), strings.LastIndex(name, ".")
		switch {
		case name == "":
			continue
		case first < 0: // it stands before any section
			name, first, last = ".."+name, 0, 1
		}
		b.WriteString(name[:first] + "." + name[min(first+1, last):last] + "." + name[last+1:] + "=" + value + "\n")
	}
	return b.String()
}

func FuzzParseConfig(f *testing.F) {
	for _, text := range configurations {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range parseConfig([]byte(text)) {
			if s.key == "" || s.key != strings.ToLower(s.key) || len(s.value) > len(text) {
				t.Errorf("%q: %+v", text, s)
			}
		}
	})
}
