package shell

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

const (
	// inMemory is how much of an output is held before it goes to a file, in bytes.
	inMemory = 256 << 10
	// keptTail is how much of the end is held where not all could be written.
	keptTail = 64 << 10
)

// errTooMuch is that of an output that is longer than may be kept.
var errTooMuch = errors.New("it is longer than may be kept")

// store keeps what a stream brings: the beginning in memory, and all of it in a file
// once it is longer. It is safe for concurrent use.
//
// Where the file cannot be written, as on a full disk, what was written stands, the
// last bytes are held, and everything is still counted.
type store struct {
	// open makes the file, and most bounds it, in bytes.
	open func() (*os.File, error)
	most int64

	mu    sync.Mutex
	meter meter
	mem   []byte   // all of it, until there is a file
	file  *os.File // nil until it is needed
	kept  int64    // how many bytes are in mem, or the file
	ahead int64    // how many the file has room for; see [store.makeRoom]
	// failed is why no more is kept, and tail are then the last bytes that came.
	failed error
	tail   []byte
	// watched says that somebody follows the file, which is then written at once.
	watched bool
	// users are those who write or read; the last of them closes the file, and removes
	// it where nobody wanted it.
	users  int
	wanted bool
}

// newStore returns a store that has one user. It is empty.
func newStore(most int64, open func() (*os.File, error)) *store {
	return &store{most: most, open: open, users: 1}
}

// use is one more user.
func (s *store) use() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// want has the file stay. It returns its name, empty is none, and how much is in it where
// that is not all.
func (s *store) want() (name string, kept int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = true
	if s.file == nil {
		return "", 0
	}
	if s.failed != nil {
		kept = s.kept
	}
	return s.file.Name(), kept
}

// release is one user less.
func (s *store) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	switch {
	case s.users > 0 || s.file == nil:
		return nil
	case s.wanted:
		return errors.Join(s.giveBack(), s.file.Close())
	}
	return discard(s.file)
}

// add keeps the next bytes. It reports false, once, where that was too much; what else
// goes wrong is told with what was kept.
func (s *store) add(p []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.add(p)
	if s.failed != nil {
		s.hold(p)
		return true
	}
	room := p[:min(int64(len(p)), s.most-s.kept)]
	s.keep(room)
	if s.failed != nil || len(room) == len(p) {
		return true
	}
	s.lose(errTooMuch, p[len(room):])
	return false
}

// forget forgets what came so far.
func (s *store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter, s.mem, s.kept, s.ahead, s.failed, s.tail = meter{}, nil, 0, 0, nil, nil
	if s.file == nil {
		return
	}
	_, err := s.file.Seek(0, io.SeekStart)
	if err = errors.Join(err, s.file.Truncate(0)); err != nil {
		s.failed = err
	}
}

// keep adds to the memory or the file.
func (s *store) keep(p []byte) {
	if s.file == nil && !s.watched && len(s.mem)+len(p) <= inMemory {
		s.mem = append(s.mem, p...)
		s.kept = int64(len(s.mem))
		return
	}
	if err := s.toFile(); err != nil {
		s.lose(err, p)
		return
	}
	s.makeRoom(len(p))
	n, err := s.file.Write(p)
	s.kept += int64(n)
	if err != nil {
		s.lose(err, p[n:])
	}
}

// makeRoom has the system find room for much at once where much comes: that is a third
// of what it takes to write it. Where it cannot, writing finds its own.
func (s *store) makeRoom(n int) {
	const from, most = 1 << 20, 32 << 20
	if s.kept < from || s.kept+int64(n) <= s.ahead {
		return
	}
	s.ahead = max(s.ahead, s.kept)
	more := min(max(s.kept, int64(n)), most)
	reserve(s.file, s.ahead, more)
	s.ahead += more
}

// giveBack has the file take no more room than what is in it.
func (s *store) giveBack() error {
	if s.ahead <= s.kept {
		return nil
	}
	s.ahead = 0
	return s.file.Truncate(s.kept)
}

// toFile moves what is in memory to a file, if there is none.
func (s *store) toFile() error {
	if s.file != nil {
		return nil
	}
	f, err := s.open()
	if err != nil {
		return err
	}
	if _, err := f.Write(s.mem); err != nil {
		return errors.Join(err, discard(f))
	}
	s.file, s.mem = f, nil
	return nil
}

// lose gives up keeping more, of which p is the first.
func (s *store) lose(err error, p []byte) {
	s.failed = err
	s.hold(p)
}

// hold keeps the last bytes in memory. It moves them only when they have doubled.
func (s *store) hold(p []byte) {
	s.tail = append(s.tail, p[max(0, len(p)-keptTail):]...)
	if len(s.tail) > 2*keptTail {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-keptTail:]...)
	}
}

// watch has all of it in a file from now on, as it comes, which stays. It returns its
// name.
func (s *store) watch() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.toFile(); err != nil {
		return "", err
	}
	s.watched, s.wanted = true, true
	return s.file.Name(), nil
}

// count tells how much came so far.
func (s *store) count() (bytes, lines, invalid int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meter.bytes, s.meter.lines, s.meter.invalidSoFar()
}

// ends are the beginning and the end of what came, of at most n bytes
// together.
func (s *store) ends(n int) (head, tail []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head = s.slice(0, min(s.kept, int64(n)))
	if int64(len(head)) == s.meter.bytes {
		return head, nil
	}
	head = head[:min(len(head), n/2)]
	if s.failed != nil {
		return head, bytes.Clone(s.tail[max(0, len(s.tail)-n/2):])
	}
	return head, s.slice(s.kept-int64(n/2), s.kept)
}

// since returns what came after the first so many bytes, of at most n bytes the last,
// and how many there are now.
func (s *store) since(from int64, n int) (news []byte, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.tail[max(0, len(s.tail)-n):], s.meter.bytes
	}
	return s.slice(max(from, s.kept-int64(n)), s.kept), s.kept
}

// slice reads what is kept between two places; less where it cannot be read. The
// caller holds the mutex.
func (s *store) slice(from, to int64) []byte {
	p := make([]byte, to-from)
	n, err := s.read(p, from)
	if err != nil {
		return nil
	}
	return p[:n]
}

// read reads what is kept, as much as there is. The caller holds the mutex.
func (s *store) read(p []byte, off int64) (int, error) {
	if s.file == nil {
		return copy(p, s.mem[min(off, int64(len(s.mem))):]), nil
	}
	n, err := s.file.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// discard closes and removes a file.
func discard(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }
