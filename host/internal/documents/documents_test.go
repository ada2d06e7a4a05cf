package documents_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/docs"
	"github.com/toolquay/toolquay/host/internal/documents"
	"github.com/toolquay/toolquay/internal/testenv"
)

// viewers are one that shows text of PDF and one that passes PDF on. What shows documents
// is large, so that it is compiled once: the second takes it from the cache of the first.
var viewers = struct {
	once          sync.Once
	text, passing *docs.Capability
	err           error
}{}

func viewer(tb testing.TB, passes bool) *docs.Capability {
	tb.Helper()
	viewers.once.Do(func() {
		if viewers.text, viewers.err = warmViewer(tb, false); viewers.err == nil {
			viewers.passing, viewers.err = warmViewer(tb, true)
		}
	})
	if viewers.err != nil {
		tb.Fatal(viewers.err)
	}
	if passes {
		return viewers.passing
	}
	return viewers.text
}

// warmViewer returns the capability of a viewer that has shown a document.
func warmViewer(tb testing.TB, passes bool) (*docs.Capability, error) {
	tb.Helper()
	c := documents.New(documents.Options{
		PassPDF: passes, CacheDir: testenv.CompileCache(), Logger: slog.New(slog.DiscardHandler),
	}).Capability()
	_, _, err := readDoc(context.Background(), c, docsTestdata(tb), "still.gif", "")
	return c, err
}

