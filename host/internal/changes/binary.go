package changes

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // it is git's name for a content, and proves nothing
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// devNull is what patches call a file that is not there, on every system.
const devNull = "/dev/null"

// gitHash is git's name for a content, without which it takes no binary patch.
func gitHash(there bool, content []byte) string {
	if !there {
		return strings.Repeat("0", 2*sha1.Size)
	}
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// binary writes both sides as a whole: the new one, and the old one for git apply -R.
func (s *sides) binary(b *bytes.Buffer) {
	b.WriteString("GIT binary patch\n")
	literal(b, s.new)
	literal(b, s.old)
}

// perLine is how many bytes a line of a binary patch holds.
const perLine = 52

// literal writes a content compressed, in lines of base 85 that begin with their
// length: A to Z are 1 to 26, and a to z the rest.
func literal(b *bytes.Buffer, content []byte) {
	fmt.Fprintf(b, "literal %d\n", len(content))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(content) // a Buffer takes everything
	_ = z.Close()
	for text := packed.Bytes(); len(text) > 0; {
		n := min(len(text), perLine)
		length := byte('A' + n - 1)
		if n > 26 {
			length = byte('a' + n - 27)
		}
		b.WriteByte(length)
		base85(b, text[:n])
		b.WriteByte('\n')
		text = text[n:]
	}
	b.WriteByte('\n')
}

const digits85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// base85 writes four bytes as five digits, the last ones filled up with zeroes.
func base85(b *bytes.Buffer, text []byte) {
	for len(text) > 0 {
		var four [4]byte
		text = text[copy(four[:], text):]
		n := binary.BigEndian.Uint32(four[:])
		var five [5]byte
		for i := range five {
			five[len(five)-1-i] = digits85[n%85]
			n /= 85
		}
		b.Write(five[:])
	}
}
