package search

import (
	"crypto/sha256"

	"github.com/toolquay/toolquay/host/capability"
)

// maxRanges bounds the ranges of one file that a search counts as seen. Lines that
// follow each other are one.
const maxRanges = 64

// teller is what tells the session which lines of a file the model is shown; nil where
// nobody wants to know.
func (p *contentsPlan) teller() func(f *found, entries []int) {
	if p.files == nil {
		return nil
	}
	return func(f *found, entries []int) {
		if ranges := f.ranges(entries); len(ranges) > 0 {
			p.files.Shown(f.file.resolved(), "", capability.ReadState{Stamp: f.stamp, Ranges: ranges})
		}
	}
}

// ranges are the bytes of the file that entries show as they are.
func (f *found) ranges(entries []int) []capability.Range {
	var out []capability.Range
	hash := sha256.New()
	for _, i := range entries {
		e := &f.entries[i]
		if e.at < 0 || e.size+e.ending == 0 {
			continue
		}
		last := len(out) - 1
		if last < 0 || out[last].To != e.at {
			if len(out) == maxRanges {
				break
			}
			hash.Reset()
			out = append(out, capability.Range{From: e.at})
			last++
		}
		const crlf = "\r\n"
		hash.Write(f.text[e.from : e.from+e.size])
		hash.Write([]byte(crlf[len(crlf)-e.ending:]))
		out[last].To = e.at + int64(e.size+e.ending)
		hash.Sum(out[last].Hash[:0])
	}
	return out
}
