package search

import "bytes"

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// The two letters that fold with one that is not ASCII: the long s and the sign of
// the kelvin.
const (
	longS  = "\u017f"
	kelvin = "\u212a"
)

func isFoldedBeyondASCII(c byte) bool { return lower(c) == 's' || lower(c) == 'k' }

// isRigid reports whether it is known how far apart the two rarest bytes of a match
// are: a letter between them may have more bytes than one.
func (n *needle) isRigid() bool {
	if n.rare < 0 || n.next < 0 {
		return true
	}
	between := n.text[min(n.rare, n.next):max(n.rare, n.next)]
	return bytes.IndexFunc(between, func(r rune) bool { return r == 's' || r == 'k' }) < 0
}

// isAround reports whether the text around the rarest byte, which is at, is the
// needle.
func (n *needle) isAround(text []byte, at int) bool {
	rest := text[at+1:]
	for _, c := range n.text[n.rare+1:] {
		size := foldPrefix(rest, c)
		if size == 0 {
			return false
		}
		rest = rest[size:]
	}
	rest = text[:at]
	for i := n.rare - 1; i >= 0; i-- {
		size := foldSuffix(rest, n.text[i])
		if size == 0 {
			return false
		}
		rest = rest[:len(rest)-size]
	}
	return true
}

// foldPrefix is how many bytes of the start of text are c, a small letter, in either
// case; 0 where they are not.
func foldPrefix(text []byte, c byte) int {
	switch {
	case len(text) == 0:
	case lower(text[0]) == c:
		return 1
	case c == 's' && bytes.HasPrefix(text, []byte(longS)):
		return len(longS)
	case c == 'k' && bytes.HasPrefix(text, []byte(kelvin)):
		return len(kelvin)
	}
	return 0
}

func foldSuffix(text []byte, c byte) int {
	switch {
	case len(text) == 0:
	case lower(text[len(text)-1]) == c:
		return 1
	case c == 's' && bytes.HasSuffix(text, []byte(longS)):
		return len(longS)
	case c == 'k' && bytes.HasSuffix(text, []byte(kelvin)):
		return len(kelvin)
	}
	return 0
}
