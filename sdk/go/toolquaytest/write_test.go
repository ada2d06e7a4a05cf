package toolquaytest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

type change struct {
	Path   string
	Lines  toolquay.LineArgs
	Old    *string
	New    string
	All    bool
	Expect string
}

func text(s string) *string { return &s }

func init() {
	toolquay.Handle("ShowLines", func(c *toolquay.Call, in change) (toolquay.Output, error) {
		a, err := c.FS().ShowLines(in.Path, in.Lines)
		if err != nil || a.OK.Unchanged {
			return toolquay.Text("[unchanged]"), err
		}
		return toolquay.Output{}.TextFrom(a), nil
	})
	toolquay.Handle("Put", func(c *toolquay.Call, in change) (toolquay.Output, error) {
		w, err := in.do(c)
		if err != nil {
			return toolquay.Output{}, err
		}
		return toolquay.Output{}.TextFrom(w.Diff).Structured(w.WriteOK), nil
	})
	toolquay.Handle("Document", func(c *toolquay.Call, in change) (toolquay.Output, error) {
		doc, err := c.Docs().Read(in.Path, "1")
		if err != nil {
			return toolquay.Output{}, err
		}
		return toolquay.Output{}.Doc(doc).TextFrom(doc), nil
	})
}

func (in change) do(c *toolquay.Call) (toolquay.Written, error) {
	if in.Expect == "hash" {
		stat, err := c.FS().Hash(in.Path)
		if err != nil {
			return toolquay.Written{}, err
		}
		in.Expect = stat.Hash
	}
	switch {
	case in.Expect != "":
		a, err := c.FS().StartWrite(toolquay.WriteArgs{Path: in.Path, Expect: in.Expect}, []byte(in.New)).Wait()
		if err != nil {
			return toolquay.Written{}, err
		}
		return toolquay.Written{WriteOK: a.OK, Diff: a.Body}, nil
	case in.Old == nil:
		return c.FS().Write(in.Path, in.New)
	case in.All:
		return c.FS().ReplaceAll(in.Path, *in.Old, in.New)
	}
	return c.FS().Replace(in.Path, *in.Old, in.New)
}

// put does one change, and holds that the file stays as it is where that fails, or has
// the content already.
func put(t *testing.T, host *toolquaytest.Host, in change) toolquay.Code {
	t.Helper()
	before, _ := host.File(in.Path)
	r := host.Call(t, "Put", in)
	after, _ := host.File(in.Path)
	stays := r.Err != nil || strings.Contains(string(r.Structured), `"unchanged":true`)
	if stays == (string(before) != string(after)) {
		t.Errorf("%+v: %s; the file has %q and had %q", in, r.Text(), after, before)
	}
	if r.Err != nil {
		return r.Err.Code
	}
	return ""
}

