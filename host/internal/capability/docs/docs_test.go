package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/docs"
	"github.com/toolquay/toolquay/permissions"
)

// shower stands where the guest does, whose own tests are in builtin/docs and host.
type shower struct {
	result abi.ToolResult
	err    error
	got    []docs.Document
}

func (s *shower) run(_ context.Context, d docs.Document) (abi.ToolResult, error) {
	s.got = append(s.got, d)
	return s.result, s.err
}

func shows(structured string, blocks ...abi.Block) *shower {
	return &shower{result: abi.ToolResult{Structured: json.RawMessage(structured), Content: blocks}}
}

// observed is what a session was told of files.
type observed struct {
	capability.Knowledge
	view  string
	state capability.ReadState
}

func (s *observed) Shown(_, view string, state capability.ReadState) { s.view, s.state = view, state }

func (s *observed) Again(_, view string, stamp capability.Stamp) bool {
	return s.view == view && s.state.Stamp.Same(stamp)
}

func written(t *testing.T, name, content string) capability.Scope {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return capability.Scope{Cwd: dir}
}

func read(t *testing.T, opts docs.Options, scope capability.Scope, args abi.DocsArgs) (abi.DocsOK, string, error) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	p, err := docs.New(opts).Plan(t.Context(), scope, abi.Request{Name: abi.CapDocsRead, Args: data})
	if err != nil {
		return abi.DocsOK{}, "", err
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got := p.Accesses(); len(got) != 1 || got[0].Kind != permissions.AccessRead {
		t.Errorf("accesses %+v; want one read", got)
	}
	answer, err := p.Do(t.Context(), nil)
	if err != nil {
		return abi.DocsOK{}, "", err
	}
	ok := answer.OK.(abi.DocsOK)
	if answer.Body == nil {
		return ok, "", nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return ok, string(body), nil
}

func TestBlocksLieInTheBody(t *testing.T) {
	t.Parallel()
	s := shows(`{"kind": "notebook", "pages": 2, "notes": ["a note"], "whole": true}`, abi.TextBlock("é"),
		abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte{1, 2, 3}})
	ok, body, err := read(t, docs.Options{Run: s.run}, written(t, "a.ipynb", "{}"), abi.DocsArgs{Path: "a.ipynb", Pages: "3"})
	if err != nil {
		t.Fatal(err)
	}
	if ok.Kind != abi.DocNotebook || ok.Pages != 2 || len(ok.Notes) != 1 || len(ok.Blocks) != 2 || body != "é\x01\x02\x03" {
		t.Errorf("got %+v with %q", ok, body)
	}
	if ok.Blocks[0].Size != 2 || ok.Blocks[1].Size != 3 || ok.Blocks[1].MediaType != "image/png" {
		t.Errorf("got the blocks %+v", ok.Blocks)
	}
	if len(s.got) != 1 || s.got[0].Name != "a.ipynb" || s.got[0].Pages != "3" || string(s.got[0].Content) != "{}" {
		t.Errorf("the guest was given %+v", s.got)
	}
}

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code abi.Code
		says string
	}{
		{abi.Errorf(abi.CodeInvalidInput, "the PDF is broken"), abi.CodeInvalidInput, "a.pdf could not be shown: the PDF is broken"},
		{abi.Errorf(abi.CodeTrap, "plugin docs trapped"), abi.CodeTrap, "it is broken, or takes more memory to read than documents get"},
		{abi.Errorf(abi.CodeLimit, "ran longer than 20s"), abi.CodeLimit, "it takes more to read than documents get: ran longer than 20s"},
		{context.Canceled, abi.CodeOf(context.Canceled), "context canceled"},
	} {
		s := &shower{err: c.err}
		_, _, err := read(t, docs.Options{Run: s.run}, written(t, "a.pdf", "%PDF-"), abi.DocsArgs{Path: "a.pdf"})
		if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || !errors.Is(err, c.err) {
			t.Errorf("got %v (%s); want %s, saying %q", err, abi.CodeOf(err), c.code, c.says)
		}
	}
	_, _, err := read(t, docs.Options{Run: shows("x").run}, written(t, "a.pdf", "%PDF-"), abi.DocsArgs{Path: "a.pdf"})
	if abi.CodeOf(err) != abi.CodeProtocol {
		t.Errorf("without a head: got %v", err)
	}
}

func TestLargeFilesAreNotRead(t *testing.T) {
	t.Parallel()
	scope := written(t, "a.pdf", "%PDF-")
	if err := os.Truncate(filepath.Join(scope.Cwd, "a.pdf"), docs.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	s := shows(`{"kind": "pdf"}`)
	_, _, err := read(t, docs.Options{Run: s.run}, scope, abi.DocsArgs{Path: "a.pdf"})
	if abi.CodeOf(err) != abi.CodeTooLarge || !strings.Contains(err.Error(), "64") || len(s.got) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestPDFPassesWhereModelsTakeIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, pages string
		documents, passes    bool
	}{
		{"a.pdf", "%PDF-1.7", "", true, true},
		{"a.pdf", "%PDF-1.7", "", false, false},
		{"a.pdf", "%PDF-1.7", "1", true, false},
		{"a.png", "no PDF", "", true, false},
	} {
		s := shows(`{"kind": "pdf"}`, abi.TextBlock("text"))
		opts := docs.Options{Run: s.run, Documents: c.documents}
		ok, body, err := read(t, opts, written(t, c.name, c.content), abi.DocsArgs{Path: c.name, Pages: c.pages})
		if err != nil {
			t.Fatal(err)
		}
		if passed := ok.Blocks[0].Type == abi.BlockDocument; passed != c.passes || passed != (body == c.content) || passed != (len(s.got) == 0) {
			t.Errorf("%+v: got %+v with %q", c, ok, body)
		}
	}
}

func TestSessionsKnowWhatWasShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, head string
		whole      bool
	}{
		{"a.ipynb", `{"kind": "notebook", "whole": true}`, true},
		{"a.ipynb", `{"kind": "notebook", "whole": false}`, false},
		{"a.pdf", `{"kind": "pdf", "whole": false}`, true},
	} {
		s, seen, scope := shows(c.head, abi.TextBlock("x")), &observed{}, written(t, c.name, "content")
		scope.Files, scope.Rehearse = seen, true
		opts, args := docs.Options{Run: s.run}, abi.DocsArgs{Path: c.name, Shown: true}
		if _, _, err := read(t, opts, scope, args); err != nil || len(seen.state.Ranges) != 0 {
			t.Errorf("a rehearsal told of %+v, %v", seen.state, err)
		}
		scope.Rehearse = false
		if _, _, err := read(t, opts, scope, abi.DocsArgs{Path: c.name}); err != nil || len(seen.state.Ranges) != 0 {
			t.Errorf("a plugin that reads for itself told of %+v, %v", seen.state, err)
		}
		_, _, err := read(t, opts, scope, args)
		if err != nil || seen.state.Whole() != c.whole || !seen.state.Covers(0, int64(len("content")-1)) {
			t.Errorf("%s: told of %+v, %v; want whole: %v", c.head, seen.state, err, c.whole)
		}
		if ok, _, err := read(t, opts, scope, args); err != nil || !ok.Unchanged || len(s.got) != 3 {
			t.Errorf("again: got %+v, %v", ok, err)
		}
	}
}
