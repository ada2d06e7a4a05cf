package history_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
)

// room is a directory to work in, with a history of it.
type room struct {
	tb   testing.TB
	dir  string
	kept string
	*history.Store
}

func newRoom(tb testing.TB, o history.Options) *room {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	r := &room{tb: tb, dir: filepath.Join(base, "work"), kept: filepath.Join(base, "kept")}
	for _, dir := range []string{r.dir, r.kept} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	r.Store = r.open(o)
	return r
}

// open opens the history as another process would.
func (r *room) open(o history.Options) *history.Store {
	r.tb.Helper()
	s := history.Open(r.kept, o)
	r.tb.Cleanup(func() { _ = s.Close() })
	return s
}

func (r *room) path(name string) string { return filepath.Join(r.dir, name) }

// put writes a file beside the history.
func (r *room) put(name, content string) {
	r.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o700); err != nil {
		r.tb.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(content), 0o600); err != nil {
		r.tb.Fatal(err)
	}
}

// have writes a file beside the history, or removes it where the content is "-".
func (r *room) have(name, content string) {
	r.tb.Helper()
	if content != "-" {
		r.put(name, content)
	} else if err := os.Remove(r.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.tb.Fatal(err)
	}
}

// keep tells the history of a write, as a tool's call.
func (r *room) keep(call, name, content string) string {
	r.tb.Helper()
	id, err := r.Keep(r.tb.Context(), r.write(call, name, content))
	if err != nil {
		r.tb.Fatal(err)
	}
	return id
}

func (r *room) write(call, name, content string) capability.Write {
	r.tb.Helper()
	w := capability.Write{
		Call: capability.Call{ID: call, Tool: "Write"}, Path: r.path(name),
		AfterHash: sha256.Sum256([]byte(content)), AfterSize: int64(len(content)),
	}
	was, err := os.ReadFile(w.Path)
	if errors.Is(err, os.ErrNotExist) {
		return w
	}
	info, err := os.Stat(w.Path)
	if err != nil {
		r.tb.Fatal(err)
	}
	w.Before, w.BeforeSize, w.Mode = bytes.NewReader(was), int64(len(was)), uint32(info.Mode().Perm())
	return w
}

// do is a write from its record to the file.
func (r *room) do(call, name, content string) string {
	r.tb.Helper()
	id := r.keep(call, name, content)
	r.put(name, content)
	return id
}

// is holds a file to its content; "-" is none.
func (r *room) is(name, want string) {
	r.tb.Helper()
	got, err := os.ReadFile(r.path(name))
	if errors.Is(err, os.ErrNotExist) {
		got, err = []byte("-"), nil
	}
	if err != nil || string(got) != want {
		r.tb.Errorf("%s is %.100q, want %.100q (%v)", name, got, want, err)
	}
}

// list writes what the history holds of a selection, one write after the other.
func (r *room) list(sel history.Selection) string {
	r.tb.Helper()
	changes, err := r.List(r.tb.Context(), sel)
	if err != nil {
		r.tb.Fatal(err)
	}
	out := make([]string, len(changes))
	for i, c := range changes {
		name, err := filepath.Rel(r.dir, c.Path)
		if err != nil {
			r.tb.Fatal(err)
		}
		out[i] = fmt.Sprintf("%s %s %s %s: %s>%s %s", c.ID, c.Kind, strings.TrimSpace(c.Call+" "+c.Of), name, size(c.Before), size(c.After), c.State)
	}
	return strings.Join(out, "\n")
}

func size(c *history.Content) string {
	if c == nil {
		return "-"
	}
	return strconv.FormatInt(c.Size, 10)
}

// content reads a content.
func (r *room) content(c *history.Content) (string, error) {
	from, err := r.Content(c)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(from)
	return string(text), errors.Join(err, from.Close())
}

var all = history.Selection{}

func TestKeepAndList(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	if got := r.list(all); got != "" {
		t.Errorf("before anything was written: %s", got)
	}
	r.put("a", "one")
	r.do("c1", "a", "second")
	r.do("c1", "new", "n")
	void := r.keep("c2", "a", "never")
	if err := r.Void(void); err != nil {
		t.Fatal(err)
	}
	r.do("c3", "a", "third one")
	const want = "h1 write c1 a: 3>6 done\nh2 write c1 new: ->1 done\nh4 write c3 a: 6>9 done"
	if got := r.list(all); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for sel, want := range map[history.Selection]string{
		{ID: "h2"}:                          "h2 write c1 new: ->1 done",
		{Call: "c3"}:                        "h4 write c3 a: 6>9 done",
		{Path: r.path("new")}:               "h2 write c1 new: ->1 done",
		{Path: r.dir}:                       want,
		{Path: r.dir + "/n"}:                "",
		{Call: "c1", Path: r.path("a")}:     "h1 write c1 a: 3>6 done",
		{ID: "h3"}:                          "",
		{Path: r.path("new"), Call: "none"}: "",
	} {
		if got := r.list(sel); got != want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", sel, got, want)
		}
	}
	changes, err := r.open(history.Options{}).List(t.Context(), all)
	if err != nil || len(changes) != 3 {
		t.Fatalf("another process finds %v, %v", changes, err)
	}
	if text, err := r.content(changes[2].Before); err != nil || text != "second" {
		t.Errorf("the former content is %q, %v", text, err)
	}
}

