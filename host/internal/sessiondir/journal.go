package sessiondir

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

const journalName = "journal.jsonl"

// MaxRecord bounds one line of the journal, in bytes.
const MaxRecord = 256 << 10

// Record is one thing to remember.
type Record struct {
	// Kind says what it is, and is what it is asked for by.
	Kind string
	// Data is encoded as JSON.
	Data any
}

// line is a record in the journal. What follows it in the file is its checksum.
type line struct {
	Kind string          `json:"kind"`
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data"`
}

// sum is the checksum of a line: a hash over the line and the sum of the one
// before, so that no line is believed after one that is damaged or missing.
type sum [16]byte

const (
	beforeSum = `,"sum":"`
	tail      = len(beforeSum) + 2*len(sum{}) + len(`"}`)
)

func (s sum) next(text []byte) sum {
	h := sha256.New()
	h.Write(s[:])
	h.Write(text)
	return sum(h.Sum(nil)[:len(s)])
}

// firstSum is what the first line is chained to: the session itself.
func firstSum(id string) sum { return sum{}.next([]byte(id)) }

// appendLine adds a record's line to dst.
func (s *sum) appendLine(dst []byte, r Record, now time.Time) ([]byte, error) {
	data, err := json.Marshal(r.Data)
	if err != nil {
		return dst, err
	}
	text, err := json.Marshal(line{Kind: r.Kind, Time: now.UTC(), Data: data})
	if err != nil {
		return dst, err
	}
	if len(text)+tail > MaxRecord {
		return dst, fmt.Errorf("a record %q of %d bytes is over the limit of %d", r.Kind, len(text), MaxRecord-tail)
	}
	text = text[:len(text)-1] // the sum goes before the brace
	*s = s.next(text)
	dst = append(dst, text...)
	dst = append(dst, beforeSum...)
	dst = hex.AppendEncode(dst, s[:])
	return append(dst, "\"}\n"...), nil
}

// read reads a line without its newline, and moves on; false is a line that was not
// written after the one that s is the sum of.
func (s *sum) read(text []byte) (line, bool) {
	if len(text) <= tail {
		return line{}, false
	}
	said := text[:len(text)-tail]
	next := s.next(said)
	end := append([]byte(beforeSum), hex.EncodeToString(next[:])...)
	if string(text[len(said):]) != string(append(end, `"}`...)) {
		return line{}, false
	}
	var l line
	if err := json.Unmarshal(append(bytes.Clone(said), '}'), &l); err != nil {
		return line{}, false
	}
	*s = next
	return l, true
}

// remains is what of a journal is not believed.
type remains struct {
	bytes int64
	// damaged says that it is more than what a crash leaves of the last line, and
	// aside is the file that it was copied to then.
	damaged bool
	aside   string
}

func (r remains) reason() string {
	if r.damaged {
		return "a line before it is damaged or missing"
	}
	return "its last line was not written to the end"
}

// readJournal reads lines as long as they follow one another. It returns what they
// hold by kind, their size and the last one's sum.
func readJournal(r io.Reader, id string) (found map[string][]json.RawMessage, size int64, last sum, err error) {
	lines := bufio.NewReaderSize(r, MaxRecord)
	found, last = make(map[string][]json.RawMessage), firstSum(id)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
				err = nil // torn, or longer than a line can be
			}
			return found, size, last, err
		}
		l, ok := last.read(text[:len(text)-1])
		if !ok {
			return found, size, last, nil
		}
		found[l.Kind] = append(found[l.Kind], l.Data)
		size += int64(len(text))
	}
}

// journal is the open file.
type journal struct {
	file *os.File
	size int64
	last sum
	// broken is why nothing more can be appended.
	broken error
}

// open reads a journal, and cuts off what is not to be believed.
func (j *journal) open(f *os.File, id string) (found map[string][]json.RawMessage, left remains, err error) {
	found, size, last, err := readJournal(f, id)
	if err != nil {
		return nil, left, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, left, err
	}
	if left.bytes = info.Size() - size; left.bytes > 0 {
		if left.damaged, err = hasNewline(io.NewSectionReader(f, size, left.bytes)); err != nil {
			return nil, left, err
		}
		if left.damaged {
			if left.aside, err = setAside(f, size, left.bytes); err != nil {
				return nil, left, err
			}
		}
		if err := errors.Join(f.Truncate(size), f.Sync()); err != nil {
			return nil, left, err
		}
	}
	*j = journal{file: f, size: size, last: last}
	return found, left, nil
}

// setAside copies the end of a journal to a file of its own beside it, for people:
// no program believes it, but it may be all there is of what was remembered.
func setAside(f *os.File, from, n int64) (string, error) {
	aside, err := os.CreateTemp(filepath.Dir(f.Name()), "journal-damaged-*.jsonl")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(aside, io.NewSectionReader(f, from, n))
	if err = errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keeping the damaged end of %s: %w", f.Name(), err), os.Remove(aside.Name()))
	}
	return aside.Name(), nil
}

// hasNewline tells damage from what a crash leaves, which has no end of a line.
func hasNewline(r io.Reader) (bool, error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return true, nil
		}
		if err != nil {
			return false, ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// append writes records, all or none, and forces them to the disk.
func (j *journal) append(records []Record, now time.Time) error {
	if j.broken != nil {
		return j.broken
	}
	var lines []byte
	last := j.last
	for _, r := range records {
		var err error
		if lines, err = last.appendLine(lines, r, now); err != nil {
			return err
		}
	}
	_, err := j.file.WriteAt(lines, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// Half a line must not stand before the next one.
		if failed := j.file.Truncate(j.size); failed != nil {
			j.broken = fmt.Errorf("%s cannot be written any more: %w", j.file.Name(), failed)
		}
		return err
	}
	j.size += int64(len(lines))
	j.last = last
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
