package fs

import (
	"strconv"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// sight is what a read adds to what the model has seen of a file, and to what the call
// itself has read. A nil one is of a read that nobody follows.
type sight struct {
	files capability.Knowledge // nil for a read that is not shown
	own   capability.Knowledge // nil where what the call reads does not matter
	path  string
	view  string
	stamp capability.Stamp
	seen  seen
	// mute is for rehearsals, which the session does not learn from.
	mute bool
}

// sight begins a read that somebody follows, of a file as it is before any of it is read:
// what changes meanwhile then has another stamp.
func (p *readPlan) sight(info *workspace.Info) *sight {
	if p.files == nil && p.own == nil {
		return nil
	}
	return &sight{files: p.files, own: p.own, path: p.node.Real, view: viewOf(&p.args), stamp: info.Stamp(), mute: p.rehearse}
}

// known reports whether the model was shown just this. Stamps that do not prove it
// count as another file: reading again is cheaper than being wrong.
func (s *sight) known() bool {
	return s != nil && s.files != nil && !s.mute && s.files.Again(s.path, s.view, s.stamp)
}

// watch is what follows the bytes that are shown, or nil.
func (s *sight) watch() *seen {
	if s == nil || s.mute {
		return nil
	}
	return &s.seen
}

// another says that the same request may be answered in another way next time.
func (s *sight) another() {
	if s != nil {
		s.view = ""
	}
}

// tell has the session and the call know what was seen. A read of nothing, in a file
// that is not empty, tells nothing.
func (s *sight) tell() {
	if s == nil || s.mute || len(s.seen.ranges) == 0 && s.stamp.Size > 0 {
		return
	}
	seen := capability.Sight{Stamp: s.stamp, Ranges: s.seen.ranges}
	if s.files != nil {
		s.files.Shown(s.path, s.view, seen)
	}
	if s.own != nil {
		s.own.Shown(s.path, "", seen)
	}
}

// viewOf names what of a file is asked for: the same for requests that have the same
// answer.
func viewOf(args *abi.ReadArgs) string {
	key := append(make([]byte, 0, 64), abi.CapFSRead...)
	number := func(n int64) { key = strconv.AppendInt(append(key, ' '), n, 10) }
	l := args.Lines
	if l == nil {
		number(args.Offset)
		number(args.Length)
		return string(key)
	}
	key = append(key, " lines"...)
	for _, n := range []int64{max(l.Offset, 1), l.Limit, l.MaxLine, l.MaxChars} {
		number(n)
	}
	return string(strconv.AppendBool(append(key, ' '), l.Number))
}
