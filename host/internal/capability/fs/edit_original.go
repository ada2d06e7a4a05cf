package fs

import (
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// original is a file that is about to be written over.
type original struct {
	content
	plan *editPlan
	// was is the file before anything of it was read, and stamp was taken then.
	was   workspace.Info
	stamp capability.Stamp
	// first is the hash of the content where the stamp is not settled and the content
	// not in memory: see [original.mark].
	first [32]byte
	// readState is what the session has seen of it, where that matters. With own it is what
	// the call has read of it, which the write stands on instead.
	readState capability.ReadState
	own       bool
}

// open opens the file and checks that the session has read some of it.
func (p *editPlan) open() (*original, error) {
	file, info, err := p.node.Open()
	if err != nil {
		return nil, err
	}
	o := &original{content: content{file: file, size: info.Size, step: windowSize}, plan: p, was: info, stamp: info.Stamp()}
	if err := o.admit(); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *original) admit() error {
	p := o.plan
	if p.scope.Files != nil && !o.readByCall() {
		readState, known := p.scope.Files.Seen(p.node.Real)
		if o.readState = readState; !known {
			return abi.Errorf(abi.CodeNotRead, "%s was not read in this session; read it before writing to it", p.node.Target)
		}
	}
	if o.size > MaxEdited {
		return abi.Errorf(abi.CodeTooLarge, "%s has %d bytes; files of up to %d are edited", p.node.Target, o.size, MaxEdited)
	}
	err := o.load()
	if err == nil {
		err = o.mark()
	}
	if err != nil {
		return p.failed(err)
	}
	return nil
}

// readByCall reports whether the write stands on what the call itself has read: all of
// the file, of which the request names the hash. Where the model has seen all of just
// that, the write stands on this, so that the session goes on knowing the file.
func (o *original) readByCall() bool {
	p := o.plan
	if p.scope.Own == nil || !p.expectsHash() {
		return false
	}
	if seen, _ := p.scope.Files.Seen(p.node.Real); len(seen.Ranges) > 0 && seen.Whole() && seen.Stamp.Same(o.was.Stamp()) {
		return false
	}
	read, known := p.scope.Own.Seen(p.node.Real)
	if !known || !read.Whole() {
		return false
	}
	o.readState, o.own = read, true
	return true
}

// still fails where the file was written to since it was opened: what was read of it
// may be of two contents.
func (o *original) still() error {
	file, now, err := o.plan.node.Open()
	if err != nil {
		return err
	}
	_ = file.Close() // nothing was done with it
	if !now.Stamp().Same(o.was.Stamp()) {
		return o.overtaken()
	}
	return nil
}

// A file that was written just before it was opened may be written once more without
// its stamp showing it, in the same step of the file system's clock and with the same
// size. Of such a file what was read of it is compared once more, right before the new
// content takes its place.

// mark notes what the content is, where the stamp will not tell and memory does not
// hold it.
func (o *original) mark() (err error) {
	if !o.stamp.Settled() && o.mem == nil && !o.plan.scope.Rehearse {
		o.first, err = o.now().hash(0, o.size, regardless)
	}
	return err
}

// unchanged fails where the file that is open does not hold what was read of it. Where
// its stamp would show that, the draft looks at the stamp.
func (o *original) unchanged() error {
	if o.stamp.Settled() {
		return nil
	}
	var same bool
	var err error
	if o.mem != nil {
		same, err = o.now().equals(o.mem, regardless)
	} else {
		var sum [32]byte
		sum, err = o.now().hash(0, o.size, regardless)
		same = sum == o.first
	}
	if err != nil {
		return o.plan.failed(err)
	}
	if !same {
		return o.overtaken()
	}
	return nil
}

// regardless goes on, whether or not the call is given up.
func regardless() error { return nil }

// overtaken is the error of a file that was written while it was edited.
func (o *original) overtaken() error {
	return abi.Errorf(abi.CodeChanged, "%s was written to by somebody else just now; read it again", o.plan.node.Target)
}
