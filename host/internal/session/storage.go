package session

import (
	"fmt"

	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/permissions"
)

// openStorage opens what is kept of the session, makes its directories readable to tools,
// and restores what the last process knew of files.
func (s *Session) openStorage(o storage.Options, setup *permissions.Setup) error {
	if o.Tasks != nil {
		o.Tasks.Begin = s.Tools.Backgrounds()
	}
	var err error
	if s.Storage, err = storage.Open(o); err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
	s.Tools.storage = s.Storage
	setup.SessionFolder = rules.Dir(s.Storage.Dir())
	if o.Tasks != nil {
		// Where it cannot be made, the first command reports that.
		if dir, err := s.Storage.Temp(); err == nil {
			setup.TempFolder = rules.Dir(dir)
		}
	}
	if setup.PlanFile.Path == "" && (s.Storage.Dir() != "" || o.Tasks != nil) {
		// Where there is neither, a place is made when it is needed.
		if path, err := s.Storage.PlanFile(); err == nil {
			setup.PlanFile = rules.File(path)
		}
	}
	if o.Stage {
		s.Files.Place = s.Storage.Place
	}
	s.loadReadState()
	return nil
}

// saveReadState writes the read state of files to the journal, for the next process that
// resumes the session.
func (s *Session) saveReadState() {
	if !s.resumes || s.Storage.Dir() == "" {
		return
	}
	files := s.Files.Save()
	if files == nil {
		return
	}
	if err := s.Storage.Remember(filestate.RecordKind, files); err != nil {
		s.Host.Logger.Warn("the read state of files could not be saved: files must be read again before they are written", "session", s.Calls.ID, "error", err)
	}
}

// loadReadState restores the read state that the last process saved. After a record that
// cannot be read, files must be read again.
func (s *Session) loadReadState() {
	records := s.Storage.Recall(filestate.RecordKind)
	if len(records) == 0 {
		return
	}
	if err := s.Files.Load(records[len(records)-1]); err != nil {
		s.Host.Logger.Warn("the read state of files could not be restored: its record is invalid", "session", s.Calls.ID, "error", err)
	}
}
