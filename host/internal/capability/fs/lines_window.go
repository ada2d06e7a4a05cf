package fs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

// fileWindow holds some of a file that is read as text, and has what is passed over in
// it counted as seen.
type fileWindow struct {
	ctx context.Context // lives for one call of readLines
	src io.Reader
	enc encoding

	// buf[pos:end] is read and not yet used; eof says that nothing follows. begin is
	// where the line that was read last begins.
	buf             []byte
	pos, end, begin int
	eof             bool
	// valid and ascii describe the text that was read, from the last fill on.
	valid, ascii bool

	watcher
}

// watcher tells seen of what is passed over in a window; told is how far, and hiding
// says that what comes is not shown. Seen is nil where nobody wants to know.
type watcher struct {
	seen   *seen
	told   int
	hiding bool
}

// start reads the file's head, tells its encoding by it and takes a byte order mark
// away.
func (w *fileWindow) start(size int64) error {
	for int64(w.end) < min(size, headSize) && !w.eof {
		if err := w.fill(); err != nil {
			return err
		}
	}
	head := w.buf[:min(w.end, headSize)]
	if w.valid && marked(head) == utf8Plain && bytes.IndexByte(head[:min(len(head), sniffSize)], 0) < 0 {
		return nil // sniff would find just that, a second time
	}
	enc, err := sniff(head, w.eof || size <= headSize)
	if err != nil {
		return err
	}
	if w.enc = enc; w.seen != nil {
		w.seen.enc = enc
	}
	if !enc.decoded() {
		w.pos = enc.bom()
		return nil
	}
	return w.decode()
}

// decode begins anew, with what the file says in UTF-8.
func (w *fileWindow) decode() error {
	head := io.Reader(bytes.NewReader(w.buf[:w.end]))
	if !w.eof {
		head = io.MultiReader(head, w.src)
	}
	w.src, w.end, w.eof = newDecoder(w.enc, head), 0, false
	w.buf = make([]byte, chunkSize)
	for w.end < len(boms[utf8BOM]) && !w.eof {
		if err := w.fill(); err != nil {
			return err
		}
	}
	if w.enc.wide() {
		w.pos = len(boms[utf8BOM]) // which it was decoded to
	}
	return nil
}

// fill reads more behind what is there, making room first: by dropping what was
// used, then by growing.
func (w *fileWindow) fill() error {
	if err := interrupted(w.ctx); err != nil {
		return err
	}
	if w.pos > 0 {
		w.tell(w.pos)
		w.end = copy(w.buf, w.buf[w.pos:w.end])
		w.pos, w.told = 0, 0
	}
	if w.end == len(w.buf) {
		w.buf = append(w.buf, make([]byte, max(len(w.buf), chunkSize))...)
	}
	n, err := w.src.Read(w.buf[w.end:])
	w.end += n
	if errors.Is(err, io.EOF) {
		w.eof, err = true, nil
	}
	w.ascii, w.valid = isASCII(w.buf[:w.end]), true
	if !w.ascii {
		w.valid = utf8.Valid(w.buf[:w.end])
	}
	return err
}

// tell has what was passed up to a place in buf counted as seen, or not.
func (w *fileWindow) tell(upto int) {
	if w.seen != nil {
		w.seen.pass(w.buf[w.told:upto], !w.hiding)
		w.told = upto
	}
}

// hide tells of the line that was read last, of which no more is shown as it is than its
// first bytes.
func (w *fileWindow) hide(shown int) {
	if !w.hiding {
		w.tell(w.begin + shown)
		w.hiding = true
	}
	w.tell(w.pos)
	w.hiding, w.begin = false, w.pos
}
