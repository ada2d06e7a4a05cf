package history_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
)

// blob is the one file of the history with a content.
func (r *room) blob() string {
	r.tb.Helper()
	blobs, err := filepath.Glob(filepath.Join(r.kept, "*.gz"))
	if err != nil || len(blobs) != 1 {
		r.tb.Fatalf("%q, %v", blobs, err)
	}
	return blobs[0]
}

// noise is text that hardly can be compressed.
func noise(size int) string {
	random := rand.NewChaCha8([32]byte{2})
	text := make([]byte, size)
	_, _ = random.Read(text) // never fails
	return string(text)
}

// TestDamagedContentIsKeptAnew damages what is kept, and keeps the same content again:
// then it can be given back, also by a process that knew where it was.
func TestDamagedContentIsKeptAnew(t *testing.T) {
	t.Parallel()
	damages := map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"longer":  func(b []byte) []byte { return append(b, b...) },
	}
	for _, size := range []int{40 << 10, 300 << 10} { // compressed in memory, and in a file
		for name, damage := range damages {
			r := newRoom(t, history.Options{})
			other := r.open(history.Options{})
			first := noise(size)
			r.put("a", first)
			r.do("c1", "a", "x")
			if _, _, err := other.Records(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(r.blob())
			if err == nil {
				err = os.WriteFile(r.blob(), damage(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			r.put("a", first)
			r.do("c2", "a", "y")
			r.Store = other
			if got := r.restore(all, history.RestoreOptions{Force: true}); got != "a h3" {
				t.Errorf("%d %s: %s", size, name, got)
			}
			r.is("a", first)
		}
	}
}

// TestDamagedLineIsKeptAnew does so where the content stands in its record.
func TestDamagedLineIsKeptAnew(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	other := r.open(history.Options{})
	first := noise(8 << 10)
	r.put("a", first)
	r.do("c1", "a", "x")
	if _, _, err := other.Records(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(r.kept, "log.jsonl")
	text, err := os.ReadFile(log)
	if err == nil {
		text[len(text)/2] ^= 1
		err = os.WriteFile(log, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.put("a", first)
	r.do("c2", "a", "y")
	for name, s := range map[string]*history.Store{"the same": r.Store, "another": other, "a new one": r.open(history.Options{})} {
		changes, err := s.List(t.Context(), history.Selection{Call: "c2"})
		if err != nil || len(changes) != 1 {
			t.Fatal(changes, err)
		}
		r.Store = s
		if got, err := r.content(changes[0].Before); err != nil || got != first {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestWholeContentIsLeft keeps a content twice, and writes it once.
func TestWholeContentIsLeft(t *testing.T) {
	t.Parallel()
	for _, size := range []int{8 << 10, 40 << 10, 3 << 20} {
		r := newRoom(t, history.Options{})
		lay := func() (string, os.FileInfo) {
			entries, err := filepath.Glob(filepath.Join(r.kept, "*.gz"))
			if err != nil || len(entries) == 0 {
				return "", nil
			}
			info, err := os.Stat(entries[0])
			if err != nil {
				t.Fatal(err)
			}
			return entries[0], info
		}
		r.put("a", noise(size))
		r.keep("c", "a", "x")
		name, was := lay()
		log, err := os.ReadFile(filepath.Join(r.kept, "log.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		r.keep("c", "a", "x")
		if again, is := lay(); again != name || was != nil && !os.SameFile(was, is) {
			t.Errorf("%d: it was written anew", size)
		}
		both, err := os.ReadFile(filepath.Join(r.kept, "log.jsonl"))
		if err != nil || len(both)-len(log) > 1000 || !bytes.HasPrefix(both, log) {
			t.Errorf("%d: the second record has %d bytes, %v", size, len(both)-len(log), err)
		}
	}
}

// TestDamageIsSeenFirst gives no file back where that of another one is damaged.
func TestDamageIsSeenFirst(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", noise(40<<10))
	r.do("c", "a", "x")
	if err := os.WriteFile(r.blob(), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r.put(fmt.Sprint("b", i), "first")
		r.do("c", fmt.Sprint("b", i), "second")
	}
	if got := r.restore(all, history.RestoreOptions{Force: true}); !strings.HasPrefix(got, "a: what it was is damaged") {
		t.Error(got)
	}
	r.is("b0", "second")
	r.is("b2", "second")
}
