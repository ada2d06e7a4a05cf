package fs

import (
	"strconv"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// observation is what a read adds to the read state of the model, and to that of the call
// itself. It is nil if nobody follows the read.
type observation struct {
	files capability.Knowledge // nil for a read that is not shown
	own   capability.Knowledge // nil if what the call reads does not matter
	path  string
	view  string
	stamp capability.Stamp
	seen  seen
	// mute is true in rehearsals, which change no read state.
	mute bool
}

// observation begins a read that somebody follows. Its stamp is taken before any byte is
// read, so that a file that changes meanwhile has another one.
func (p *readPlan) observation(info *workspace.Info) *observation {
	if p.files == nil && p.own == nil {
		return nil
	}
	return &observation{files: p.files, own: p.own, path: p.node.Real, view: viewOf(&p.args), stamp: info.Stamp(), mute: p.rehearse}
}

// known reports whether the model was shown exactly this. A stamp that does not prove it
// counts as another file: reading again is cheaper than being wrong.
func (o *observation) known() bool {
	return o != nil && o.files != nil && !o.mute && o.files.Again(o.path, o.view, o.stamp)
}

// watch returns what follows the bytes that are shown, or nil.
func (o *observation) watch() *seen {
	if o == nil || o.mute {
		return nil
	}
	return &o.seen
}

// another notes that the same request may have another answer next time.
func (o *observation) another() {
	if o != nil {
		o.view = ""
	}
}

// tell adds what was seen to the read states. A read of no bytes counts only if the file
// is empty.
func (o *observation) tell() {
	if o == nil || o.mute || len(o.seen.ranges) == 0 && o.stamp.Size > 0 {
		return
	}
	seen := capability.ReadState{Stamp: o.stamp, Ranges: o.seen.ranges}
	if o.files != nil {
		o.files.Shown(o.path, o.view, seen)
	}
	if o.own != nil {
		o.own.Shown(o.path, "", seen)
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