func TestWritesNeedWhatWasSeen(t *testing.T) {
	host := toolquaytest.Files(map[string]string{"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "b"}).WithoutManifest()
	show := func(lines toolquay.LineArgs) { host.Call(t, "ShowLines", change{Path: "a.txt", Lines: lines}) }
	others := func() { host.SetFile("a.txt", "others\n") }
	for _, step := range []struct {
		name   string
		before func()
		in     change
		want   toolquay.Code
	}{
		{"nothing seen", nil, change{New: "x\n"}, toolquay.CodeNotRead},
		{"half seen", func() { show(toolquay.LineArgs{Limit: 2}) }, change{New: "x\n"}, toolquay.CodeNotRead},
		{"past the end", func() { show(toolquay.LineArgs{Offset: 9}) }, change{New: "x\n"}, toolquay.CodeNotRead},
		{"another place", nil, change{Old: text("three"), New: "3"}, toolquay.CodeNotRead},
		{"this place", nil, change{Old: text("one"), New: "1\n1"}, ""},
		{"a place that moved", nil, change{Old: text("two"), New: "2 2"}, ""},
		{"the same texts", nil, change{Old: text("1"), New: "1"}, toolquay.CodeSameText},
		{"no such text", nil, change{Old: text("four"), New: "4"}, toolquay.CodeNoMatch},
		{"twice there", nil, change{Old: text("2"), New: "3"}, toolquay.CodeNotUnique},
		{"every one", nil, change{Old: text("2"), New: "3", All: true}, ""},
		{"changed", others, change{Old: text("others"), New: "x"}, toolquay.CodeChanged},
		{"changed after it was seen", func() { show(toolquay.LineArgs{}); host.SetFile("a.txt", "again\n") }, change{New: "x\n"}, toolquay.CodeChanged},
		{"not as expected", func() { show(toolquay.LineArgs{}) }, change{New: "x\n", Expect: "00"}, toolquay.CodeChanged},
		{"there already", nil, change{New: "x\n", Expect: toolquay.ExpectAbsent}, toolquay.CodeChanged},
		{"the same content", nil, change{New: "again\n"}, ""},
		{"as expected", nil, change{New: "x\n", Expect: "hash"}, ""},
		{"a new file", nil, change{Path: "new/c.txt", New: "c\r\n", Expect: toolquay.ExpectAbsent}, ""},
		{"a new file by replacing", nil, change{Path: "d.txt", Old: text(""), New: "d"}, ""},
		{"a missing file", nil, change{Path: "e.txt", Old: text("x"), New: "e"}, toolquay.CodeNotFound},
		{"a directory", nil, change{Path: "sub", New: "x"}, toolquay.CodeIsDirectory},
	} {
		if step.before != nil {
			step.before()
		}
		if step.in.Path == "" {
			step.in.Path = "a.txt"
		}
		if got := put(t, host, step.in); got != step.want {
			t.Errorf("%s: code %q; want %q", step.name, got, step.want)
		}
	}
	if made, _ := host.File("new/c.txt"); string(made) != "c\n" {
		t.Errorf("the new file has %q; its lines end with LF", made)
	}
}

func TestWritesAnswerWithTheirDiff(t *testing.T) {
	host := toolquaytest.Files(map[string]string{"a.txt": "one\ntwo\nthree\n"}).WithoutManifest()
	host.Call(t, "ShowLines", change{Path: "a.txt"})
	r := host.Call(t, "Put", change{Path: "a.txt", Old: text("two\n"), New: "2\nII\n"})
	if want := "--- /work/a.txt\n+++ /work/a.txt\n@@ -2,1 +2,2 @@\n-two\n+2\n+II\n"; r.Text() != want {
		t.Errorf("got %q, want %q", r.Text(), want)
	}
	var ok toolquay.WriteOK
	if err := json.Unmarshal(r.Structured, &ok); err != nil || ok.Added != 2 || ok.Removed != 1 || ok.Replaced != 1 || ok.Size != 15 || ok.LineEnding != toolquay.LineEndingLF {
		t.Errorf("got %+v, %v", ok, err)
	}
}

func TestShownAgainOnce(t *testing.T) {
	host := toolquaytest.Files(map[string]string{"a.txt": "one\ntwo"}).WithoutManifest()
	for _, want := range []string{"one\ntwo", "[unchanged]", "one\ntwo"} {
		if got := host.Call(t, "ShowLines", change{Path: "a.txt"}).Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	host.SetFile("a.txt", "three")
	if got := host.Call(t, "ShowLines", change{Path: "a.txt"}).Text(); got != "three" {
		t.Errorf("a changed file: got %q", got)
	}
}

func TestRealFilesStayAsTheyAre(t *testing.T) {
	host, root := dirAt(t)
	if code := put(t, host, change{Path: "sub/new.txt", New: "new"}); code != "" {
		t.Fatal(code)
	}
	host.SetFile("a.txt", "changed")
	list := host.Call(t, "Probe", request{Do: "list", Path: "sub"})
	if text := string(list.Structured); strings.Count(text, `"name"`) != 3 || !strings.Contains(text, `"new.txt"`) {
		t.Errorf("the directory lists %s", text)
	}
	if got := host.Call(t, "ShowLines", change{Path: "a.txt"}).Text(); got != "changed" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(root, "sub/new.txt")); err == nil {
		t.Error("a real file was made")
	}
	if content, err := os.ReadFile(filepath.Join(root, "a.txt")); err != nil || string(content) == "changed" {
		t.Errorf("the real file has %q, %v", content, err)
	}
}

func TestDocumentsPassInPieces(t *testing.T) {
	host := dir(t).On(toolquay.CapDocsRead, func([]byte) (any, []byte, error) {
		return toolquay.DocsOK{Kind: toolquay.DocPDF, Blocks: []toolquay.DocBlock{
			{Type: toolquay.BlockText, Size: 3},
			{Type: toolquay.BlockText},
			{Type: toolquay.BlockImage, MediaType: "image/png", Size: 4},
			{Type: toolquay.BlockDocument, MediaType: "application/pdf", Title: "a", Size: 3},
		}}, []byte("onePNG!PDFrest"), nil
	})
	r := host.Call(t, "Document", change{Path: "a.pdf"})
	if len(r.Blocks) != 5 || r.Blocks[0].Text != "one" || r.Blocks[1].Text != "" || string(r.Blocks[2].Data) != "PNG!" ||
		string(r.Blocks[3].Data) != "PDF" || r.Blocks[4].Text != "rest" {
		t.Errorf("got %+v", r.Blocks)
	}
}
