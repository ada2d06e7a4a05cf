package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// stamp is what tells whether a file is the same, and holds the same, as far as the system tells.
type stamp struct {
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
	Size    int64  `json:"size"`
	Mode    uint32 `json:"mode"`
	Changed int64  `json:"changed"` // when the content was, in nanoseconds since 1970
	Touched int64  `json:"touched"` // when anything was
	Taken   int64  `json:"taken"`
}

// stampOf is the stamp of a file now. Where the system does not tell which file it is, it is like no other.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{Size: info.Size(), Mode: uint32(info.Mode()), Changed: info.ModTime().UnixNano(), Taken: time.Now().UnixNano()}
	s.Device, s.Inode, s.Touched = identity(info)
	return s
}

// content reports whether a file is the one that the stamp is of, with the same content.
func (s *stamp) content(info fs.FileInfo) bool {
	now := stampOf(info)
	return s.Inode != 0 && s.Device == now.Device && s.Inode == now.Inode && s.Size == now.Size && s.Changed == now.Changed
}

// settling is more than the steps in which file systems count time.
const settling = int64(50 * time.Millisecond)

// same reports whether nothing of a file was changed, for certain.
func (s *stamp) same(info fs.FileInfo) bool {
	now := stampOf(info)
	return s.content(info) && s.Touched == now.Touched && s.Mode == now.Mode && s.Taken-s.Touched > settling
}

// unread is what a node says of a file whose hash is not that of its content, but of its stamp: the file is too
// large to be read at each look. It has it wherever it is moved.
const unread = "not read"

// name gives a file a hash of that kind.
func (s *stamp) name(n *changes.Node) { nameUnread(n, s.Device, s.Inode, s.Size, s.Changed) }

func nameUnread(n *changes.Node, device, inode uint64, size, changed int64) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d", device, inode, size, changed))
	n.Hash, n.Size, n.What = hex.EncodeToString(sum[:]), size, unread
}

func isUnread(n *changes.Node) bool { return n.Is(changes.File) && n.What == unread }
