package sessiondir

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// longest is how long a plain id may be, in bytes.
const longest = 64

// plain reports whether an id can be a directory's name on every system: no separators,
// not hidden, no dot at the end, of reasonable length.
func plain(id string) bool {
	return id != "" && len(id) <= longest && strings.Trim(id, letters+digits+"._-") == "" &&
		strings.IndexByte("._-", id[0]) < 0 && !strings.HasSuffix(id, ".")
}

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

// device reports whether Windows keeps a name for itself, whatever follows a dot.
func device(id string) bool {
	name, _, _ := strings.Cut(strings.ToLower(id), ".")
	switch strings.TrimRight(name, digits) {
	case "con", "prn", "aux", "nul":
		return len(name) == 3
	case "com", "lpt":
		return len(name) == 4
	}
	return false
}

// Locate is the path of a session's directory below the parent of all, whether or not it
// exists.
func Locate(parent, id string) string { return filepath.Join(parent, nameOf(id)) }

// nameOf is the name of a session's directory: its id where that can be, else what
// of it can be with a hash of the whole. No plain id has a "~", so the two cannot
// meet.
func nameOf(id string) string {
	if plain(id) && !device(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return Safe(id, 40) + "~" + hex.EncodeToString(sum[:8])
}

// Safe is what of a text can be part of a file's name on every system, at most so
// many bytes: runs of other characters become one "-".
func Safe(text string, limit int) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() == limit {
			break
		}
		switch {
		case r == '_', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}
