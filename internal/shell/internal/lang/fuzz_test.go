package lang

import (
	"bytes"
	"strings"
	"testing"
)

// fuzz has a judge read anything: it gives a reason exactly where it refuses,
// says the same twice, and never takes what no program of the language holds.
func fuzz(f *testing.F, name string) {
	f.Helper()
	for _, script := range append(fragments[name], whole[name]...) {
		f.Add([]byte(script))
	}
	judge := languages[name].judge
	f.Fuzz(func(t *testing.T, script []byte) {
		found := judge(string(script))
		if found.ReadOnly == (found.Reason != "") {
			t.Errorf("read-only: %v, reason %q", found.ReadOnly, found.Reason)
		}
		if again := judge(string(script)); again.ReadOnly != found.ReadOnly || again.Reason != found.Reason {
			t.Errorf("read-only: %v (%s), then %v (%s)", found.ReadOnly, found.Reason, again.ReadOnly, again.Reason)
		}
		if found.ReadOnly && (bytes.IndexByte(script, 0) >= 0 || len(found.Writes) > 0) {
			t.Error("read-only with a NUL, or writing")
		}
	})
}

func FuzzAwk(f *testing.F) { fuzz(f, "awk") }

func FuzzSed(f *testing.F) { fuzz(f, "sed") }

func FuzzJq(f *testing.F) { fuzz(f, "jq") }

func FuzzFind(f *testing.F) { fuzz(f, "find") }

// TestBounds has the judges read scripts made to be slow to read, or deep.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, language := range languages {
		for _, piece := range append(fragments[name], "((", "[[", "{{", "a ", "!", "-", "$", "if(1)", "def f: ", "1|", "\\", "\"\\(", "b;") {
			for _, size := range []int{maxScript, maxScript + 1} {
				script := strings.Repeat(piece, size/len(piece))
				if found := language.judge(script); found.ReadOnly == (found.Reason != "") {
					t.Errorf("%s: %.20q...: read-only: %v, reason %q", name, script, found.ReadOnly, found.Reason)
				}
			}
		}
	}
}
