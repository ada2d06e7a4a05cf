package settings

import (
	"bytes"
	"fmt"
	"strings"
)

// byteOrderMark is what some editors put before UTF-8 text. It says nothing, so
// that it is passed over, and kept when the file is changed.
var byteOrderMark = []byte("\xef\xbb\xbf")

// cutMark splits text into its byte order mark, if it has one, and the rest.
func cutMark(src []byte) (mark, body []byte) {
	if bytes.HasPrefix(src, byteOrderMark) {
		return src[:len(byteOrderMark)], src[len(byteOrderMark):]
	}
	return nil, src
}

// body returns the text of a file without its mark, or false where it is in an
// encoding that the parsers would misjudge.
func (f *faults) body(src []byte) ([]byte, bool) {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		f.add(1, "", "it is written in UTF-16; save it as UTF-8")
		return nil, false
	}
	mark, body := cutMark(src)
	if len(mark) > 0 {
		f.file.note(1, "it starts with a byte order mark, which is passed over")
	}
	return body, true
}

// printable shows text that a stranger wrote: what does not print, or changes how
// the rest is printed, is escaped.
func printable(text string) string {
	quoted := fmt.Sprintf("%q", text)
	if plain := quoted[1 : len(quoted)-1]; plain == text || strings.ReplaceAll(plain, `\"`, `"`) == text {
		return text
	}
	return quoted
}

// shellQuote quotes an argument where a shell would not take it as it is.
func shellQuote(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@%+,", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
