package documents_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

// docsLimit is the time that the plugin's manifest sets, and docsSlack what a call may
// take beyond it on a busy machine.
const (
	docsLimit = 20 * time.Second
	docsSlack = 10 * time.Second
)

// clearCodes are the codes that a broken document may be answered with.
var clearCodes = map[abi.Code]bool{
	abi.CodeInvalidInput: true, abi.CodeTooLarge: true, abi.CodeTrap: true, abi.CodeLimit: true, abi.CodeTimeout: true,
}

func fuzzDoc(f *testing.F, name string, seeds ...string) {
	f.Helper()
	scope := docsTestdata(f)
	for _, seed := range seeds {
		data, err := os.ReadFile(filepath.Join(scope.Cwd, seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	viewed := viewer(f, false)
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		var (
			ok   abi.DocsOK
			body string
			err  error
		)
		testenv.InTime(t, docsLimit+docsSlack, func() time.Duration {
			return testenv.Took(func() { ok, body, err = readDoc(t.Context(), viewed, capability.Scope{Cwd: dir}, name, "") })
		})
		if err != nil && !clearCodes[abi.CodeOf(err)] {
			t.Fatalf("%v has the code %s", err, abi.CodeOf(err))
		}
		if ok.Kind == abi.DocImage && err == nil && bytes.Equal(data, []byte(body)) != (len(ok.Notes) == 0) {
			t.Errorf("an image was altered without a word: %q", ok.Notes)
		}
	})
}

func FuzzPDF(f *testing.F) { fuzzDoc(f, "a.pdf", "ghostscript.pdf", "broken.pdf", "owner-locked.pdf") }

func FuzzNotebook(f *testing.F) { fuzzDoc(f, "a.ipynb", "harbour.ipynb") }

func FuzzImageHeader(f *testing.F) {
	fuzzDoc(f, "a.png", "small.jpg", "lossy.webp", "still.gif", "wide.png")
}

// camera writes a photograph of 12 megapixels.
func camera(b *testing.B, dir string) {
	b.Helper()
	pixels := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range pixels.Pix {
		pixels.Pix[i] = byte(i/400) + byte(random.IntN(16))
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, pixels, &jpeg.Options{Quality: 90}); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "camera.jpg"), out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
}

// screenshot writes a picture of a screen of 12 megapixels: lines of what might be
// letters on white.
func screenshot(b *testing.B, dir string) {
	b.Helper()
	pixels := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	for i := range pixels.Pix {
		x, y := i/4%4000, i/16000
		pixels.Pix[i] = 255
		if letter := uint64(x/20*31+y/40*17) * 0x9e3779b97f4a7c15; i%4 != 3 && y%40 < 20 && letter>>(40+x%20/4+y%20/4*5)&1 == 1 {
			pixels.Pix[i] = 30
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, pixels); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "screen.png"), out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDocs shows documents in the warm guest.
func BenchmarkDocs(b *testing.B) {
	viewed, scope := viewer(b, false), docsTestdata(b)
	for name, write := range map[string]func(*testing.B, string){"camera.jpg": camera, "screen.png": screenshot} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			write(b, dir)
			for b.Loop() {
				if _, _, err := readDoc(b.Context(), viewed, capability.Scope{Cwd: dir}, name, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, name := range []string{"libreoffice.pdf", "turned.jpg", "harbour.ipynb"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := readDoc(b.Context(), viewed, scope, name, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
