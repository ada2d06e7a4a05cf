package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Indexes keeps, for each plugin directory, what was read of its plugins last
// time, in a file in the cache directory. A start that finds a plugin's files
// with the stamps on record need not read them.
//
// An index decides nothing by itself. Before a plugin is called, shown or
// granted, its manifest is read and parsed, and where that is not what the
// index says, the plugin counts as changed and the index is deleted. One that is
// damaged, or that others could have written to, is deleted; where none can be
// kept, plugins are read at every start.
type Indexes struct {
	dir string
	log *slog.Logger
	// on disk is the content of each index as it was last read or written.
	mu     sync.Mutex
	onDisk map[string][]byte
}

// OpenIndexes returns nil where no directory for indexes can be used.
func OpenIndexes(cache string, log *slog.Logger) *Indexes {
	if cache == "" {
		return nil
	}
	dir := filepath.Join(cache, "discovered")
	for _, d := range []string{cache, dir} {
		if err := privatedir.Make(d); err != nil {
			log.Warn("finding plugins without an index", "dir", d, "reason", err)
			return nil
		}
	}
	return &Indexes{dir: dir, log: log, onDisk: make(map[string][]byte)}
}

// file is where the index of a plugin directory is kept.
func (x *Indexes) file(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(x.dir, hex.EncodeToString(sum[:16]))
}

// Read returns the records of a plugin directory by entry.
func (x *Indexes) Read(dir string) map[string]*Finding {
	if x == nil {
		return nil
	}
	file := x.file(dir)
	content, err := readIndex(file)
	var records []Finding
	if err == nil {
		records, err = DecodeIndex(content, dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		tell := x.log.Warn
		if errors.Is(err, errOtherVersion) {
			tell = x.log.Debug
		}
		tell("the index of a plugin directory is unusable and was deleted", "file", file, "reason", err)
		x.Purge(dir)
		return nil
	}
	x.mu.Lock()
	x.onDisk[dir] = content
	x.mu.Unlock()
	byEntry := make(map[string]*Finding, len(records))
	for i := range records {
		byEntry[records[i].Entry] = &records[i]
	}
	return byEntry
}

// Write keeps records, in the order of their entries, unless they are on disk.
func (x *Indexes) Write(dir string, records []*Finding) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	content := EncodeIndex(records, dir)
	if before, ok := x.onDisk[dir]; bytes.Equal(before, content) || !ok && len(records) == 0 {
		return
	}
	if err := atomicfile.Write(x.file(dir), content, 0o600); err != nil {
		tell := x.log.Warn
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			tell = x.log.Debug // a cache that is meant to be read only
		}
		tell("the index of found plugins could not be written", "of", dir, "reason", err)
		return
	}
	x.onDisk[dir] = content
}

// Purge deletes an index that told something untrue.
func (x *Indexes) Purge(dir string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.onDisk, dir)
	if err := os.Remove(x.file(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.log.Warn("the index of a plugin directory could not be deleted", "dir", dir, "reason", err)
	}
}

// maxIndex is the largest index in bytes: some 1,600 for each of the most
// plugins that a directory may have.
const maxIndex = 16 << 20

// readIndex reads an index, if it can only be the user's own.
func readIndex(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxIndex:
		return nil, fmt.Errorf("it has %d bytes, over the limit of %d", info.Size(), maxIndex)
	}
	if err := ownFile(info); err != nil {
		return nil, err
	}
	content := make([]byte, info.Size())
	_, err = io.ReadFull(f, content)
	return content, err
}

// indexFormat begins every index. It changes with the encoding, behind anyFormat.
const (
	anyFormat   = "toolquay plugins "
	indexFormat = anyFormat + "2\n"
)

// errOtherVersion is the end of an index after every update of the program.
var errOtherVersion = errors.New("another version of the program wrote it")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// EncodeIndex writes the format, the program that read the manifests, the
// directory they lie in, the records, and a checksum of all that.
func EncodeIndex(records []*Finding, dir string) []byte {
	w := indexWriter(indexFormat)
	w.text(program())
	w.text(dir)
	w.number(uint64(len(records)))
	for _, r := range records {
		w.finding(r)
	}
	return binary.LittleEndian.AppendUint32(w, crc32.Checksum(w, castagnoli))
}

// DecodeIndex reads what EncodeIndex wrote, by the same program and for the same directory.
func DecodeIndex(content []byte, dir string) ([]Finding, error) {
	body, ok := bytes.CutPrefix(content, []byte(indexFormat))
	if !ok && bytes.HasPrefix(content, []byte(anyFormat)) {
		return nil, errOtherVersion
	}
	if !ok || len(body) < crc32.Size {
		return nil, errors.New("it is of another format")
	}
	end := len(content) - crc32.Size
	if crc32.Checksum(content[:end], castagnoli) != binary.LittleEndian.Uint32(content[end:]) {
		return nil, errors.New("it is damaged")
	}
	r := indexReader{rest: string(content[len(indexFormat):end])}
	if by, of := r.text(), r.text(); by != program() || of != dir {
		return nil, errOtherVersion
	}
	records := make([]Finding, min(r.count(), maxEntries))
	for i := range records {
		r.finding(&records[i])
	}
	if r.broken || r.rest != "" {
		return nil, errors.New("it is damaged")
	}
	return records, nil
}

// program tells programs apart that may read a manifest differently.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	id := []string{info.GoVersion}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == "github.com/toolquay/toolquay" {
			id = append(id, m.Version, m.Sum)
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			id = append(id, s.Value)
		}
	}
	return strings.Join(id, " ")
})
