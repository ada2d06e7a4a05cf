package sessiondir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/testenv"
)

// parent is a directory of sessions.
func parent(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "sessions")
}

// logged is a logger and what it was told.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// open opens a directory of which nothing is lost.
func open(tb testing.TB, dir, id string) *sessiondir.Dir {
	tb.Helper()
	log, told := logged()
	f, err := sessiondir.Open(dir, id, log)
	if err != nil {
		tb.Fatal(err)
	}
	if told.Len() > 0 {
		tb.Errorf("it was told: %s", told)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

func add(tb testing.TB, f *sessiondir.Dir, kind string, data ...string) {
	tb.Helper()
	for _, d := range data {
		if err := f.Append(sessiondir.Record{Kind: kind, Data: d}); err != nil {
			tb.Fatal(err)
		}
	}
}

func recall(tb testing.TB, f *sessiondir.Dir, kind string) []string {
	tb.Helper()
	var out []string
	for _, data := range f.Recall(kind) {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			tb.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func shut(tb testing.TB, f *sessiondir.Dir) {
	tb.Helper()
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

func slurp(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func spit(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		tb.Fatal(err)
	}
}

func exists(tb testing.TB, path string) bool {
	tb.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return err == nil
}

func TestRecall(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	add(t, f, "a", "1", "2")
	add(t, f, "b", "<&>\n\u2028 \"x\"")
	if got := f.Recall("a"); got != nil {
		t.Errorf("what was just written is not of an earlier time: %s", got)
	}
	shut(t, f)
	f = open(t, dir, "s")
	add(t, f, "a", "3")
	if got := recall(t, f, "a"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("a: %q", got)
	}
	if got := recall(t, f, "b"); !slices.Equal(got, []string{"<&>\n\u2028 \"x\""}) {
		t.Errorf("b: %q", got)
	}
	if got := f.Recall("a"); got != nil {
		t.Errorf("again: %s", got)
	}
	shut(t, f)
	if got := recall(t, open(t, dir, "s"), "a"); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("a: %q", got)
	}
	if got := open(t, dir, "other").Recall("a"); got != nil {
		t.Errorf("of another session: %s", got)
	}
}

func TestAllOrNone(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	add(t, f, "a", "1")
	large := strings.Repeat("x", sessiondir.MaxRecord)
	if err := f.Append(sessiondir.Record{Kind: "a", Data: "2"}, sessiondir.Record{Kind: "a", Data: large}); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("a record that is too large: %v", err)
	}
	if err := f.Append(sessiondir.Record{Kind: "a", Data: "2"}, sessiondir.Record{Kind: "a", Data: func() {}}); err == nil {
		t.Error("a record that cannot be encoded is taken")
	}
	add(t, f, "a", "3")
	// The largest that fits is read again.
	for n := sessiondir.MaxRecord; ; n-- {
		if f.Append(sessiondir.Record{Kind: "b", Data: large[:n]}) == nil {
			break
		}
	}
	shut(t, f)
	f = open(t, dir, "s")
	if got := recall(t, f, "a"); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("got %q", got)
	}
	if got := recall(t, f, "b"); len(got) != 1 || len(got[0]) < sessiondir.MaxRecord-200 {
		t.Errorf("%d large records", len(got))
	}
}

func TestMadeWhenNeeded(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	if f.Path() != filepath.Join(dir, "s") || exists(t, dir) {
		t.Errorf("%s; the directory is made before it is needed", f.Path())
	}
	shut(t, f)
	if exists(t, dir) {
		t.Error("closing made it")
	}
	if err := f.Append(sessiondir.Record{Kind: "a"}); !errors.Is(err, sessiondir.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
	f = open(t, dir, "s")
	if _, err := f.Write("files", "x.txt", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	testenv.Permitted(t, testenv.Unix) // for the modes
	for path, want := range map[string]fs.FileMode{
		dir: 0o700, f.Path(): 0o700, f.Path() + "/files": 0o700, f.Path() + "/files/x.txt": 0o600, f.Path() + "/journal.jsonl": 0o600, f.Path() + "/session": 0o600,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestOneUser(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	late := open(t, dir, "s") // there is nothing yet to be in use
	add(t, f, "a", "1")
	if err := late.Append(sessiondir.Record{Kind: "a", Data: "2"}); !errors.Is(err, sessiondir.ErrInUse) {
		t.Errorf("the second to make it: %v", err)
	}
	log, _ := logged()
	if _, err := sessiondir.Open(dir, "s", log); !errors.Is(err, sessiondir.ErrInUse) || !strings.Contains(err.Error(), "another session of this process") {
		t.Errorf("a directory in use: %v", err)
	}
	shut(t, f)
	add(t, late, "a", "2")
	shut(t, late)
	if got := recall(t, open(t, dir, "s"), "a"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("got %q", got)
	}
}

func TestHammer(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 10 {
				name := fmt.Sprintf("%d-%d", i, j)
				add(t, f, "a", name)
				if _, err := f.Write("files", name, func(w io.Writer) error { _, err := io.WriteString(w, name); return err }); err != nil {
					t.Error(err)
				}
				f.Recall("a")
			}
		})
	}
	all.Wait()
	shut(t, f)
	if got := recall(t, open(t, dir, "s"), "a"); len(got) != 80 {
		t.Errorf("%d records", len(got))
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	write := func(text string, fail error) (string, error) {
		return f.Write("files", "x.txt", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fail)
		})
	}
	path, err := write("first", nil)
	if err != nil || path != filepath.Join(f.Path(), "files", "x.txt") {
		t.Fatal(path, err)
	}
	broken := errors.New("broken")
	if _, err := write("half", broken); !errors.Is(err, broken) || !strings.Contains(err.Error(), "x.txt") {
		t.Errorf("got %v", err)
	}
	if got := slurp(t, path); string(got) != "first" {
		t.Errorf("after a failure: %q", got)
	}
	if _, err := write("second", nil); err != nil || string(slurp(t, path)) != "second" {
		t.Errorf("replaced: %q, %v", slurp(t, path), err)
	}
	left, err := f.Temp("files")
	if err != nil {
		t.Fatal(err)
	}
	_ = left.Close()
	if names := names(t, filepath.Dir(path)); len(names) != 2 {
		t.Errorf("there are %q", names)
	}
	shut(t, f)
	if names := names(t, filepath.Dir(path)); !slices.Equal(names, []string{"x.txt"}) {
		t.Errorf("closing left %q", names)
	}
}

func names(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestTorn cuts the journal at every byte: what is left is the lines before.
func TestTorn(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	add(t, f, "a", "1", "2", "3")
	shut(t, f)
	journal := filepath.Join(f.Path(), "journal.jsonl")
	whole := slurp(t, journal)
	for n := range whole {
		spit(t, journal, whole[:n])
		log, told := logged()
		f, err := sessiondir.Open(dir, "s", log)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		if got := recall(t, f, "a"); !slices.Equal(got, []string{"1", "2", "3"}[:lines]) && lines > 0 || len(got) != lines {
			t.Fatalf("cut at %d: %q", n, got)
		}
		if torn := n > 0 && whole[n-1] != '\n'; torn != strings.Contains(told.String(), "not written to the end") {
			t.Fatalf("cut at %d: the log says %q", n, told)
		}
		if aside, err := filepath.Glob(filepath.Join(f.Path(), "journal-damaged-*")); len(aside) > 0 {
			t.Fatalf("cut at %d: what a crash leaves is set aside: %q, %v", n, aside, err)
		}
		add(t, f, "b", "next")
		shut(t, f)
		f = open(t, dir, "s")
		if got := recall(t, f, "b"); !slices.Equal(got, []string{"next"}) {
			t.Fatalf("cut at %d, then continued: %q", n, got)
		}
		shut(t, f)
	}
}

// TestDamaged changes every byte of the journal: nothing from there on is believed,
// whole as it may be.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	f := open(t, dir, "s")
	add(t, f, "a", "1", "2", "3")
	shut(t, f)
	journal := filepath.Join(f.Path(), "journal.jsonl")
	whole := slurp(t, journal)
	for n := range whole[:len(whole)-1] {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 1
		spit(t, journal, damaged)
		log, told := logged()
		f, err := sessiondir.Open(dir, "s", log)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		if got := recall(t, f, "a"); len(got) != lines || !slices.Equal(got, []string{"1", "2", "3"}[:lines]) && lines > 0 {
			t.Fatalf("byte %d: %q", n, got)
		}
		if !strings.Contains(told.String(), "damaged") {
			t.Fatalf("byte %d: the log says %q", n, told)
		}
		checkAside(t, f, damaged[bytes.LastIndexByte(whole[:n], '\n')+1:])
		shut(t, f)
		shut(t, open(t, dir, "s")) // it is told once
	}
}

// checkAside wants what was cut off a journal in a file of its own, and removes that.
func checkAside(t *testing.T, f *sessiondir.Dir, want []byte) {
	t.Helper()
	aside, err := filepath.Glob(filepath.Join(f.Path(), "journal-damaged-*.jsonl"))
	if err != nil || len(aside) != 1 || !bytes.Equal(slurp(t, aside[0]), want) {
		t.Fatalf("set aside: %q, %v", aside, err)
	}
	if err := os.Remove(aside[0]); err != nil {
		t.Fatal(err)
	}
}

func TestForeignJournal(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	a, b := open(t, dir, "a"), open(t, dir, "b")
	add(t, a, "k", "of a")
	add(t, b, "k", "of b")
	shut(t, a)
	shut(t, b)
	spit(t, filepath.Join(b.Path(), "journal.jsonl"), slurp(t, filepath.Join(a.Path(), "journal.jsonl")))
	log, told := logged()
	b, err := sessiondir.Open(dir, "b", log)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := b.Recall("k"); got != nil || told.Len() == 0 {
		t.Errorf("another session's journal is believed: %s; %s", got, told)
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ marker, want string }{
		"empty":                {"", ""},
		"half written":         {`{"version":1,"sess`, ""},
		"longer than it is":    {`{"version":1,"session":"s","pid":1}` + strings.Repeat(" ", 500) + "\n", ""},
		"of another session":   {`{"version":1,"session":"S"}`, `belongs to the session "S"`},
		"of a later version":   {`{"version":2,"session":"s"}`, "version 2"},
		"with more than knows": {`{"version":1,"session":"s","more":true}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := parent(t)
			f := open(t, dir, "s")
			add(t, f, "a", "1")
			shut(t, f)
			spit(t, filepath.Join(f.Path(), "session"), []byte(test.marker))
			before := slurp(t, filepath.Join(f.Path(), "journal.jsonl"))
			log, _ := logged()
			f, err := sessiondir.Open(dir, "s", log)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v", err)
				}
				if after := slurp(t, filepath.Join(dir, "s", "journal.jsonl")); !bytes.Equal(before, after) {
					t.Error("the journal was touched")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := recall(t, f, "a"); !slices.Equal(got, []string{"1"}) {
				t.Errorf("got %q", got)
			}
			shut(t, f)
			if text := string(slurp(t, filepath.Join(f.Path(), "session"))); !strings.HasPrefix(text, `{"version":1,"session":"s","pid":`) || !strings.HasSuffix(text, "}\n") {
				t.Errorf("the marker is %q", text)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	tests := map[string]string{
		"plain":                   "plain",
		"A1.b_c-d":                "A1.b_c-d",
		strings.Repeat("x", 64):   strings.Repeat("x", 64),
		strings.Repeat("x", 65):   strings.Repeat("x", 40) + "~",
		"":                        "~",
		".":                       "~",
		"..":                      "~",
		"../../etc":               "etc~",
		"a/b\\c":                  "a-b-c~",
		".hidden":                 "hidden~",
		"dot.":                    "dot~",
		"with~tilde":              "with-tilde~",
		"NUL":                     "NUL~",
		"com1.txt":                "com1-txt~",
		"Sitzung für\x00 Zoë\n":   "Sitzung-f-r-Zo~",
		"\xff\xfe":                "~",
		"https://example.com/a?b": "https-example-com-a-b~",
	}
	seen := make(map[string]string)
	log, _ := logged()
	for id, want := range tests {
		f, err := sessiondir.Open(dir, id, log)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, f.Path())
		if err != nil || strings.ContainsAny(name, `/\`) {
			t.Errorf("%q: %s", id, f.Path())
		}
		if got, _, _ := strings.Cut(name, "~"); want != name && (got+"~" != want || len(name) != len(want)+16) {
			t.Errorf("%q is named %q", id, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q share %s", id, other, name)
		}
		seen[name] = id
		add(t, f, "a", "1")
		shut(t, f)
	}
	if _, err := sessiondir.Open("relative", "s", log); err == nil {
		t.Error("a relative path is taken")
	}
}
