package host

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// History is what files were before the tools of this session, and of those before
// it under the same id, wrote them: to list, to show as a patch, and to give back.
// It is nil where nothing is kept: the session has no folder, or
// [Options.NoHistory] is set. It is closed with the session.
func (s *Session) History() *History { return s.stored.history }

// history is [Session.History] for capabilities; nil where there is none.
func (s *Session) history() capability.History {
	if s.stored.history == nil {
		return nil // not a nil pointer in an interface
	}
	return s.stored.history
}

// openHistory returns the history in the session's folder, which makes itself when
// the first file is written.
func (s *Session) openHistory() *History {
	f, o := s.stored.folder, &s.host.options
	if f == nil || o.NoHistory {
		return nil
	}
	options := o.History
	options.Logger, options.Make = o.Logger, func() error { return makeIn(f, history.Dir) }
	return history.Open(filepath.Join(f.Path(), history.Dir), options)
}

// makeIn makes a directory in a session's folder.
func makeIn(f *sessiondir.Folder, dir string) error {
	first, err := f.Temp(dir) // which makes the directory
	if err != nil {
		return err
	}
	return errors.Join(first.Close(), os.Remove(first.Name()))
}

func (st *stored) closeHistory() error {
	if st.history == nil {
		return nil
	}
	return st.history.Close()
}
