//go:build linux && (amd64 || arm64)

package calls

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Waits says that programs can wait here: their processes share the memory of the one that starts
// them, where it puts what they are to do then.
const Waits = !instrumented

// maxLate is how many files [Carrier.Continue] can pass on.
const maxLate = 40

const (
	// messageSize is that of struct msghdr, and messageFlags where its flags are.
	messageSize, messageFlags = 56, 48
	// vectorSize is that of struct iovec.
	vectorSize = 16
)

// message is a message of one byte and descriptors, and where these are in it.
func (p *Program) message(control []byte) (message, rights Arg) {
	rights = p.Bytes(control)
	vector := p.Bytes(binary.NativeEndian.AppendUint64(make([]byte, vectorSize-8), 1))
	p.Point(vector, 0, p.Bytes([]byte{1}))
	b := make([]byte, messageSize)
	binary.NativeEndian.PutUint64(b[24:], 1) // vectors
	binary.NativeEndian.PutUint64(b[40:], uint64(len(control)))
	message = p.Bytes(b)
	p.Point(message, 16, vector)
	p.Point(message, 32, rights)
	return message, rights
}

// Send adds the sending of descriptors over a socket.
func (p *Program) Send(socket Arg, opened []Arg) {
	message, rights := p.message(unix.UnixRights(make([]int, len(opened))...))
	for i, fd := range opened {
		p.Put(rights, unix.CmsgLen(0)+4*i, fd)
	}
	p.Call("handing files over", unix.SYS_SENDMSG, socket, message, Int(unix.MSG_NOSIGNAL))
}

// Wait has the program wait, in the process that it is in, for [Carrier.Continue], whose program
// comes after the rest of this one. It can do so once, and only where [Waits] says so.
func (p *Program) Wait() {
	message, rights := p.message(make([]byte, unix.CmsgSpace(4*maxLate)))
	p.add(goOn, "waiting", 0, []Arg{message, rights})
}
