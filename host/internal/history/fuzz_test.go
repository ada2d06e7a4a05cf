package history_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
)

// FuzzLog: whatever a log holds, reading it ends without a panic, nothing in it keeps
// a write from being recorded and given back, and what it claims to hold is held to
// its hash.
func FuzzLog(f *testing.F) {
	r := newRoom(f, history.Options{})
	r.put("a", "first")
	id := r.do("c", "a", "second")
	if err := r.Void(id); err != nil {
		f.Fatal(err)
	}
	r.do("c", "a", "third")
	whole, err := os.ReadFile(filepath.Join(r.kept, "log.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, log := range [][]byte{nil, whole, whole[:len(whole)-7], bytes.ReplaceAll(whole, []byte("h2"), []byte("h9")), []byte("\n\n{}\n")} {
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		r := newRoom(t, history.Options{})
		if err := os.WriteFile(filepath.Join(r.kept, "log.jsonl"), log, 0o600); err != nil {
			t.Fatal(err)
		}
		before, _, err := r.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range before {
			if record.Before != nil {
				_, _ = r.content(record.Before)
			}
		}
		r.put("z", "former")
		id := r.do("call", "z", "newer")
		after, _, err := r.Records()
		if err != nil || len(after) <= len(before) || after[len(after)-1].ID != id {
			t.Fatalf("%d records before, %d after, %v", len(before), len(after), err)
		}
		for _, record := range before {
			if record.ID == id {
				t.Fatalf("%s is there twice", id)
			}
		}
		r.restore(history.Selection{ID: id}, history.RestoreOptions{})
		r.is("z", "former")
	})
}