func TestClosed(t *testing.T) {
	t.Parallel()
	v := documents.New(documents.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readDoc(t.Context(), v.Capability(), docsTestdata(t), "still.gif", ""); !errors.Is(err, documents.ErrClosed) {
		t.Errorf("a closed viewer shows a document: %v", err)
	}
}

// observed is what a session's model has seen, as far as docs.read asks.
type observed struct {
	capability.Knowledge
	view  string
	state capability.ReadState
}

// Shown notes.
func (s *observed) Shown(_, view string, state capability.ReadState) { s.view, s.state = view, state }

// Again reports whether just this was shown.
func (s *observed) Again(_, view string, stamp capability.Stamp) bool {
	return s.view == view && s.state.Stamp.Same(stamp)
}

func readDoc(ctx context.Context, c *docs.Capability, scope capability.Scope, path, pages string) (abi.DocsOK, string, error) {
	args, err := json.Marshal(abi.DocsArgs{Path: path, Pages: pages, Shown: true})
	if err != nil {
		return abi.DocsOK{}, "", err
	}
	plan, err := c.Plan(ctx, scope, abi.Request{Name: abi.CapDocsRead, Args: args})
	if err != nil {
		return abi.DocsOK{}, "", err
	}
	defer plan.Close()
	answer, err := plan.Do(ctx, nil)
	if err != nil {
		return abi.DocsOK{}, "", err
	}
	ok := answer.OK.(abi.DocsOK)
	if answer.Body == nil {
		return ok, "", nil
	}
	body, err := io.ReadAll(answer.Body)
	return ok, string(body), err
}

func docsTestdata(tb testing.TB) capability.Scope {
	tb.Helper()
	dir, err := filepath.Abs("../../../builtin/docs/testdata")
	if err != nil {
		tb.Fatal(err)
	}
	return capability.Scope{Cwd: dir}
}

func TestDocsRead(t *testing.T) {
	t.Parallel()
	viewed, scope := viewer(t, false), docsTestdata(t)
	for _, c := range []struct {
		path, pages, kind, says string
		blocks                  []abi.BlockType
		code                    abi.Code
	}{
		{path: "ghostscript.pdf", kind: abi.DocPDF, says: "--- page 2 of 2 ---\nThe second page.", blocks: []abi.BlockType{abi.BlockText}},
		{path: "libreoffice.pdf", pages: "12", kind: abi.DocPDF, says: "Section 12", blocks: []abi.BlockType{abi.BlockText}},
		{path: "small.jpg", kind: abi.DocImage, says: "JFIF", blocks: []abi.BlockType{abi.BlockImage}},
		{path: "turned.jpg", kind: abi.DocImage, says: "JFIF", blocks: []abi.BlockType{abi.BlockImage}},
		{path: "harbour.ipynb", kind: abi.DocNotebook, says: "ZeroDivisionError", blocks: []abi.BlockType{abi.BlockText, abi.BlockImage, abi.BlockText}},
		{path: "libreoffice.pdf", pages: "13", says: "12 pages", code: abi.CodeInvalidInput},
		{path: "locked.pdf", says: "password", code: abi.CodeInvalidInput},
		{path: "huge.png", says: "20000 x 20000", code: abi.CodeTooLarge},
		{path: "missing.pdf", says: "missing.pdf", code: abi.CodeNotFound},
		{path: ".", says: "directory", code: abi.CodeIsDirectory},
	} {
		ok, body, err := readDoc(t.Context(), viewed, scope, c.path, c.pages)
		if c.code != "" {
			if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %v; want %s, saying %q", c.path, err, c.code, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		var size int64
		for i, b := range ok.Blocks {
			size += b.Size
			if i >= len(c.blocks) || b.Type != c.blocks[i] {
				t.Errorf("%s: block %d is %s", c.path, i, b.Type)
			}
		}
		if ok.Kind != c.kind || len(ok.Blocks) != len(c.blocks) || size != int64(len(body)) || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %+v and %d bytes", c.path, ok, len(body))
		}
	}
}

func TestDocsReadPassesPDF(t *testing.T) {
	t.Parallel()
	viewed, scope := viewer(t, true), docsTestdata(t)
	want, err := os.ReadFile(filepath.Join(scope.Cwd, "libreoffice.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	ok, body, err := readDoc(t.Context(), viewed, scope, "libreoffice.pdf", "")
	if err != nil || len(ok.Blocks) != 1 || ok.Blocks[0].Type != abi.BlockDocument || body != string(want) {
		t.Errorf("got %+v, %v", ok, err)
	}
	if ok, _, err := readDoc(t.Context(), viewed, scope, "libreoffice.pdf", "1"); err != nil || ok.Blocks[0].Type != abi.BlockText {
		t.Errorf("with pages: got %+v, %v", ok, err)
	}
}

func TestDocsReadIsSeen(t *testing.T) {
	t.Parallel()
	viewed, scope := viewer(t, false), docsTestdata(t)
	seen := &observed{}
	scope.Files, scope.Rehearse = seen, true
	if _, _, err := readDoc(t.Context(), viewed, scope, "harbour.ipynb", ""); err != nil || seen.view != "" {
		t.Fatalf("a rehearsal told of %q, %v", seen.view, err)
	}
	scope.Rehearse = false
	if ok, _, err := readDoc(t.Context(), viewed, scope, "harbour.ipynb", ""); err != nil || ok.Unchanged || !seen.state.Whole() {
		t.Fatalf("got %+v, %v; seen whole: %v", ok, err, seen.state.Whole())
	}
	if ok, body, err := readDoc(t.Context(), viewed, scope, "harbour.ipynb", ""); err != nil || !ok.Unchanged || body != "" {
		t.Errorf("again: got %+v, %v", ok, err)
	}
}

func TestDocsReadHeedsTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := readDoc(ctx, viewer(t, false), docsTestdata(t), "turned.jpg", "")
	if abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v", err)
	}
}

// bomb is a PDF of less than a kilobyte, the text of whose page is 300 MB when it is
// unpacked. Only a million bytes of it are ever packed: 300 MB take minutes under -race.
func bomb(t *testing.T) []byte {
	t.Helper()
	const times, size = 300, 1_000_000
	// What is flushed ends at a whole byte and does not refer back, so that it may
	// stand as often as one likes. The Adler-32 of n zeros is n and 1.
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := w.Write(make([]byte, size))
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	const head = 2 // bytes
	packed := slices.Concat(out.Bytes()[:head], bytes.Repeat(out.Bytes()[head:], times))
	packed = append(packed, 1, 0, 0, 0xff, 0xff) // an empty last block
	packed = binary.BigEndian.AppendUint32(packed, times*size%65_521<<16|1)
	for range 2 {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		_, err := w.Write(packed)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		packed = out.Bytes()
	}
	return fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"+
		"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"+
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>\nendobj\n"+
		"4 0 obj\n<</Filter[/FlateDecode/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream\nendobj\n"+
		"trailer<</Root 1 0 R>>\n%%%%EOF", len(packed), packed)
}

// What unpacks to more than the guest has is given up, and said so; the next document
// is read all the same.
func TestDocsReadOutlivesABomb(t *testing.T) {
	t.Parallel()
	data := bomb(t)
	if len(data) > 2_000 {
		t.Fatalf("the bomb has %d bytes", len(data))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bomb.pdf"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	viewed := viewer(t, false)
	var err error
	testenv.InTime(t, docsLimit, func() time.Duration { // a read that ends at the limit says so instead
		return testenv.Took(func() { _, _, err = readDoc(t.Context(), viewed, capability.Scope{Cwd: dir}, "bomb.pdf", "") })
	})
	if abi.CodeOf(err) != abi.CodeTrap || !strings.Contains(err.Error(), "bomb.pdf could not be shown: it is broken, or takes more memory") {
		t.Errorf("got %v", err)
	}
	if _, _, err := readDoc(t.Context(), viewed, docsTestdata(t), "small.jpg", ""); err != nil {
		t.Errorf("after it: %v", err)
	}
}
