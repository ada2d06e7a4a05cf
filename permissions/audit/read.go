package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/permissions"
)

// Filter says which records [Read] gives. Zero fields leave nothing out.
type Filter struct {
	// Since and Until bound when a record was written: from Since on, and before
	// Until.
	Since, Until time.Time
	Tool         string
	Session      string
	Verdict      permissions.Verdict
	// Marks gives the log's own records too, such as gaps. Tool, Session and
	// Verdict say nothing of them.
	Marks bool
	// OldestFirst turns the order round.
	OldestFirst bool
	// Limit is the most records to give; 0 is all.
	Limit int
}

// LineError is a line that cannot be read. [Verify] says what became of it.
type LineError struct {
	// File is the segment's name.
	File string
	// Text is how the line begins.
	Text []byte
}

// Error says where the line is and how it begins.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s holds a line that cannot be read: %.40q", e.File, e.Text)
}

// Read gives the records of a log, newest first unless the filter says
// otherwise. It does not check the chain: that is for [Verify]. A line that
// cannot be read comes as a [*LineError], and reading goes on; any other error
// ends it. Memory does not grow with the log.
func Read(dir string, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		all, err := segments(dir)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("%s holds no log", dir)
		}
		if err != nil {
			yield(Record{}, fmt.Errorf("reading the decision log: %w", err))
			return
		}
		if !f.OldestFirst {
			slices.Reverse(all)
		}
		r := reader{filter: f, yield: yield}
		for _, n := range all {
			if err := r.segment(dir, segmentName(n)); err != nil {
				yield(Record{}, fmt.Errorf("reading the decision log: %w", err))
				return
			}
			if r.done {
				return
			}
		}
	}
}

type reader struct {
	filter Filter
	yield  func(Record, error) bool
	file   string
	given  int
	done   bool
}

func (r *reader) segment(dir, name string) error {
	f, info, err := privatedir.OpenRegular(filepath.Join(dir, name), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was dropped meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if !r.filter.Since.IsZero() && info.ModTime().Before(r.filter.Since) {
		return nil // nothing was written to it since
	}
	r.file = name
	if r.filter.OldestFirst {
		return r.forward(f, info.Size())
	}
	return r.backward(f, info.Size())
}

func (r *reader) forward(f *os.File, size int64) error {
	for lines := newLineReader(io.NewSectionReader(f, 0, size)); !r.done; {
		chunk, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line := bytes.TrimSuffix(chunk.text, []byte{'\n'}); len(line) > 0 {
			r.line(line)
		}
	}
	return nil
}

// backward reads a segment from its end, block by block.
func (r *reader) backward(f *os.File, size int64) error {
	const block = 64 << 10
	var rest []byte // the beginning of a line whose end was read
	for end := size; end > 0 && !r.done; {
		n := min(block, end)
		end -= n
		buf := make([]byte, n, int(n)+len(rest))
		if _, err := f.ReadAt(buf, end); err != nil {
			return err
		}
		rest = r.linesOf(append(buf, rest...))
		if len(rest) > maxLine {
			r.line(rest)
			rest = nil
		}
	}
	if len(rest) > 0 && !r.done {
		r.line(rest)
	}
	return nil
}

// linesOf gives the lines of a text from its last, but for the first, whose
// beginning may not be there: that is returned.
func (r *reader) linesOf(text []byte) []byte {
	for !r.done {
		at := bytes.LastIndexByte(text, '\n')
		if at < 0 {
			return text
		}
		if line := text[at+1:]; len(line) > 0 {
			r.line(line)
		}
		text = text[:at]
	}
	return nil
}

// line gives one line, if the filter lets it.
func (r *reader) line(text []byte) {
	var record Record
	if err := json.Unmarshal(text, &record); err != nil || record.Seq == 0 || record.Kind == "" {
		text = bytes.Clone(text[:min(len(text), 80)])
		r.done = !r.yield(Record{}, &LineError{File: r.file, Text: text})
		return
	}
	if !r.filter.takes(&record) {
		return
	}
	r.given++
	r.done = !r.yield(record, nil) || r.given == r.filter.Limit
}

func (f *Filter) takes(r *Record) bool {
	switch {
	case !f.Since.IsZero() && r.Time.Before(f.Since), !f.Until.IsZero() && !r.Time.Before(f.Until):
		return false
	case r.Kind != KindDecision:
		return f.Marks
	}
	return (f.Tool == "" || f.Tool == r.Tool) && (f.Session == "" || f.Session == r.Session) &&
		(f.Verdict == permissions.None || f.Verdict == r.Verdict)
}
