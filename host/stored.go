package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// stored is what of a session is kept beyond a turn, and beyond the process where
// the session has a folder.
type stored struct {
	folder  *sessiondir.Folder // nil is none
	results *results.Keeper
	history *history.Store // nil is none
	stage   *stage.Store   // nil is none
	// tasks run in the background; nil where no commands are run.
	tasks *tasks.Registry
}

// openStored opens the session's folder, if it is to have one, and reads what an
// earlier process remembered of the session.
func (s *Session) openStored() error {
	o := &s.host.options
	if o.Sessions != "" && !s.options.Ephemeral {
		f, err := sessiondir.Open(o.Sessions, s.id, o.Logger)
		if err != nil {
			return fmt.Errorf("starting the session: %w", err)
		}
		s.stored.folder = f
	}
	s.stored.history = s.openHistory()
	if err := s.openStage(); err != nil {
		return errors.Join(err, s.stored.close())
	}
	s.stored.results = results.NewKeeper(o.Results, s.stored.folder, o.Logger)
	if err := s.openTasks(); err != nil {
		return errors.Join(err, s.stored.close())
	}
	return nil
}

func (st *stored) close() error {
	if st.folder == nil {
		return nil
	}
	return errors.Join(st.closeHistory(), st.folder.Close())
}

// Folder is the session's own directory, which tools may read unasked; empty where
// it has none. It is made when the first thing is kept in it.
func (s *Session) Folder() string {
	if s.stored.folder == nil {
		return ""
	}
	return s.stored.folder.Path()
}

// remember writes to the session's journal what the next process is to [recall].
// Without a folder there is no next one.
func (s *Session) remember(kind string, data any) error {
	if s.stored.folder == nil {
		return nil
	}
	err := s.stored.folder.Append(sessiondir.Record{Kind: kind, Data: data})
	if errors.Is(err, sessiondir.ErrClosed) {
		return nil // the session is over
	}
	return err
}

// recall returns what was remembered of a kind before this session was opened, in
// order. It does so once.
func (s *Session) recall(kind string) []json.RawMessage {
	if s.stored.folder == nil {
		return nil
	}
	return s.stored.folder.Recall(kind)
}

// saveReadState writes what the model has seen of files to the journal, for the next
// process that resumes the session. A session whose name was made up has none.
func (s *Session) saveReadState() {
	if s.options.ID == "" || s.stored.folder == nil {
		return
	}
	files := s.files.Save()
	if files == nil {
		return
	}
	if err := s.remember(filestate.RecordKind, files); err != nil {
		s.host.options.Logger.Warn("what was read cannot be remembered: files must be read again before they are written", "session", s.id, "error", err)
	}
}

// loadReadState takes over what the last process saved. After a record that cannot be
// read files must be read again.
func (s *Session) loadReadState() {
	records := s.recall(filestate.RecordKind)
	if len(records) == 0 {
		return
	}
	if err := s.files.Load(records[len(records)-1]); err != nil {
		s.host.options.Logger.Warn("what an earlier process of the session had read is not known: its record is not understood", "session", s.id, "error", err)
	}
}

// spill makes a place for a text that is too long to hold, in the session's folder.
func (s *Session) spill() (abi.Spill, error) { return s.stored.results.Spill() }

// spills is [Session.spill] for calls, or nil where there is no folder: then such a
// text counts against the limit of a tool's output.
func (s *Session) spills() func() (abi.Spill, error) {
	if s.stored.folder == nil {
		return nil
	}
	return s.spill
}

// DefaultKeepSessions is for how long the folder of a session that nobody uses is
// kept.
const DefaultKeepSessions = 30 * 24 * time.Hour

// sweepSessions removes the folders of old sessions, in the background.
func (h *Host) sweepSessions() {
	o := &h.options
	if o.Sessions == "" {
		return
	}
	h.followers.Go(func() {
		removed, err := sessiondir.Sweep(h.live, o.Sessions, cmp.Or(o.KeepSessions, DefaultKeepSessions), o.Logger)
		if err != nil && h.live.Err() == nil {
			o.Logger.Warn("the folders of old sessions could not be looked through", "directory", o.Sessions, "error", err)
		}
		if removed > 0 {
			o.Logger.Info("the folders of old sessions were removed", "directory", o.Sessions, "count", removed)
		}
	})
}
