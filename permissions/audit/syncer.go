package audit

import (
	"errors"
	"os"
	"sync"
	"time"
)

// Sync says when lines are forced to the disk.
type Sync uint8

const (
	// SyncBatch forces them at most a second later, and beside whatever is done
	// meanwhile: the first at once, those that follow it together.
	SyncBatch Sync = iota
	// SyncEach forces each before Append returns. It costs what the disk costs.
	SyncEach
	// SyncNever leaves it to the operating system.
	SyncNever
)

// batchDelay is how long lines may wait with SyncBatch, and how far apart two times
// are at which they are forced.
const batchDelay = time.Second

// syncer forces lines to the disk.
type syncer struct {
	when     Sync
	mu       *sync.Mutex // the log's, which guards all below
	segment  *segment
	timer    *time.Timer // set while lines wait to be synced
	unsynced bool        // lines came after the last sync began, or it failed
	began    time.Time   // when it did
	running  sync.WaitGroup
	err      error
}

// wrote does what is to be done about lines that were written.
func (s *syncer) wrote() error {
	switch s.when {
	case SyncEach:
		return s.segment.file.Sync()
	case SyncBatch:
		s.unsynced = true
		if s.timer == nil {
			s.timer = time.AfterFunc(batchDelay-time.Since(s.began), s.batch)
		}
	case SyncNever:
	}
	return nil
}

func (s *syncer) batch() {
	s.mu.Lock()
	if s.timer == nil { // the log was closed
		s.mu.Unlock()
		return
	}
	s.timer, s.unsynced, s.began = nil, false, time.Now()
	s.running.Add(1)
	defer s.running.Done()
	// The lock is not held while the disk works, so the segment may be closed
	// meanwhile, by a rotation: that syncs it.
	file := s.segment.file
	s.mu.Unlock()
	if err := file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
		s.mu.Lock()
		s.err, s.unsynced = err, true
		s.mu.Unlock()
	}
}

// close forces everything to the disk. It releases the mutex meanwhile.
func (s *syncer) close() error {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.mu.Unlock() // a sync that is under way takes it
	s.running.Wait()
	s.mu.Lock()
	if s.unsynced && s.segment.file != nil {
		return errors.Join(s.err, s.segment.file.Sync())
	}
	return s.err
}
