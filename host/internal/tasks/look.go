package tasks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// The files of a session's directory; see package sessiondir.
const (
	journalName = "journal.jsonl"
	markerName  = "session"
)

// Read returns the tasks of a session from its directory, whether or not the session is in
// use, in the order in which they began. One without an end runs where it is in use, and
// is lost where it is not. A session without a directory has no tasks.
//
// It changes nothing, and does not keep the session from being opened: to find out
// whether it is in use the lock is tried, and let go of at once.
func Read(dir string) ([]Info, error) {
	j, err := openJournal(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the tasks of a session: %w", err)
	}
	defer j.file.Close()
	list, err := j.list(dir)
	if err != nil {
		return nil, fmt.Errorf("the tasks of a session: %s: %w", j.file.Name(), err)
	}
	return list, nil
}

// journal is that of a session that another process may be writing to. The checksums of
// its lines are for who goes on with it; for looking the lines do.
type journal struct {
	file    *os.File
	size    int64 // of what was read
	records map[string][]json.RawMessage
}

func openJournal(dir string) (*journal, error) {
	f, _, err := privatedir.OpenOwn(filepath.Join(dir, journalName), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &journal{file: f, records: make(map[string][]json.RawMessage)}, nil
}

// list is what the journal comes to.
func (j *journal) list(dir string) ([]Info, error) {
	if err := j.read(); err != nil {
		return nil, err
	}
	b := replay(dir, j.records)
	if len(b.ends) < len(b.order) {
		size := j.size
		used, err := j.settle(dir)
		if err != nil {
			return nil, err
		}
		if j.size > size {
			b = replay(dir, j.records)
		}
		if !used {
			b.lose()
		}
	}
	list := make([]Info, len(b.order))
	for i, k := range b.order {
		measure(&k.info)
		list[i] = k.info
	}
	return list, nil
}

// settle reads to the end, and reports whether somebody uses the session. Who ends may
// just have written how tasks did: nobody uses it, and all is read, when that was so twice
// and nothing was written in between.
func (j *journal) settle(dir string) (used bool, err error) {
	for last := int64(-1); ; {
		if err := j.read(); err != nil {
			return false, err
		}
		size, used, err := j.sizeUnused(dir)
		switch {
		case err != nil:
			return false, err
		case used:
			return true, j.read()
		case size == last:
			return false, nil
		}
		last = size
	}
}

// sizeUnused is the size of the journal while nobody uses the session.
func (j *journal) sizeUnused(dir string) (size int64, used bool, err error) {
	f, _, err := privatedir.OpenOwn(filepath.Join(dir, markerName), os.O_RDONLY)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	if used, err = inUse(f); used || err != nil {
		return 0, used, err
	}
	defer filelock.Unlock(f)
	info, err := j.file.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), false, nil
}

// inUse reports whether a marker is locked, and takes the lock where it is not. For a
// moment it is also held by who looks as we do, and by every child that the process has
// which used the session last, until that has become another program.
func inUse(marker *os.File) (bool, error) {
	err := filelock.Wait(marker, 4*time.Millisecond)
	if errors.Is(err, filelock.ErrLocked) {
		return true, nil
	}
	return false, err
}

// read reads the lines that have come since.
func (j *journal) read() error {
	lines := bufio.NewReaderSize(io.NewSectionReader(j.file, j.size, 1<<62), sessiondir.MaxRecord)
	for {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
			return nil // it is being written, or damaged: who opens the session next cuts it off
		}
		if err != nil {
			return err
		}
		j.size += int64(len(text))
		j.take(text)
	}
}

// take keeps the data of a line, if it is about tasks. A journal is mostly about other
// things, and what a line is begins it, so that those need not be decoded; see package
// sessiondir.
func (j *journal) take(text []byte) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"kind":"`))
	if !ok {
		return
	}
	kind, rest, _ := bytes.Cut(rest, []byte(`"`))
	switch string(kind) {
	case recordBegan, recordEnded, recordShown, recordTold:
	default:
		return
	}
	_, data, _ := bytes.Cut(rest, []byte(`,"data":`))
	if sum := bytes.LastIndex(data, []byte(`,"sum":"`)); sum >= 0 {
		j.records[string(kind)] = append(j.records[string(kind)], bytes.Clone(data[:sum]))
	}
}
