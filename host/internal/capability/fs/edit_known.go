package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// verify fails where the content is not what was expected, or not what the session
// has seen. Only what was seen is hashed, and nothing where the file's stamp proves
// that it is the same.
func (o *original) verify(ctx context.Context) error {
	p := o.plan
	switch {
	case p.expect == abi.ExpectAbsent:
		return abi.Errorf(abi.CodeChanged, "%s is there, and was expected to be missing; read it", p.node.Target)
	case p.expectsHash():
		sum, err := o.sum(ctx, 0, o.size)
		if err != nil {
			return err
		}
		if hex.EncodeToString(sum[:]) != p.expect {
			return p.changed()
		}
	}
	if o.readState.Stamp.Settled() && o.readState.Stamp.Same(o.was.Stamp()) {
		return nil
	}
	if p.scope.Files != nil && o.readState.Whole() && o.readState.Stamp.Size != o.size {
		return p.changed()
	}
	return o.verifyRanges(ctx)
}

func (o *original) verifyRanges(ctx context.Context) error {
	for _, r := range o.readState.Ranges {
		if r.To > o.size {
			return o.plan.changed()
		}
		sum, err := o.sum(ctx, r.From, r.To)
		if err != nil {
			return err
		}
		if sum != r.Hash {
			return o.plan.changed()
		}
	}
	return nil
}

// sum hashes a range of the file.
func (o *original) sum(ctx context.Context, from, to int64) ([32]byte, error) {
	sum, err := o.hash(from, to, func() error { return o.plan.given(ctx) })
	if err != nil {
		err = o.plan.failed(err)
	}
	return sum, err
}

// saw reports whether the session has seen a range.
func (o *original) saw(from, to int64) bool {
	return o.plan.scope.Files == nil || o.readState.Whole() || o.readState.Covers(from, to)
}

// sawAll fails where the session has not seen the whole file. A request that names
// the content it is for has read it itself, so that it is enough if the session has
// seen some.
func (o *original) sawAll(enc encoding) error {
	if o.plan.scope.Files == nil || o.readState.Whole() || o.plan.expectsHash() {
		return nil
	}
	lines, err := o.linesSeen(enc)
	if err != nil {
		return err
	}
	return abi.Errorf(abi.CodeNotRead, "%s was read in part (%s); read all of it before writing it anew, or replace text in it",
		o.plan.node.Target, lines)
}

// linesSeen says which lines were seen, for a message.
func (o *original) linesSeen(enc encoding) (string, error) {
	const most = 3
	if len(o.readState.Ranges) == 0 {
		return "no line of it", nil
	}
	var out []string
	for i, r := range o.readState.Ranges {
		if i == most {
			out = append(out, fmt.Sprintf("%d more places", len(o.readState.Ranges)-most))
			break
		}
		first, err := o.lineAt(enc, r.From)
		if err != nil {
			return "", err
		}
		last, err := o.lineAt(enc, max(r.To-1, r.From))
		if err != nil {
			return "", err
		}
		out = append(out, fmt.Sprintf("lines %d-%d", first, last))
	}
	return strings.Join(out, ", "), nil
}

// lineAt is the number of the line that an offset is in, 1-based.
func (o *original) lineAt(enc encoding, at int64) (int64, error) {
	t := tally{enc: enc}
	from := min(int64(enc.bom()), o.size, at)
	err := o.each(from, min(at, o.size), func(piece []byte) error { t.add(piece); return nil })
	if err != nil {
		return 0, o.plan.failed(err)
	}
	return t.lines() + 1, nil
}

// mapping follows what was seen of a file into its new content. Where all of it was
// seen, all of the new one is known, and there is nothing to follow.
type mapping struct {
	old, done []capability.Range
	hash      hash.Hash
	from, n   int64 // of the range that is being hashed
	open      bool
}

func newMapping(s capability.ReadState) *mapping { return &mapping{old: s.Ranges, hash: sha256.New()} }

// same passes over bytes that stay, which are at old and come to lie at now.
func (m *mapping) same(old, now int64, raw []byte) {
	for len(m.old) > 0 && len(raw) > 0 {
		r := m.old[0]
		if skip := min(r.From-old, int64(len(raw))); skip > 0 {
			old, now, raw = old+skip, now+skip, raw[skip:]
			continue
		}
		n := min(max(r.To-old, 0), int64(len(raw)))
		m.add(now, raw[:n])
		old, now, raw = old+n, now+n, raw[n:]
		m.passed(old)
	}
}

// put passes over bytes that take the place of those from from up to to, which were
// seen.
func (m *mapping) put(from, to, now int64, text []byte) {
	m.passed(from)
	if len(m.old) > 0 && m.old[0].From <= from {
		m.add(now, text)
	}
	m.passed(to)
}

func (m *mapping) add(now int64, raw []byte) {
	if !m.open {
		m.open, m.from, m.n = true, now, 0
		m.hash.Reset()
	}
	m.hash.Write(raw)
	m.n += int64(len(raw))
}

// passed ends the ranges that end before an offset of the old content, or at it.
func (m *mapping) passed(old int64) {
	for len(m.old) > 0 && m.old[0].To <= old {
		m.end()
		m.old = m.old[1:]
	}
}

func (m *mapping) end() {
	if m.open && m.n > 0 {
		r := capability.Range{From: m.from, To: m.from + m.n}
		m.hash.Sum(r.Hash[:0])
		m.done = append(m.done, r)
	}
	m.open = false
}
