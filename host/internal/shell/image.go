package shell

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif"  // for [image.DecodeConfig]
	_ "image/jpeg" // as above
	_ "image/png"  // as above
	"unicode"
	"unicode/utf8"
)

const (
	// maxImage is the largest image that an output is taken for, in bytes, and maxSide
	// the longest side of one, in pixels: services refuse a conversation with more.
	maxImage = 5 << 20
	maxSide  = 8000
	// maxBehind is how much text behind an image is told beside it, in bytes.
	maxBehind = 2 << 10
)

// picture is an image that a command put out, its bytes as a file has them, and the text
// that came behind it, as that of standard error does which is one text with the output.
type picture struct {
	bytes     []byte
	mediaType string
	behind    string
}

// picture is the output if it is an image; nil is that it is none.
func (o *output) picture() *picture {
	const most = maxImage*4/3 + 1<<10 // as a data: URI
	if bytes, _, _ := o.all.count(); o.err != nil || bytes == 0 || bytes > most {
		return nil
	}
	first, _ := o.all.ends(64)
	if !bytes.Contains(first, []byte("data:image/")) && formatOf(first) == nil {
		return nil // the rest need not be read
	}
	all, rest := o.all.ends(most)
	if rest != nil {
		return nil
	}
	return pictureIn(all)
}

// pictureIn returns the image that an output is, as a file has it or as a data: URI; nil
// is none. Much is text that only begins as images do, so all of it is looked at: it has
// to have the size and the end of one.
func pictureIn(output []byte) *picture {
	if uri, ok := bytes.CutPrefix(bytes.TrimSpace(output), []byte("data:image/")); ok {
		if output = fromURI(uri); output == nil {
			return nil
		}
	}
	format := formatOf(output)
	if format == nil {
		return nil
	}
	end := format.end(output)
	if end <= 0 || end > min(len(output), maxImage) || !format.sane(output[:end]) {
		return nil
	}
	behind := bytes.TrimSpace(output[end:])
	if len(behind) > maxBehind || !readable(behind) {
		return nil
	}
	return &picture{output[:end], format.mediaType, string(behind)}
}

// readable reports whether bytes are a text that people can read.
func readable(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) })
}

// fromURI decodes what stands behind data:image/; nil is none that is understood.
func fromURI(uri []byte) []byte {
	_, data, ok := bytes.Cut(uri, []byte(";base64,"))
	if !ok || len(data) > base64.StdEncoding.EncodedLen(maxImage) {
		return nil
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(decoded, data)
	if err != nil {
		return nil
	}
	return decoded[:n]
}

// format is a kind of image that models are shown.
type format struct {
	mediaType string
	begins    []string
	// end finds where the image ends that begins with the first byte; 0 is nowhere.
	end func(b []byte) int
	// size is that of a whole image, in pixels; zero is that it has none.
	size func(b []byte) (width, height int)
}

// pngHeader begins every PNG.
const pngHeader = "\x89PNG\r\n\x1a\n"

var formats = []format{
	{"image/png", []string{pngHeader}, endOfPNG, decoded},
	{"image/jpeg", []string{"\xff\xd8\xff"}, endOfJPEG, decoded},
	{"image/gif", []string{"GIF87a", "GIF89a"}, endOfGIF, decoded},
	{"image/webp", []string{"RIFF"}, endOfWebP, sizeOfWebP},
}

// formatOf is told by how images begin; nil is none.
func formatOf(b []byte) *format {
	for i := range formats {
		for _, begin := range formats[i].begins {
			if bytes.HasPrefix(b, []byte(begin)) {
				return &formats[i]
			}
		}
	}
	return nil
}

// sane reports whether an image has a size that it can be shown in.
func (f *format) sane(b []byte) bool {
	width, height := f.size(b)
	return width > 0 && height > 0 && width <= maxSide && height <= maxSide
}

// decoded is the size of an image by its header.
func decoded(b []byte) (width, height int) {
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// endOfPNG follows the chunks, each of a length, a name, its data and a check sum.
func endOfPNG(b []byte) int {
	const around = 4 + 4 + 4
	for at := len(pngHeader); at+around <= len(b); {
		length := binary.BigEndian.Uint32(b[at:])
		name := string(b[at+4 : at+8])
		if int64(length) > int64(len(b)-at-around) {
			return 0
		}
		at += around + int(length)
		if name == "IEND" {
			return at
		}
	}
	return 0
}

// endOfJPEG looks for the last marker of an end: the text behind it cannot have one.
func endOfJPEG(b []byte) int {
	const marker = "\xff\xd9"
	at := bytes.LastIndex(b, []byte(marker))
	if at < 0 {
		return 0
	}
	return at + len(marker)
}

// endOfGIF follows the blocks up to the trailer.
func endOfGIF(b []byte) int {
	const header, descriptor = 13, 10
	if len(b) < header {
		return 0
	}
	for at := header + colours(b[10]); at < len(b); {
		switch b[at] {
		case 0x3b:
			return at + 1
		case 0x21: // an extension: its kind, and blocks
			at = endOfBlocks(b, at+2)
		case 0x2c: // an image: its colours, the size of its codes, and blocks
			if at+descriptor > len(b) {
				return 0
			}
			at = endOfBlocks(b, at+descriptor+colours(b[at+descriptor-1])+1)
		default:
			return 0
		}
	}
	return 0
}

// colours is how long the table of colours is that flags of a GIF announce, in bytes.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// endOfBlocks is where blocks of a GIF end, each of a length and so many bytes: with an
// empty one.
func endOfBlocks(b []byte, at int) int {
	for at < len(b) && b[at] != 0 {
		at += 1 + int(b[at])
	}
	return at + 1
}

// endOfWebP is told by the header.
func endOfWebP(b []byte) int {
	if len(b) < 16 || string(b[8:12]) != "WEBP" {
		return 0
	}
	return 8 + int(binary.LittleEndian.Uint32(b[4:]))
}

// sizeOfWebP reads the first chunk: a lossy image, one without losses, or what stands
// before the parts of one that has more.
func sizeOfWebP(b []byte) (width, height int) {
	const header = 30
	if len(b) < header {
		return 0, 0
	}
	data := b[20:]
	switch string(b[12:16]) {
	case "VP8 ":
		if string(data[3:6]) != "\x9d\x01\x2a" {
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(data[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[8:]) & 0x3fff)
	case "VP8L":
		if data[0] != 0x2f {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		const low = 1<<24 - 1
		return int(binary.LittleEndian.Uint32(data[4:])&low) + 1, int(binary.LittleEndian.Uint32(data[6:])>>8) + 1
	}
	return 0, 0
}
