package history_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/internal/testenv"
)

// patch returns the patch of a selection, and what is left out of it.
func (r *room) patch(sel history.Selection) (text []byte, left string) {
	r.tb.Helper()
	var b bytes.Buffer
	out, err := r.Patch(r.tb.Context(), &b, sel, history.PatchOptions{Dir: r.dir})
	if err != nil {
		r.tb.Fatal(err)
	}
	lines := make([]string, len(out))
	for i, l := range out {
		lines[i] = filepath.Base(l.Path) + ": " + l.Why + "\n"
	}
	return b.Bytes(), strings.Join(lines, "")
}

// git runs git apply on a patch in the room.
func (r *room) git(patch []byte, flags ...string) {
	r.tb.Helper()
	git := testenv.NeedTool(r.tb, "git")
	cmd := exec.CommandContext(r.tb.Context(), git, append([]string{"apply", "--whitespace=nowarn"}, flags...)...)
	cmd.Dir, cmd.Stdin = r.dir, bytes.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.dir), "GIT_CONFIG_NOSYSTEM=1", "HOME="+r.kept)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.tb.Fatalf("git apply %v: %v: %s\n%.2000s", flags, err, out, patch)
	}
}

// TestPatch has real git take back every kind of change, and do it again.
func TestPatch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\n", 500_000)
	tests := map[string]struct{ name, before, after string }{
		"changed":             {"a", "one\ntwo\nthree\n", "one\n2\nthree\n"},
		"made":                {"a", "-", "one\n"},
		"made empty":          {"a", "-", ""},
		"emptied":             {"a", "one\n", ""},
		"filled":              {"a", "", "one\n"},
		"without a last end":  {"a", "one\ntwo", "one\n2"},
		"a last end gone":     {"a", "one\ntwo\n", "one\ntwo"},
		"a last end come":     {"a", "one\ntwo", "one\ntwo\n"},
		"made without an end": {"a", "-", "one"},
		"carriage returns":    {"a", "one\r\ntwo\r\n", "one\r\n2\r\n"},
		"binary":              {"a", "one\x00two", "one\x00\xff\xfetwo"},
		"binary made":         {"a", "-", "\x00\x01\x02"},
		"becomes binary":      {"a", "one\n", "\x00"},
		"too long for lines":  {"a", long, long + "more\n"},
		"not UTF-8":           {"a", "caf\xe9\nx\n", "caf\xe9\ny\n"},
		"below":               {"d/e/f.txt", "x\n", "y\n"},
		"a space":             {"my file", "x\n", "y\n"},
		"a space, made":       {"my file", "-", "y\n"},
		"odd name":            {"q\"uo\\te\tand é\x01", "x\n", "y\n"},
		"odd name, made":      {"q\"uo\\te", "-", "y\n"},
		"every odd byte":      {"\a\b\t\n\v\f\r\x1b\x7f\"\\/ \a\b\t\n\v\f\r\x1b\x7f\"\\ ", "x\n", "y\n"},
		"odd name, binary":    {"a\tb\nc", "x\x00", "y\x00"},
		"odd name, emptied":   {"é\n\u2028 \ufeff", "x\n", ""},
		"looks like a patch":  {"a", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "+++ b\n-- \n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			if test.before != "-" {
				r.put(test.name, test.before)
			}
			r.do("c", test.name, test.after)
			patch, left := r.patch(all)
			if left != "" {
				t.Fatalf("left out: %s", left)
			}
			r.git(patch, "-R", "--check")
			r.git(patch, "-R")
			r.is(test.name, test.before)
			r.git(patch, "--check")
			r.git(patch)
			r.is(test.name, test.after)
			r.restore(all, history.RestoreOptions{})
			if test.before == "-" { // and of a removal
				patch, _ = r.patch(history.Selection{ID: "h2"})
				r.git(patch, "-R")
				r.is(test.name, test.after)
			}
		})
	}
}

// TestPatchOfASession goes from the first content of each file to the last.
func TestPatchOfASession(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it is to be the same each time
	text := func() string {
		var b strings.Builder
		for range random.IntN(60) {
			fmt.Fprintln(&b, random.IntN(20))
		}
		return strings.TrimSuffix(b.String(), []string{"", "\n"}[random.IntN(2)])
	}
	const files, writes = 8, 40
	first := make(map[string]string)
	for i := range files {
		name := fmt.Sprint("f", i)
		if first[name] = "-"; i%2 == 0 {
			first[name] = text()
			r.put(name, first[name])
		}
	}
	last := make(map[string]string)
	for range writes {
		name := fmt.Sprint("f", random.IntN(files))
		last[name] = text()
		r.do("c", name, last[name])
	}
	patch, left := r.patch(all)
	if left != "" {
		t.Fatalf("left out: %s", left)
	}
	r.git(patch, "-R")
	for name := range last {
		r.is(name, first[name])
	}
	r.git(patch)
	for name, want := range last {
		r.is(name, want)
	}
}

// TestPatchLeavesOut: what cannot be told is named.
func TestPatchLeavesOut(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", "one\n")
	r.do("c1", "a", "two\n")
	r.put("a", "mine\n")
	r.do("c2", "a", "three\n")
	r.do("c1", "../out", "x")
	for sel, want := range map[history.Selection]string{
		{ID: "h1"}:   "a: what h1 made of it: the content is not kept\n",
		{ID: "h2"}:   "",
		{Call: "c1"}: "out: it lies outside of " + r.dir + "\na: what h1 made of it: the content is not kept\n",
		all:          "out: it lies outside of " + r.dir + "\n",
	} {
		if _, left := r.patch(sel); left != want {
			t.Errorf("%s: left out: %s", sel, left)
		}
	}
	r.put("a", "mine again\n")
	if _, left := r.patch(history.Selection{ID: "h2"}); left != "a: what h2 made of it: the content is not kept\n" {
		t.Errorf("left out: %s", left)
	}
}
