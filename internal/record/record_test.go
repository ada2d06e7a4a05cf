package record_test

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/internal/record"
)

type item struct {
	N int `json:"n"`
}

func list(tb testing.TB) record.File[item] {
	tb.Helper()
	return record.File[item]{Path: filepath.Join(tb.TempDir(), "state", "list.json"), Key: "items"}
}

func read(tb testing.TB, f record.File[item]) map[string]item {
	tb.Helper()
	got, err := f.Read()
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func TestListIsKept(t *testing.T) {
	t.Parallel()
	f := list(t)
	if got := read(t, f); got == nil || len(got) != 0 {
		t.Errorf("a file that is missing holds %v", got)
	}
	want := map[string]item{"a": {1}, "b/ü": {2}}
	written, err := f.Update(func(l map[string]item) { maps.Copy(l, want) })
	if err != nil || !maps.Equal(written, want) {
		t.Fatalf("it says that it wrote %v, %v", written, err)
	}
	if got := read(t, f); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	written, err = f.Update(func(l map[string]item) { delete(l, "a") })
	if err != nil || len(written) != 1 || written["b/ü"] != want["b/ü"] {
		t.Errorf("it says that it wrote %v, %v", written, err)
	}
	entries, err := os.ReadDir(filepath.Dir(f.Path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file lie %v, %v", entries, err)
	}
	content, err := os.ReadFile(f.Path)
	if want := "{\n  \"items\": {\n    \"b/ü\": {\n      \"n\": 2\n    }\n  },\n  \"version\": 1\n}\n"; err != nil || string(content) != want {
		t.Errorf("the file holds %s, %v", content, err)
	}
}

// TestBrokenFileIsLeftAlone reads and changes what is not understood.
func TestBrokenFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ content, says string }{
		"empty":            {"", ""},
		"not JSON":         {"version: 1", ""},
		"cut off":          {`{"version": 1, "items": {"a"`, ""},
		"not an object":    {"[]", ""},
		"no version":       {`{"items": {}}`, "version"},
		"a later version":  {`{"version": 2, "items": {}}`, "version 1"},
		"another list":     {`{"version": 1, "items": ["a"]}`, ""},
		"other items":      {`{"version": 1, "items": {"a": {"n": "x"}}}`, ""},
		"a name twice":     {`{"version": 1, "items": {"a": {"n": 1}, "a": {"n": 2}}}`, "a"},
		"far too large":    {strings.Repeat(" ", 4<<20+1), "reasonable size"},
		"more than a list": {`{"version": 1, "items": {}} {}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := list(t)
			if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.Path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			for what, do := range map[string]func() (map[string]item, error){
				"reading": f.Read,
				"changing": func() (map[string]item, error) {
					return f.Update(func(l map[string]item) { l["b"] = item{3} })
				},
			} {
				got, err := do()
				if err == nil || got != nil || !strings.Contains(err.Error(), f.Path) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: got %v, %v", what, got, err)
				}
			}
			if content, err := os.ReadFile(f.Path); err != nil || string(content) != test.content {
				t.Errorf("the file is now %.100q, %v", content, err)
			}
			if _, err := os.Lstat(f.Path + ".lock"); err == nil {
				t.Error("the lock is left behind")
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		t.Parallel()
		f := record.File[item]{Path: t.TempDir(), Key: "items"}
		if got, err := f.Read(); err == nil {
			t.Errorf("got %v", got)
		}
	})
}

// TestConcurrentChangesAreAllKept has several writers, each with a File of its
// own as other processes would, add and take away items of theirs.
func TestConcurrentChangesAreAllKept(t *testing.T) {
	t.Parallel()
	f := list(t)
	const writers, changes = 4, 8
	if _, err := f.Update(func(l map[string]item) {
		for w := range writers {
			l["old "+strconv.Itoa(w)] = item{}
		}
	}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			own := record.File[item]{Path: f.Path, Key: f.Key}
			for i := range changes {
				if _, err := own.Update(func(l map[string]item) {
					delete(l, "old "+strconv.Itoa(w))
					l[strconv.Itoa(w)+" "+strconv.Itoa(i)] = item{i}
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := read(t, f)
	if len(got) != writers*changes {
		t.Errorf("%d items are kept of %d: %v", len(got), writers*changes, got)
	}
	for name := range got {
		if strings.HasPrefix(name, "old") {
			t.Errorf("%q is back", name)
		}
	}
}

// TestLockOfADeadProcess finds one that was left behind just now.
func TestLockOfADeadProcess(t *testing.T) {
	t.Parallel()
	f := list(t)
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(func(l map[string]item) { l["a"] = item{1} }); err != nil {
		t.Fatal(err)
	}
	if got := read(t, f); got["a"] != (item{1}) {
		t.Errorf("got %v", got)
	}
}

func TestUnwritableFolderIsAnError(t *testing.T) {
	t.Parallel()
	f := list(t)
	if err := os.WriteFile(filepath.Dir(f.Path), nil, 0o600); err != nil { // where its folder would be
		t.Fatal(err)
	}
	if got, err := f.Update(func(l map[string]item) { l["a"] = item{1} }); err == nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
