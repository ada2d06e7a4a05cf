package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/toolquay/toolquay/abi"
)

// finding is what was read of one plugin when it was found: enough to tell
// whether it is the same still, and what it offers, without reading it again. It
// is what the discovery index is made of.
type finding struct {
	// entry is the name of its folder or file in the plugin directory.
	entry  string
	single bool
	// manifestAt is the stamp of the file that the manifest was read from: for a
	// single-file plugin, the module.
	manifestAt stamp
	// completed says that the manifest was read or completed from the module,
	// whose stamp was then moduleAt, and the hash of whose own sections carried.
	completed bool
	moduleAt  stamp
	carried   [sha256.Size]byte
	// manifest is the SHA-256 of the manifest's bytes.
	manifest [sha256.Size]byte
	summary  summary
}

// The encoding of findings: integers as varints, strings with their length before
// them, hashes as they are. A reader that has seen one broken value yields zeros
// from there on and says so in the end.

type indexWriter []byte

func (w *indexWriter) number(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *indexWriter) text(s string) {
	w.number(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *indexWriter) texts(list []string) {
	w.number(uint64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

func (w *indexWriter) flag(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	w.number(n)
}

func (w *indexWriter) hash(h [sha256.Size]byte) { *w = append(*w, h[:]...) }

func (w *indexWriter) stamp(s stamp) {
	for _, n := range []uint64{uint64(s.size), uint64(s.modified), uint64(s.changed), s.inode, s.device} {
		w.number(n)
	}
}

func (w *indexWriter) finding(r *finding) {
	w.text(r.entry)
	w.flag(r.single)
	w.stamp(r.manifestAt)
	w.flag(r.completed)
	if r.completed {
		w.stamp(r.moduleAt)
		w.hash(r.carried)
	}
	w.hash(r.manifest)
	w.summary(&r.summary)
}

func (w *indexWriter) summary(s *summary) {
	w.text(s.name)
	w.text(s.abi)
	w.text(string(s.isolation))
	w.text(s.module)
	for _, n := range []int64{int64(s.limits.Memory), int64(s.limits.Time), int64(s.limits.Output), int64(s.limits.LogLines), int64(s.limits.CapabilityCalls)} {
		w.number(uint64(n))
	}
	w.texts(s.capabilities)
	w.number(uint64(len(s.config)))
	for _, key := range s.config {
		w.text(key.Name)
		w.text(key.Description)
		w.text(string(key.Type))
		w.text(key.Default)
		w.flag(key.Required)
	}
	w.number(uint64(len(s.tools)))
	for _, names := range s.tools {
		w.texts(names)
	}
}

type indexReader struct {
	rest   string
	broken bool
	// names and lists are what texts and tools are cut from: a thousand small
	// plugins are not worth thousands of allocations.
	names []string
	lists [][]string
}

// arena is how many strings are allocated at once.
const arena = 512

// cutOff takes n zero elements off a slice, which is made longer where need be.
func cutOff[T any](from *[]T, n int) []T {
	if n > len(*from) {
		*from = make([]T, max(n, arena))
	}
	taken := (*from)[:n:n]
	*from = (*from)[n:]
	return taken
}

func (r *indexReader) number() uint64 {
	var n uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

func (r *indexReader) fail() { r.rest, r.broken = "", true }

func (r *indexReader) take(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *indexReader) text() string { return r.take(r.number()) }

// count is the length of a list, each element of which takes a byte at least.
func (r *indexReader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *indexReader) texts() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := cutOff(&r.names, n)
	for i := range list {
		list[i] = r.text()
	}
	return list
}

func (r *indexReader) flag() bool { return r.number() != 0 }

func (r *indexReader) hash() (h [sha256.Size]byte) {
	copy(h[:], r.take(sha256.Size))
	return h
}

func (r *indexReader) stamp() stamp {
	return stamp{
		size: int64(r.number()), modified: int64(r.number()), changed: int64(r.number()),
		inode: r.number(), device: r.number(),
	}
}

func (r *indexReader) finding(f *finding) {
	f.entry, f.single, f.manifestAt, f.completed = r.text(), r.flag(), r.stamp(), r.flag()
	if f.completed {
		f.moduleAt, f.carried = r.stamp(), r.hash()
	}
	f.manifest = r.hash()
	r.summary(&f.summary)
}

func (r *indexReader) summary(s *summary) {
	s.name, s.abi, s.isolation, s.module = r.text(), r.text(), abi.Isolation(r.text()), r.text()
	s.limits = abi.Limits{
		Memory: abi.Size(r.number()), Time: abi.Duration(r.number()), Output: abi.Size(r.number()),
		LogLines: int(r.number()), CapabilityCalls: int(r.number()),
	}
	s.capabilities = r.texts()
	if n := r.count(); n > 0 {
		s.config = make([]abi.ConfigKey, n)
		for i := range s.config {
			s.config[i] = abi.ConfigKey{Name: r.text(), Description: r.text(), Type: abi.ConfigType(r.text()), Default: r.text(), Required: r.flag()}
		}
	}
	if n := r.count(); n > 0 {
		s.tools = cutOff(&r.lists, n)
		for i := range s.tools {
			s.tools[i] = r.texts()
			if len(s.tools[i]) == 0 {
				r.fail() // a tool has a name
			}
		}
	}
}

// says reports whether another record says the same of the plugin, wherever it
// lies and whenever it was read.
func (r *finding) says(other *finding) bool {
	var a, b indexWriter
	a.summary(&r.summary)
	b.summary(&other.summary)
	return r.manifest == other.manifest && r.completed == other.completed && r.carried == other.carried && bytes.Equal(a, b)
}
