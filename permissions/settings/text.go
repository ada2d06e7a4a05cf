package settings

import "bytes"

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
