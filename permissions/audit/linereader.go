package audit

import (
	"bufio"
	"errors"
	"io"
)

// chunk is a line with its newline, or a piece of something longer than a line
// may be, or what is left at the end. It is good until the next is read.
type chunk struct {
	text []byte
	// whole says that it is one line and ends in a newline.
	whole bool
}

// line is a whole chunk without its newline.
func (c chunk) line() []byte { return c.text[:len(c.text)-1] }

// lineReader splits a segment into lines, in bounded memory.
type lineReader struct {
	r *bufio.Reader
	// inside says that the last chunk did not end its line.
	inside bool
}

// newLineReader reads a section, with room for its longest line: mostly there is
// nothing left to read where a log is opened.
func newLineReader(r *io.SectionReader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, int(min(maxLine, r.Size()+1)))}
}

// next returns the next chunk, never an empty one, or io.EOF.
func (l *lineReader) next() (chunk, error) {
	text, err := l.r.ReadSlice('\n')
	if len(text) == 0 {
		return chunk{}, err
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return chunk{}, err
	}
	c := chunk{text: text, whole: err == nil && !l.inside}
	l.inside = err != nil
	return c, nil
}
