package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// stamp identifies a file and its content by metadata, without reading it.
type stamp struct {
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
	Size    int64  `json:"size"`
	Mode    uint32 `json:"mode"`
	Changed int64  `json:"changed"` // mtime, in nanoseconds since 1970
	Touched int64  `json:"touched"` // ctime
	Taken   int64  `json:"taken"`   // when the stamp was taken
}

// stampOf returns the stamp of a file. If the system has no inodes, it equals no other stamp.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{Size: info.Size(), Mode: uint32(info.Mode()), Changed: info.ModTime().UnixNano(), Taken: time.Now().UnixNano()}
	s.Device, s.Inode, s.Touched = identity(info)
	return s
}

// content reports whether info is of the same file with the same content.
func (s *stamp) content(info fs.FileInfo) bool {
	now := stampOf(info)
	return s.Inode != 0 && s.Device == now.Device && s.Inode == now.Inode && s.Size == now.Size && s.Changed == now.Changed
}

// settling is more than the resolution of the times of file systems.
const settling = int64(50 * time.Millisecond)

// same reports whether the file certainly has not changed in any way.
func (s *stamp) same(info fs.FileInfo) bool {
	now := stampOf(info)
	return s.content(info) && s.Touched == now.Touched && s.Mode == now.Mode && s.Taken-s.Touched > settling
}

// unread marks the node of a file that is too large to be read: its hash is that of its stamp, which stays the
// same when the file is moved.
const unread = "not read"

// name gives a node the hash of the stamp.
func (s *stamp) name(n *changes.Node) { nameUnread(n, s.Device, s.Inode, s.Size, s.Changed) }

func nameUnread(n *changes.Node, device, inode uint64, size, changed int64) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d", device, inode, size, changed))
	n.Hash, n.Size, n.What = hex.EncodeToString(sum[:]), size, unread
}

func isUnread(n *changes.Node) bool { return n.Is(changes.File) && n.What == unread }
