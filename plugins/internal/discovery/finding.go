package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/toolquay/toolquay/abi"
)

// Finding is what was read of one plugin when it was found: enough to tell
// whether it is the same still, and what it offers, without reading it again. It
// is what the discovery index is made of.
type Finding struct {
	// Entry is the name of its folder or file in the plugin directory.
	Entry  string
	Single bool
	// ManifestAt is the stamp of the file that the manifest was read from: for a
	// single-file plugin, the module.
	ManifestAt Stamp
	// Completed says that the manifest was read or completed from the module,
	// whose stamp was then ModuleAt, and the hash of whose own sections Carried.
	Completed bool
	ModuleAt  Stamp
	Carried   [sha256.Size]byte
	// Manifest is the SHA-256 of the manifest's bytes.
	Manifest [sha256.Size]byte
	Summary  Summary
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

func (w *indexWriter) stamp(s Stamp) {
	for _, n := range []uint64{uint64(s.Size), uint64(s.Modified), uint64(s.Changed), s.Inode, s.Device} {
		w.number(n)
	}
}

func (w *indexWriter) finding(r *Finding) {
	w.text(r.Entry)
	w.flag(r.Single)
	w.stamp(r.ManifestAt)
	w.flag(r.Completed)
	if r.Completed {
		w.stamp(r.ModuleAt)
		w.hash(r.Carried)
	}
	w.hash(r.Manifest)
	w.summary(&r.Summary)
}

func (w *indexWriter) summary(s *Summary) {
	w.text(s.Name)
	w.text(s.ABI)
	w.text(string(s.Isolation))
	w.text(s.Module)
	for _, n := range []int64{int64(s.Limits.Memory), int64(s.Limits.Time), int64(s.Limits.Output), int64(s.Limits.LogLines), int64(s.Limits.CapabilityCalls)} {
		w.number(uint64(n))
	}
	w.texts(s.Capabilities)
	w.number(uint64(len(s.Config)))
	for _, key := range s.Config {
		w.text(key.Name)
		w.text(key.Description)
		w.text(string(key.Type))
		w.text(key.Default)
		w.flag(key.Required)
	}
	w.number(uint64(len(s.Tools)))
	for _, names := range s.Tools {
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

func (r *indexReader) stamp() Stamp {
	return Stamp{
		Size: int64(r.number()), Modified: int64(r.number()), Changed: int64(r.number()),
		Inode: r.number(), Device: r.number(),
	}
}

func (r *indexReader) finding(f *Finding) {
	f.Entry, f.Single, f.ManifestAt, f.Completed = r.text(), r.flag(), r.stamp(), r.flag()
	if f.Completed {
		f.ModuleAt, f.Carried = r.stamp(), r.hash()
	}
	f.Manifest = r.hash()
	r.summary(&f.Summary)
}

func (r *indexReader) summary(s *Summary) {
	s.Name, s.ABI, s.Isolation, s.Module = r.text(), r.text(), abi.Isolation(r.text()), r.text()
	s.Limits = abi.Limits{
		Memory: abi.Size(r.number()), Time: abi.Duration(r.number()), Output: abi.Size(r.number()),
		LogLines: int(r.number()), CapabilityCalls: int(r.number()),
	}
	s.Capabilities = r.texts()
	if n := r.count(); n > 0 {
		s.Config = make([]abi.ConfigKey, n)
		for i := range s.Config {
			s.Config[i] = abi.ConfigKey{Name: r.text(), Description: r.text(), Type: abi.ConfigType(r.text()), Default: r.text(), Required: r.flag()}
		}
	}
	if n := r.count(); n > 0 {
		s.Tools = cutOff(&r.lists, n)
		for i := range s.Tools {
			s.Tools[i] = r.texts()
			if len(s.Tools[i]) == 0 {
				r.fail() // a tool has a name
			}
		}
	}
}

// Says reports whether another record says the same of the plugin, wherever it
// lies and whenever it was read.
func (r *Finding) Says(other *Finding) bool {
	var a, b indexWriter
	a.summary(&r.Summary)
	b.summary(&other.Summary)
	return r.Manifest == other.Manifest && r.Completed == other.Completed && r.Carried == other.Carried && bytes.Equal(a, b)
}
