package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
)

// TestHistoryOfASession: it makes itself in the session's folder with the first
// write, goes on in the next session of the same id, and ends with each.
func TestHistoryOfASession(t *testing.T) {
	t.Parallel()
	o := kept(t)
	file := filepath.Join(t.TempDir(), "a")
	keep := func(s *host.Session) (string, error) {
		return s.History().Keep(t.Context(), capability.Write{Path: file, Before: strings.NewReader("was"), BeforeSize: 3})
	}
	h := open(t, o)
	for _, want := range []string{"h1", "h2"} {
		s := session(t, h, host.SessionOptions{ID: "mine"})
		if want == "h1" {
			if _, err := os.Lstat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder was made with nothing to keep: %v", err)
			}
		}
		if id, err := keep(s); err != nil || id != want {
			t.Errorf("kept as %s, %v; want %s", id, err, want)
		}
		entries, err := os.ReadDir(filepath.Join(s.Dir(), history.Dir))
		if err != nil || len(entries) != 2 {
			t.Errorf("it holds %v, %v", entries, err)
		}
		closed(t, s)
		if _, err := keep(s); !errors.Is(err, history.ErrClosed) {
			t.Errorf("after the session's end: %v", err)
		}
	}
	found, err := history.Sessions(o.Storage.Sessions)
	if err != nil || len(found) != 1 || found[0].ID != "mine" {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestNoHistory(t *testing.T) {
	t.Parallel()
	off := kept(t)
	off.Storage.NoHistory = true
	for name, s := range map[string]*host.Session{
		"switched off": session(t, open(t, off), host.SessionOptions{}),
		"no folders":   session(t, open(t, host.Options{}), host.SessionOptions{}),
		"ephemeral":    session(t, open(t, kept(t)), host.SessionOptions{Ephemeral: true}),
	} {
		if s.History() != nil {
			t.Errorf("%s: there is one", name)
		}
	}
}
