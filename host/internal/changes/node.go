package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Kind is the kind of a [Node].
type Kind string

// The kinds. The kind of a regular file is empty, as in the logs of earlier versions.
const (
	File Kind = ""
	Dir  Kind = "directory"
	Link Kind = "link"
	// Other is a device, a socket or a pipe, which [Found.Put] never makes or replaces.
	Other Kind = "other"
)

// Node describes what is at a path, without its content. A nil Node means that nothing is there.
type Node struct {
	Kind Kind `json:"kind,omitempty"`
	// Hash is a file's SHA-256 in hexadecimal, and Size its length in bytes.
	Hash string `json:"hash,omitempty"`
	Size int64  `json:"size"`
	// Mode has the permission bits of a file or directory; 0 if they are not known.
	Mode uint32 `json:"mode,omitempty"`
	// Target is the target of a link.
	Target Name `json:"target,omitempty"`
	// What describes a node of the kind [Other] in words, such as "a socket".
	What string `json:"what,omitempty"`
}

// Is reports whether the node is of a kind. A nil node is of none.
func (n *Node) Is(k Kind) bool { return n != nil && n.Kind == k }

// Same reports whether two nodes are equal apart from their modes. A file without a hash equals
// nothing, not even itself.
func (n *Node) Same(m *Node) bool {
	if n.Is(File) && n.Hash == "" {
		return false
	}
	return n.Key() == m.Key()
}

// Equal reports whether two nodes are the same, and have the same mode if both modes are known.
func (n *Node) Equal(m *Node) bool {
	return n.Same(m) && (n == nil || n.Mode == 0 || m.Mode == 0 || n.Mode == m.Mode)
}

// Key returns the string that [Node.Same] compares. The key of nil is empty.
func (n *Node) Key() string {
	switch {
	case n == nil:
		return ""
	case n.Kind == File:
		return "file " + n.Hash
	case n.Kind == Link:
		return "link " + string(n.Target)
	}
	return string(n.Kind) + " " + n.What
}

// Valid reports whether a node that was read from a log is well formed. A nil node is not.
func (n *Node) Valid() bool {
	const bits = 0o777
	if n == nil || n.Size < 0 || n.Mode&^bits != 0 && n.Kind != File {
		return false
	}
	switch n.Kind {
	case File:
		raw, err := hex.DecodeString(n.Hash)
		return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == n.Hash
	case Dir, Other:
		return n.Hash == "" && n.Target == ""
	case Link:
		return n.Hash == "" && n.Target != ""
	}
	return false
}

// String describes the node in words, such as "a file of 3 bytes".
func (n *Node) String() string {
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == Dir:
		return "a directory"
	case n.Kind == Link:
		return fmt.Sprintf("a link to %s", n.Target)
	case n.Kind == Other && n.What != "":
		return n.What
	case n.Kind == Other:
		return "a special file"
	}
	return fmt.Sprintf("a file of %d bytes", n.Size)
}

// Name is a path or the target of a link in a log. It may contain any bytes: JSON has a name that
// is not UTF-8 as an object with its bytes.
type Name string

type rawName struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON writes a string, or an object if the name is not UTF-8.
func (n Name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(rawName{[]byte(n)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Name) UnmarshalJSON(text []byte) error {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		*n = Name(plain)
		return nil
	}
	var raw rawName
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*n = Name(raw.Bytes)
	return nil
}
