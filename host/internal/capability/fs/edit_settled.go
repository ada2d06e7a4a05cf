package fs

import (
	"bytes"
	"crypto/sha256"

	"github.com/toolquay/toolquay/abi"
)

// A file that was written just before it was opened may be written once more without
// its stamp showing it, in the same step of the file system's clock and with the same
// size. Of such a file what was read of it is compared once more, right before the new
// content takes its place.

// mark notes what the content is, where the stamp will not tell and memory does not
// hold it.
func (o *original) mark() (err error) {
	if !o.stamp.Settled() && o.mem == nil && !o.plan.scope.Rehearse {
		o.first, err = o.sumNow()
	}
	return err
}

// sumNow hashes what the file now holds, without asking whether the call is given up.
func (o *original) sumNow() (sum [32]byte, err error) {
	h := sha256.New()
	now := content{file: o.file, size: o.size}
	err = now.each(0, o.size, func(piece []byte) error {
		h.Write(piece)
		return nil
	})
	h.Sum(sum[:0])
	return sum, err
}

// unchanged fails where the file that is open does not hold what was read of it. Where
// its stamp would show that, the draft looks at the stamp.
func (o *original) unchanged() error {
	if o.stamp.Settled() {
		return nil
	}
	same, err := o.same()
	if err != nil {
		return o.plan.failed(err)
	}
	if !same {
		return o.overtaken()
	}
	return nil
}

func (o *original) same() (bool, error) {
	if o.mem == nil {
		sum, err := o.sumNow()
		return sum == o.first, err
	}
	same, at := true, 0
	now := content{file: o.file, size: o.size}
	err := now.each(0, o.size, func(piece []byte) error {
		same = same && bytes.Equal(piece, o.mem[at:at+len(piece)])
		at += len(piece)
		return nil
	})
	return same, err
}

// overtaken is the error of a file that was written while it was edited.
func (o *original) overtaken() error {
	return abi.Errorf(abi.CodeChanged, "%s was written to by somebody else just now; read it again", o.plan.node.Target)
}
