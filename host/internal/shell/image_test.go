package shell_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// webP is a lossless WebP of one pixel.
const webP = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

// drawn are images of noise, so that there is something to cut, in each format.
func drawn(t *testing.T, width int) map[string]string {
	t.Helper()
	noise := image.NewPaletted(image.Rect(0, 0, width, 50), color.Palette{color.Black, color.White, color.Gray{99}, color.Gray{44}})
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.IntN(4))
	}
	var p, j, g bytes.Buffer
	if err := png.Encode(&p, noise); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, noise, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{noise, noise}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"image/png": p.String(), "image/jpeg": j.String(), "image/gif": g.String(), "image/webp": webP}
}

// cat puts a content out, and returns what came of it.
func (s *session) cat(content, further string) result {
	s.tb.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "content"), []byte(content), 0o600); err != nil {
		s.tb.Fatal(err)
	}
	return s.bash(newShell(s.tb), "cat content"+further)
}

func TestImagesAreImages(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for mediaType, whole := range drawn(t, 50) {
		uri := "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString([]byte(whole)) + "\n"
		for _, content := range []string{whole, uri} {
			if r := s.cat(content, ""); r.MediaType != mediaType || r.out != whole || r.Note != "" {
				t.Errorf("%s: got %q, %d bytes, %q", mediaType, r.MediaType, len(r.out), r.Note)
			}
		}
		if r := s.cat(whole, "; echo oops >&2"); r.MediaType != mediaType || r.out != whole || r.Note != "Behind the image it wrote: oops" {
			t.Errorf("%s with an error: got %q, %d bytes, %q", mediaType, r.MediaType, len(r.out), r.Note)
		}
		for name, content := range map[string]string{
			"cut": whole[:len(whole)-1], "half": whole[:len(whole)/2], "begun": whole[:6], "late": "x" + whole, "two": whole + whole,
			"much behind it": whole + strings.Repeat("text\n", 5000),
		} {
			if mediaType == "image/jpeg" && name == "two" {
				continue // markers alone do not tell where the first one ends
			}
			if r := s.cat(content, ""); r.MediaType != "" || r.out != strings.ToValidUTF8(r.out, "") {
				t.Errorf("%s, %s: got %q", mediaType, name, r.MediaType)
			}
		}
	}
}

// What only begins as an image is text.
func TestTextsAreNoImages(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	small := drawn(t, 50)["image/png"]
	end := len(small) - len("\x00\x00\x00\x00IENDsums")
	long := small[:end] + "\x00\x50\x00\x00tEXt" + strings.Repeat("x", 5<<20) + "sums" + small[end:]
	for name, content := range map[string]string{
		"about a format": "GIF89a is an old format\n",
		"only a header":  "\x89PNG\r\n\x1a\n",
		"another format": "RIFF\x04\x00\x00\x00WAVE",
		"no data":        "data:image/png;base64,!!!",
		"other data":     "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("text")),
		"no size":        "GIF89a\x00\x00\x00\x00\x00\x00\x00;",
		"too wide":       drawn(t, 8001)["image/png"],
		"too long":       long,
	} {
		want := strings.Map(func(r rune) rune { return r }, content) // with U+FFFD for each byte that is no UTF-8
		if r := s.cat(content, ""); r.MediaType != "" || len(content) < 1000 && r.out != want {
			t.Errorf("%s: got %q, %.80q", name, r.MediaType, r.out)
		}
	}
}
