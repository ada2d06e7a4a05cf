package history

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/internal/atomicfile"
)

const (
	// maxInline is how long a compressed content may be that stands in its record.
	// Source files of up to some 60 KB are that short.
	maxInline = 16 << 10
	// maxHeld is how much of a content is compressed in memory, in bytes; longer
	// ones pass through a file.
	maxHeld = 256 << 10
	// temporary begins the names of files that are not whole yet. The session's
	// directory takes them away when it is opened.
	temporary = ".tmp-"
	blobEnd   = ".gz"
)

// writers are compressors at the fastest level there is: a write waits for them.
var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is one
	return w
}}

// compress writes what r holds to w, compressed, and returns how much that was.
func compress(w io.Writer, r io.Reader) (int64, error) {
	z := writers.Get().(*gzip.Writer) //nolint:errcheck,forcetypeassert // it holds nothing else
	defer writers.Put(z)
	z.Reset(w)
	n, err := io.Copy(z, r)
	return n, errors.Join(err, z.Close())
}

// packed is a former content that is compressed and has no name yet: in memory, or
// in a file that is on the disk.
type packed struct {
	content Content
	held    []byte
	file    string
}

// errChanging is that of a file that changes while it is kept.
var errChanging = errors.New("it changed while it was kept; read it again")

// pack compresses what r holds, which must be size bytes; flush says that the result is fsynced if it is in a file.
func pack(dir string, r io.Reader, size int64, flush bool) (*packed, error) {
	h := sha256.New()
	source := io.TeeReader(io.LimitReader(r, size+1), h)
	p := &packed{content: Content{Size: size}}
	var n int64
	var err error
	if size <= maxHeld {
		n, err = p.inMemory(source)
	} else {
		n, err = p.inFile(dir, source, flush)
	}
	if err == nil && n != size {
		err = errChanging
	}
	if err != nil {
		p.discard()
		return nil, err
	}
	p.content.Hash = sumHex(h)
	return p, nil
}

func sumHex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func (p *packed) inMemory(r io.Reader) (int64, error) {
	var held bytes.Buffer
	n, err := compress(&held, r)
	p.held = held.Bytes()
	return n, err
}

func (p *packed) inFile(dir string, r io.Reader, flush bool) (int64, error) {
	f, err := os.CreateTemp(dir, temporary+"*") // 0600, and nothing that was there
	if err != nil {
		return 0, err
	}
	p.file = f.Name()
	n, err := compress(f, r)
	if err == nil && flush {
		err = f.Sync()
	}
	return n, errors.Join(err, f.Close())
}

// save gives a content its name in the directory, and returns how many bytes it takes; flush makes that durable.
func (p *packed) save(dir string, flush bool) (int64, error) {
	if p.file == "" {
		if err := p.write(dir, flush); err != nil {
			return 0, err
		}
	}
	info, err := os.Stat(p.file)
	if err == nil {
		err = os.Rename(p.file, blobPath(dir, p.content.Hash))
	}
	if err != nil {
		return 0, err
	}
	p.file = ""
	if !flush {
		return info.Size(), nil
	}
	return info.Size(), atomicfile.SyncDir(dir)
}

// write puts what is in memory into a file.
func (p *packed) write(dir string, flush bool) error {
	f, err := os.CreateTemp(dir, temporary+"*")
	if err != nil {
		return err
	}
	p.file = f.Name()
	_, err = f.Write(p.held)
	if err == nil && flush {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// discard takes away what was not saved. Without it the next opening of the
// session's directory does.
func (p *packed) discard() {
	if p != nil && p.file != "" {
		_ = os.Remove(p.file)
	}
}

func blobPath(dir, hash string) string { return filepath.Join(dir, hash+blobEnd) }

// reader reads a content and holds it to its hash: it ends without an error only
// where all of it was as it had been.
type reader struct {
	from  io.ReadCloser
	plain *gzip.Reader // nil until it is read
	want  *Content
	sum   hash.Hash
	n     int64
}

// unpack begins to read a content that is compressed.
func unpack(from io.ReadCloser, want *Content) *reader {
	return &reader{from: from, want: want, sum: sha256.New()}
}

func (r *reader) Read(p []byte) (n int, err error) {
	if r.plain == nil {
		r.plain, err = gzip.NewReader(r.from)
	}
	if err == nil {
		n, err = r.plain.Read(p)
	}
	r.sum.Write(p[:n])
	r.n += int64(n)
	switch {
	case r.n > r.want.Size, errors.Is(err, io.EOF) && (r.n != r.want.Size || sumHex(r.sum) != r.want.Hash):
		return n, fmt.Errorf("the content %.12s is damaged: %w", r.want.Hash, ErrNotKept)
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("the content %.12s is damaged: %w: %w", r.want.Hash, err, ErrNotKept)
	}
	return n, err
}

// Close ends the reading.
func (r *reader) Close() error { return r.from.Close() }
