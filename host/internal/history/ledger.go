package history

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/checkline"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// The name of a ledger is its id between these.
const ledgerLead, ledgerEnd = "watch-", ".jsonl"

// ledger is the file in which a [Watch] notes what it keeps. It is locked while the command runs. If the host is
// killed, records are made from it; other processes read from it what the command has changed so far. It is not
// synced to the disk before the command's end: a power failure loses the undo.
type ledger struct {
	id   string
	time time.Time // when it began
	file *os.File  // nil before the first line, and where none can be written
	err  error
}

// entry is a line of a ledger. The first line names the call.
type entry struct {
	Call  string    `json:"call,omitempty"`
	Tool  string    `json:"tool,omitempty"`
	Time  time.Time `json:"time,omitzero"`
	Begun bool      `json:"begun,omitempty"`

	Path changes.Name `json:"path,omitempty"`
	// Place is where its content may lie. A line with one more has nothing else.
	Place  changes.Name  `json:"place,omitempty"`
	Was    *changes.Node `json:"was,omitempty"`
	Stamp  stamp         `json:"stamp,omitzero"`
	Inline []byte        `json:"inline,omitempty"`
	Lost   string        `json:"lost,omitempty"`
}

// write writes a line to the ledger.
func (j *ledger) write(w *Watch, e *entry) error {
	if j.file == nil && j.err == nil {
		j.err = j.begin(w)
	}
	if j.err == nil {
		j.err = j.append(e)
	}
	return j.err
}

func (j *ledger) append(e *entry) error {
	text, err := checkline.Encode(e, maxLine)
	if err == nil {
		_, err = j.file.Write(text)
	}
	return err
}

// begin makes the file. Nobody sees it before it is locked.
func (j *ledger) begin(w *Watch) error {
	s := w.store
	if err := s.begin(context.Background()); err != nil {
		return err
	}
	log, _, err := privatedir.OpenOwn(filepath.Join(s.dir.path, changes.LogName), os.O_RDWR|os.O_CREATE) // by which sessions are found
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir.path, temporary+"*")
	if err != nil {
		return err
	}
	j.id = strings.TrimPrefix(filepath.Base(f.Name()), temporary)
	if err = filelock.Try(f); err == nil {
		j.file = f
		err = j.append(&entry{Call: w.call.ID, Tool: w.call.Tool, Time: time.Now().UTC(), Begun: true})
	}
	if err == nil {
		err = os.Rename(f.Name(), ledgerPath(s.dir.path, j.id))
	}
	if err != nil {
		j.file = nil
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	return nil
}

func ledgerPath(dir, id string) string { return filepath.Join(dir, ledgerLead+id+ledgerEnd) }

// end removes the file, once the log has all of it.
func (j *ledger) end(dir string) error {
	if j.file == nil {
		return nil
	}
	err := os.Remove(ledgerPath(dir, j.id))
	filelock.Unlock(j.file)
	err = errors.Join(err, j.file.Close())
	j.file = nil
	return err
}

// leave keeps the file for later, if its content could not be added to the log.
func (j *ledger) leave() {
	if j.file != nil {
		filelock.Unlock(j.file)
		_ = j.file.Close() // it was written
		j.file = nil
	}
}

// ledgers returns the ids of the ledgers in a directory.
func ledgers(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escaped(dir), ledgerLead+"*"+ledgerEnd))
	ids := make([]string, 0, len(paths))
	for _, path := range paths {
		name := filepath.Base(path)
		ids = append(ids, name[len(ledgerLead):len(name)-len(ledgerEnd)])
	}
	return ids, err
}

// escaped returns a glob pattern that matches a path.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// catchUp makes records for commands whose host was killed, and returns the watches of commands that still run.
// Commands of this process get no records before they end either: a program may go on writing to a file that it
// has open, and that is not reported again.
func (s *Store) catchUp(ctx context.Context) (running []*Watch, err error) {
	ids, err := ledgers(s.dir.path)
	for _, id := range ids {
		w, live, fault := s.reopen(id)
		switch {
		case errors.Is(fault, os.ErrNotExist):
		case fault != nil:
			err = errors.Join(err, fault)
		case live:
			running = append(running, w)
		default:
			w.gaps.add("Toolquay was killed while the command ran", "")
			w.settle(ctx)
		}
	}
	return running, err
}

// settleRunning makes records of what commands of this process have changed so far.
func (s *Store) settleRunning(ctx context.Context) {
	s.watches.Range(func(w, _ any) bool {
		w.(*Watch).settleNow(ctx) //nolint:errcheck,forcetypeassert // it holds nothing else
		return true
	})
}

func (w *Watch) settleNow(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(ctx)
}

// reopen reads a ledger. live says that its command still runs.
func (s *Store) reopen(id string) (w *Watch, live bool, err error) {
	f, _, err := privatedir.OpenOwn(ledgerPath(s.dir.path, id), os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	s.moment("ledger")
	live = filelock.Try(f) != nil
	if _, err := os.Lstat(ledgerPath(s.dir.path, id)); err != nil { // it has ended just now, and the log has all of it
		return nil, false, errors.Join(err, f.Close())
	}
	w = newWatch(s)
	w.ledger, w.replayed = ledger{id: id, file: f}, true
	err = w.replay(f)
	if live || err != nil {
		w.ledger.file = nil
		err = errors.Join(err, f.Close())
	}
	return w, live, err
}

// replay reads what a ledger says.
func (w *Watch) replay(f *os.File) error {
	lines := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), maxLine+1)
	for {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
			return nil // the rest is half a line
		}
		if err != nil {
			return err
		}
		var e entry
		if !checkline.Decode(text[:len(text)-1], &e) {
			w.gaps.add("the record of the running command was damaged", "")
			continue
		}
		w.take(&e)
	}
}

// take takes a line of a ledger.
func (w *Watch) take(e *entry) {
	if e.Begun {
		w.call.ID, w.call.Tool, w.ledger.time = e.Call, e.Tool, e.Time
		return
	}
	t := w.touched[string(e.Path)]
	switch place := string(e.Place); {
	case t == nil || place == "":
		t = &touched{path: string(e.Path), was: e.Was, stamp: e.Stamp, inline: e.Inline, lost: e.Lost}
	case slices.Contains(t.places, place): // it was not found there
		return
	}
	if e.Place != "" {
		t.places = append(t.places, string(e.Place))
	}
	if t.saved() && t.was.Is(changes.File) && !isUnread(t.was) && len(t.inline) == 0 {
		w.held = append(w.held, t.was.Hash)
	}
	w.touched[t.path] = t
}
