package changes

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names contents by SHA-1; it is not used for security
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// devNull is the name that a patch uses for a missing file, on every system.
const devNull = "/dev/null"

// gitHash returns git's object ID of a content, or zeros if the file does not exist. Git refuses
// a binary patch without these IDs.
func gitHash(there bool, content []byte) string {
	if !there {
		return strings.Repeat("0", 2*sha1.Size)
	}
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// binary writes both contents in full: the new one, and the old one for git apply -R.
func (s *sides) binary(b *bytes.Buffer) {
	b.WriteString("GIT binary patch\n")
	literal(b, s.new)
	literal(b, s.old)
}

// perLine is the number of bytes that one line of a binary patch encodes.
const perLine = 52

// literal writes a zlib-compressed content as lines of base 85. A line begins with its length in
// bytes: A to Z for 1 to 26, and a to z for 27 to 52.
func literal(b *bytes.Buffer, content []byte) {
	fmt.Fprintf(b, "literal %d\n", len(content))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(content) // writing to a bytes.Buffer never fails
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

// base85 writes each four bytes as five digits, and pads the last group with zeros.
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
