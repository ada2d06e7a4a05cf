package shell

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"sync"
)

// keptTail is how much of the end is held once no more can be kept, in bytes.
const keptTail = 64 << 10

// errTooMuch means that an output is longer than may be kept.
var errTooMuch = errors.New("it is longer than may be kept")

// store keeps what a stream brings, counts it, and closes its file after the last user. It
// is safe for concurrent use.
//
// If the file cannot be written, as on a full disk, it stays as it is, the last bytes are
// held in memory, and everything is still counted.
type store struct {
	most int64 // how many bytes are kept

	mu    sync.Mutex
	meter meter
	content
	// failed is why no more is kept, and tail are the last bytes that came since.
	failed error
	tail   []byte
	// users counts who writes or reads. The file is removed after the last of them, unless it
	// is wanted.
	users  int
	wanted bool
}

// newStore returns a store that has one user. It is empty.
func newStore(most int64, open func() (*os.File, error)) *store {
	return &store{most: most, content: content{open: open}, users: 1}
}

// use adds a user.
func (s *store) use() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// release removes a user.
func (s *store) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	return s.close(s.wanted)
}

// want keeps the file, if there is one. It returns its name, and how much is in it if that
// is not everything.
func (s *store) want() (name string, kept int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = true
	if s.file == nil {
		return "", 0
	}
	if s.failed != nil {
		kept = s.size
	}
	return s.file.Name(), kept
}

// watch has everything in a file from now on, as it comes, and keeps that. It returns its
// name.
func (s *store) watch() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.toFile(); err != nil {
		return "", err
	}
	s.wanted = true
	return s.file.Name(), nil
}

// add keeps the next bytes. It returns false, once, if they were too much. Other errors are
// told with what was kept.
func (s *store) add(p []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.add(p)
	if s.failed != nil {
		s.hold(p)
		return true
	}
	n, err := s.write(p[:min(int64(len(p)), s.most-s.size)])
	if err == nil && n == len(p) {
		return true
	}
	s.failed = cmp.Or(err, errTooMuch)
	s.hold(p[n:])
	return err != nil
}

// hold keeps the last bytes in memory. It moves them only when they have doubled.
func (s *store) hold(p []byte) {
	s.tail = append(s.tail, last(p, keptTail)...)
	if len(s.tail) > 2*keptTail {
		s.tail = append(s.tail[:0], last(s.tail, keptTail)...)
	}
}

// last returns the last bytes of p, at most n.
func last(p []byte, n int) []byte { return p[max(0, len(p)-n):] }

// count returns how much came so far.
func (s *store) count() (bytes, lines, invalid int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meter.bytes, s.meter.lines, s.meter.invalidSoFar()
}

// ends returns all that came, as head, or its beginning and its end of n bytes together.
func (s *store) ends(n int) (head, tail []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head = s.slice(0, min(s.size, int64(n)))
	if int64(len(head)) == s.meter.bytes {
		return head, nil
	}
	head = head[:min(len(head), n/2)]
	if s.failed != nil {
		return head, bytes.Clone(last(s.tail, n/2))
	}
	return head, s.slice(s.size-int64(n/2), s.size)
}

// since returns what came after the first so many bytes, at most its last n bytes, and how
// many bytes there are now.
func (s *store) since(from int64, n int) (news []byte, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return last(s.tail, n), s.meter.bytes
	}
	return s.slice(max(from, s.size-int64(n)), s.size), s.size
}
