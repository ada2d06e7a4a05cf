package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// plain are ids that can be a directory's name on every system: no separators, not
// hidden, no dot at the end, of reasonable length.
var plain = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$`)

// devices are names that Windows keeps for itself, whatever follows a dot.
var devices = regexp.MustCompile(`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// nameOf is the name of a session's directory: its id where that can be, else what
// of it can be with a hash of the whole. No plain id has a "~", so the two cannot
// meet.
func nameOf(id string) string {
	if plain.MatchString(id) && !devices.MatchString(id) {
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
