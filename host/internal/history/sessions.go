package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Session is one that has a history.
type Session struct {
	ID string `json:"session"`
	// Dir is the history's directory, and Time when it last changed.
	Dir  string    `json:"dir"`
	Time time.Time `json:"time"`
}

// Sessions finds the sessions with a history in the directory of all sessions'
// directories, those that changed last first. Directories that are not understood are left
// out.
func Sessions(parent string) ([]Session, error) { return SessionsWith(parent, Dir) }

// SessionsWith finds those that have a directory of another name in their directory, with
// a log as histories have it: Dir is that directory, and Time when its log changed.
func SessionsWith(parent, name string) ([]Session, error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	var out []Session
	for _, entry := range entries {
		if s, ok := sessionIn(filepath.Join(parent, entry.Name()), name); ok && entry.IsDir() {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Session) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// sessionIn reads whose a directory is, from the marker that package sessiondir makes.
func sessionIn(folder, name string) (Session, bool) {
	s := Session{Dir: filepath.Join(folder, name)}
	info, err := os.Lstat(filepath.Join(s.Dir, changes.LogName))
	if err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	s.Time = info.ModTime()
	f, _, err := privatedir.OpenOwn(filepath.Join(folder, "session"), os.O_RDONLY)
	if err != nil {
		return s, false
	}
	defer f.Close()
	const most = 64 << 10
	var mark struct {
		Session string `json:"session"`
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil || json.Unmarshal(text, &mark) != nil || mark.Session == "" {
		return s, false
	}
	s.ID = mark.Session
	return s, true
}
