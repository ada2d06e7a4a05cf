package workspace

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/ownfiles"
)

// Draft is new content for where a node lies, which nobody sees before Commit. It
// is for one goroutine. The package's comment says what holds on which system.
type Draft struct {
	target string
	// made is where it makes a new file, empty for one that exists.
	made string
	*staging
	over bool
}

// Draft begins new content for the regular file that is held, or for the one that
// is missing; the directories above it that are missing too are made, and taken away
// again by Discard. The new file has the mode, owner, group and attributes of the
// former as far as the host may give them away, and never lets in more people.
//
// Where [Node.Open] opens nothing, Draft begins nothing, and the codes are the same.
// A file that the host's user may not write to is [abi.CodeIO], though it could be
// replaced. [abi.CodeChanged] says that what is held is not there any more.
func (n *Node) Draft() (*Draft, error) {
	if err := n.draftable(); err != nil {
		return nil, err
	}
	made := ""
	if !n.Exists() {
		made = n.Real
	}
	announce(made)
	s, err := stage(n)
	if err != nil {
		return nil, writeFault(n.Target, err)
	}
	return &Draft{target: n.Target, made: made, staging: s}, nil
}

// announce says that a file and the directories above it are made on purpose: the sandbox of a
// command that runs would undo them, where they are protected.
func announce(made string) {
	if made != "" {
		ownfiles.MakingReal(made)
	}
}

// draftable tells why there can be no new content for the node, or is nil.
func (n *Node) draftable() error {
	switch {
	case n.barred != nil:
		return n.barred
	case n.fault == nil:
		return n.irregular()
	case n.fault.Code != abi.CodeNotFound:
		return n.fault
	}
	return refusePath(n.Target, n.Real)
}

// Write adds to the content.
func (d *Draft) Write(p []byte) (int, error) {
	if d.over {
		return 0, d.ended()
	}
	n, err := d.write(p)
	if err != nil {
		err = writeFault(d.target, err)
	}
	return n, err
}

// Skip appends n zero bytes, as a hole if the file system supports sparse files.
func (d *Draft) Skip(n int64) error {
	if d.over {
		return d.ended()
	}
	if err := d.skip(n); err != nil {
		return writeFault(d.target, err)
	}
	return nil
}

// Fd returns the descriptor of the file that holds the content, for setting attributes.
func (d *Draft) Fd() uintptr { return d.handle() }

// ReadAt reads back what was written, as [io.ReaderAt] has it.
func (d *Draft) ReadAt(p []byte, off int64) (int, error) {
	if d.over {
		return 0, d.ended()
	}
	return d.readAt(p, off)
}

// SetMode gives the content other permission bits than it has, before anybody can open
// it: those of the former file, or what new files have. Set-uid and the like are left
// out.
func (d *Draft) SetMode(mode uint32) error {
	if d.over {
		return d.ended()
	}
	if err := d.setMode(mode & 0o777); err != nil {
		return writeFault(d.target, err)
	}
	return nil
}

// Sync writes the content out to the disk. Commit does that too, and is quicker after
// it: there is less time for others between what was looked at last and the end.
func (d *Draft) Sync() error {
	if d.over {
		return d.ended()
	}
	if err := d.sync(); err != nil {
		return writeFault(d.target, err)
	}
	return nil
}

// Commit puts the content in place, at once and for good, if what is there still is
// what was, the zero value being nothing: else [abi.CodeChanged], and nothing has
// changed. It returns what is known of the file as it now is. However it ends, the
// draft is over, and nothing is left of one that was not put in place.
//
// An error says so where, against this, something did change or is left behind: that
// takes a system that fails twice, or somebody who writes the same name over and
// over. Where the content may be in place all the same, it wraps [ErrUncertain].
func (d *Draft) Commit(was Info) (Info, error) {
	if d.over {
		return Info{}, d.ended()
	}
	d.over = true
	announce(d.made)
	info, err := d.commit(was)
	if err != nil {
		return Info{}, writeFault(d.target, joinLeft(err, d.discard()))
	}
	return info, nil
}

// Discard takes away what was not committed. After Commit it does nothing.
func (d *Draft) Discard() error {
	if d.over {
		return nil
	}
	d.over = true
	if err := d.discard(); err != nil {
		return abi.Errorf(abi.CodeIO, "%w", err)
	}
	return nil
}

func (d *Draft) ended() error {
	return abi.Errorf(abi.CodeInternal, "the draft of %s is over", d.target)
}
