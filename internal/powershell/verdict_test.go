package powershell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// testPlace is where the commands of the tables run.
var testPlace = Place{Cwd: "/ws/proj", Home: "/home/u", Working: []string{"/ws/proj", "/ws/lib"}}

// verdictLine is one line of a table: `ro|no|fault : command`, or with :q and the
// command as a Go string.
type verdictLine struct{ where, want, command string }

// verdictLines reads the tables under testdata/verdicts.
func verdictLines(tb testing.TB) []verdictLine {
	tb.Helper()
	files, err := filepath.Glob("testdata/verdicts/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatal("no tables", err)
	}
	var out []verdictLine
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			where := filepath.Base(file) + ":" + strconv.Itoa(i+1)
			want, command, ok := strings.Cut(line, " : ")
			if head, text, isQuoted := strings.Cut(line, " :q "); isQuoted && !ok {
				want, ok = head, true
				if command, err = strconv.Unquote(text); err != nil {
					tb.Fatalf("%s: %v", where, err)
				}
			}
			if !ok {
				tb.Fatalf("%s: no verdict in %q", where, line)
			}
			out = append(out, verdictLine{where, want, command})
		}
	}
	return out
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, line := range verdictLines(t) {
		c := Analyse(line.command, testPlace)
		got := "no"
		switch {
		case c.Fault != "":
			got = "fault"
		case c.ReadOnly:
			got = "ro"
		}
		if got != line.want {
			t.Errorf("%s: %q is %s, want %s: %s", line.where, line.command, got, line.want, c.Reason)
		}
		if c.Reason == "" {
			t.Errorf("%s: %q has no reason", line.where, line.command)
		}
	}
}

// TestReasons holds what people are told.
func TestReasons(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"Get-Date":                    "it only reads",
		"Get-Date; git status":        "`git`: it is not known to only read",
		"Get-Content a -Wait":         "`Get-Content`: its parameter `-wait` is not known to only read",
		"Get-Content $x":              "`Get-Content`: what `$x` is, is only known when it runs",
		"Get-Content env:x":           "`Get-Content`: where `env:x` leads is not known",
		"gci | % { $_ }":              "it is not understood from `{` on (column 1)",
		"Get-Date\nGet-Item (x)":      "it is not understood from `(` on (line 2, column 1)",
		"Get-Date > f":                "`Get-Date`: it writes to `f`",
		"make; Get-Date":              "`make`: it is not known to only read",
		"'a":                          "a quote is not closed (column 1)",
		"Get-Item \u202e":             "it holds the hidden character U+202E, column 10",
		strings.Repeat("a", 10_001):   "it is longer than 10000 bytes",
		strings.Repeat("cd a\n", 51):  "it changes its directory too often to follow",
		"Set-Location /etc":           "`Set-Location`: it leaves the working directories",
		"Get-ChildItem | Get-Content": "`Get-Content`: what it is given by the pipe may name files",
	} {
		if c := Analyse(command, testPlace); c.Reason != want {
			t.Errorf("%.60q: %q, want %q", command, c.Reason, want)
		}
	}
}

func TestCwd(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"Get-Date":                        "/ws/proj",
		"Set-Location src":                "/ws/proj/src",
		"cd /ws/lib; Get-ChildItem":       "/ws/lib",
		"cd src; cd ..":                   "",
		"cd /etc":                         "",
		"make":                            "",
		"Set-Location -LiteralPath a/b":   "/ws/proj/a/b",
		"Set-Location env:":               "",
		"Get-ChildItem | Set-Location":    "",
		"cd src; cd /ws/proj; cd src":     "/ws/proj/src",
		"Set-Location $HOME; Get-Process": "",
	} {
		if c := Analyse(command, testPlace); c.Cwd != want {
			t.Errorf("%q ends in %q, want %q: %s", command, c.Cwd, want, c.Reason)
		}
	}
}
