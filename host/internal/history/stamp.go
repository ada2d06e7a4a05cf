package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// stamp identifies a file and its content by metadata, without reading the file.
type stamp struct {
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
	Size    int64  `json:"size"`
	Mode    uint32 `json:"mode"`
	Changed int64  `json:"changed"` // mtime, in nanoseconds since 1970
	Touched int64  `json:"touched"` // ctime
	Taken   int64  `json:"taken"`   // when the stamp was taken
}

// stampOf returns the stamp of a file. Without inode numbers it equals no other stamp.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{Size: info.Size(), Mode: uint32(info.Mode()), Changed: info.ModTime().UnixNano(), Taken: time.Now().UnixNano()}
	s.Device, s.Inode, s.Touched = identity(info)
	return s
}

// content reports whether info describes the same file with the same content.
func (s *stamp) content(info fs.FileInfo) bool {
	now := stampOf(info)
	return s.Inode != 0 && s.Device == now.Device && s.Inode == now.Inode && s.Size == now.Size && s.Changed == now.Changed
}

// settling is longer than the timestamp granularity of file systems, in nanoseconds: sooner than that, a second
// change may leave the times as they are.
const settling = int64(50 * time.Millisecond)

// same reports whether the file has certainly not changed at all. A file that changed shortly before the stamp was
// taken (see settling) is never the same.
func (s *stamp) same(info fs.FileInfo) bool {
	now := stampOf(info)
	return s.content(info) && s.Touched == now.Touched && s.Mode == now.Mode && s.Taken-s.Touched > settling
}

// unread marks the node of a file that was not read because it is too large. Its hash is the hash of its stamp,
// which stays the same when the file is moved.
const unread = "not read"

// name marks a node as unread, and sets its hash to the stamp's.
func (s *stamp) name(n *changes.Node) { nameUnread(n, s.Device, s.Inode, s.Size, s.Changed) }

func nameUnread(n *changes.Node, device, inode uint64, size, changed int64) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d", device, inode, size, changed))
	n.Hash, n.Size, n.What = hex.EncodeToString(sum[:]), size, unread
}

func isUnread(n *changes.Node) bool { return n.Is(changes.File) && n.What == unread }