// TestContents keeps contents of every size there is a way for, twice.
func TestContents(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	random := make([]byte, 3<<20)
	seed := sha256.Sum256([]byte("seed"))
	for i := range random {
		if i%32 == 0 {
			seed = sha256.Sum256(seed[:])
		}
		random[i] = seed[i%32]
	}
	sizes := []int{0, 1, 100, 15 << 10, 64 << 10, 256 << 10, 256<<10 + 1, 3 << 20}
	for _, n := range sizes {
		for range 2 {
			r.put("f", string(random[:n]))
			r.keep("c", "f", "x")
		}
	}
	changes, err := r.List(t.Context(), all)
	if err != nil || len(changes) != 2*len(sizes) {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	for i, c := range changes {
		text, err := r.content(c.Before)
		if want := string(random[:sizes[i/2]]); err != nil || text != want {
			t.Errorf("%d bytes came back as %d, %v", len(want), len(text), err)
		}
	}
	blobs, err := filepath.Glob(filepath.Join(r.kept, "*.gz"))
	if err != nil || len(blobs) != 4 {
		t.Errorf("it made %q, %v", blobs, err)
	}
	entries, err := os.ReadDir(r.kept)
	if err != nil || len(entries) != len(blobs)+2 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

// TestWhatChangesIsNotKept: the size that was said and what is read must agree.
func TestWhatChangesIsNotKept(t *testing.T) {
	t.Parallel()
	for _, said := range []int64{2, 4, 1 << 20} {
		r := newRoom(t, history.Options{})
		_, err := r.Keep(t.Context(), capability.Write{Path: r.path("a"), Before: strings.NewReader("abc"), BeforeSize: said})
		if abi.CodeOf(err) != abi.CodeChanged {
			t.Errorf("%d said: %v", said, err)
		}
		if got := r.list(all); got != "" {
			t.Errorf("it is recorded: %s", got)
		}
	}
}

func TestFailureSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	s := r.open(history.Options{Make: func() error { return errors.New("no space left") }})
	_, err := s.Keep(t.Context(), capability.Write{Path: r.path("a")})
	if abi.CodeOf(err) != abi.CodeIO {
		t.Fatal(err)
	}
	for _, part := range []string{r.path("a"), "was not written", "no space left", "history = false", r.kept} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: it does not say %q", err, part)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Keep(t.Context(), capability.Write{Path: r.path("a")}); !errors.Is(err, history.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestDamageLosesItselfOnly damages every line in turn, in several ways.
func TestDamageLosesItselfOnly(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	const writes = 4
	for i := range writes {
		r.do("c", "a", strings.Repeat("x", i))
	}
	log := filepath.Join(r.kept, "log.jsonl")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(whole)))
	damages := map[string]func(string) string{
		"flipped": func(l string) string { return strings.Replace(l, "write", "wrote", 1) },
		"cut":     func(l string) string { return l[:len(l)/2] + "\n" },
		"empty":   func(string) string { return "\n" },
		"long":    func(string) string { return strings.Repeat("y", 600<<10) + "\n" },
	}
	for name, damage := range damages {
		for i := range lines {
			hurt := slices.Clone(lines)
			hurt[i] = damage(hurt[i])
			if err := os.WriteFile(log, []byte(strings.Join(hurt, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			s := r.open(history.Options{})
			got, damaged, err := s.Records()
			if err != nil || len(got) != writes-1 || damaged != 1 {
				t.Errorf("%s %d: %d records, %d damaged, %v", name, i, len(got), damaged, err)
			}
			id, err := s.Keep(t.Context(), r.write("c", "a", "new"))
			if err != nil || id != fmt.Sprint("h", writes+1) {
				t.Errorf("%s %d: the next is %s, %v", name, i, id, err)
			}
		}
	}
}

// TestTornLine cuts off the last line as a crash may. What is left of it is neither believed nor continued. Its write
// was never begun, since that waits until the whole line is on the disk, so its number can be used again.
func TestTornLine(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.do("c", "a", "1")
	r.do("c", "a", "2")
	log := filepath.Join(r.kept, "log.jsonl")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{1, 2, 100} {
		if err := os.WriteFile(log, whole[:len(whole)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s := r.open(history.Options{})
		if got, damaged, err := s.Records(); err != nil || len(got) != 1 || damaged != 0 {
			t.Errorf("cut by %d: %v, %d damaged, %v", cut, got, damaged, err)
		}
		if _, err := s.Keep(t.Context(), r.write("c", "a", "3")); err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]*history.Store{"then": s, "opened again": r.open(history.Options{})} {
			if got, damaged, err := s.Records(); err != nil || damaged != 0 || len(got) != 2 || got[1].ID != "h2" || got[1].After.Hash != fmt.Sprintf("%x", sha256.Sum256([]byte("3"))) {
				t.Errorf("cut by %d, %s: %v, %d damaged, %v", cut, name, got, damaged, err)
			}
		}
	}
}

// TestDamagedContentIsNotGivenBack changes what a file of the history holds.
func TestDamagedContentIsNotGivenBack(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	var long strings.Builder
	for i := range 40_000 {
		fmt.Fprintln(&long, i*i*i)
	}
	r.put("a", long.String())
	r.do("c", "a", "x")
	blobs, err := filepath.Glob(filepath.Join(r.kept, "*.gz"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("%q, %v", blobs, err)
	}
	whole, err := os.ReadFile(blobs[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"cut": whole[:len(whole)/2], "empty": nil, "not compressed": []byte(long.String()),
		"longer": slices.Concat(whole, whole),
	} {
		if err := os.WriteFile(blobs[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.restore(all, history.RestoreOptions{Force: true}); got != "a: what it was is damaged in the history" {
			t.Errorf("%s: %s", name, got)
		}
		changes, err := r.List(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.content(changes[0].Before); !errors.Is(err, history.ErrNotKept) {
			t.Errorf("%s: %v", name, err)
		}
		r.is("a", "x")
	}
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) != 1 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

// TestBounds: the oldest contents go, their records stay, and the newest is kept.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]history.Options{
		"small": {MaxBytes: 500}, "old": {MaxAge: time.Nanosecond}, "tiny": {MaxBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, o)
			const writes = 30
			for i := range writes {
				r.do("c", "a", fmt.Sprintf("%064d", i))
			}
			changes, err := r.List(t.Context(), all)
			if err != nil || len(changes) != writes {
				t.Fatalf("%d records, %v", len(changes), err)
			}
			lost := slices.IndexFunc(changes, func(c history.Change) bool { return c.Kept && c.Before != nil })
			for _, c := range changes[lost:] {
				if !c.Kept {
					t.Errorf("%s is lost, and an older one is kept", c.ID)
				}
			}
			if lost < 2 || (name != "small") != (lost == writes-1) {
				t.Errorf("%d are lost", lost)
			}
			if _, err := r.Restore(t.Context(), history.Selection{ID: "h2"}, history.RestoreOptions{Force: true}); err == nil || !strings.Contains(err.Error(), "no longer kept") {
				t.Errorf("restoring what is lost: %v", err)
			}
		})
	}
}

// TestConcurrency has several goroutines and another opening keep, take back, list
// and restore at once.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{MaxBytes: 4 << 10})
	const writers, writes = 6, 12
	var wg sync.WaitGroup
	for w := range writers {
		s := r.Store
		if w%2 == 1 {
			s = r.open(history.Options{MaxBytes: 4 << 10})
		}
		wg.Go(func() {
			for i := range writes {
				text := fmt.Sprintf("%d of %d %s", i, w, strings.Repeat("y", i*100))
				id, err := s.Keep(t.Context(), capability.Write{
					Path: r.path(strconv.Itoa(w)), Before: strings.NewReader(text), BeforeSize: int64(len(text)),
				})
				if err == nil && i%3 == 0 {
					err = s.Void(id)
				}
				if err == nil {
					_, err = s.List(t.Context(), all)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	records, damaged, err := r.Records()
	if err != nil || damaged != 0 || len(records) != writers*writes*2/3 {
		t.Errorf("%d records, %d damaged, %v", len(records), damaged, err)
	}
	seen := make(map[string]bool)
	for _, record := range records {
		if seen[record.ID] {
			t.Errorf("%s is there twice", record.ID)
		}
		seen[record.ID] = true
	}
}

// TestPathsAreText refuses to keep what it could not find again.
func TestPathsAreText(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	w := capability.Write{Call: capability.Call{ID: "c", Tool: "Write"}, Path: r.path("caf\xe9")}
	if id, err := r.Keep(t.Context(), w); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Errorf("%q, %v", id, err)
	}
}
