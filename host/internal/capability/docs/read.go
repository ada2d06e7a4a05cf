package docs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// head is the guest's structured answer.
type head struct {
	Kind  string   `json:"kind"`
	Pages int      `json:"pages"`
	Notes []string `json:"notes"`
	// Whole says that everything in the document is shown.
	Whole bool `json:"whole"`
}

// Do reads the file and has it shown.
func (p *plan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	f, info, err := p.node.Open()
	if err != nil {
		return abi.Answer{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info.Size > MaxSize {
		return abi.Answer{}, abi.Errorf(abi.CodeTooLarge, "%s has %s; documents of at most %s are read",
			p.node.Target, abi.Size(info.Size), abi.Size(MaxSize))
	}
	stamp := info.Stamp()
	ok := abi.DocsOK{Path: p.node.Real}
	if p.shownBefore(stamp) {
		ok.Kind, ok.Unchanged = kindByName(p.node.Real), true
		return abi.Answer{OK: ok}, nil
	}
	content, err := p.content(f, info.Size)
	if err != nil {
		return abi.Answer{}, err
	}
	blocks, whole, err := p.show(ctx, &ok, content)
	if err != nil {
		return abi.Answer{}, err
	}
	p.note(stamp, content, whole)
	return answer(ok, blocks), nil
}

// content reads the file, and fails where it is no longer as long as it was.
func (p *plan) content(f *os.File, size int64) ([]byte, error) {
	content := make([]byte, size)
	if _, err := io.ReadFull(f, content); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, abi.Errorf(abi.CodeChanged, "%s became shorter while it was read", p.node.Target)
		}
		return nil, abi.Errorf(abi.CodeIO, "reading %s: %w", p.node.Target, err)
	}
	return content, nil
}

// show fills the answer's head and returns the blocks, and whether they are all that
// there is to see.
func (p *plan) show(ctx context.Context, ok *abi.DocsOK, content []byte) ([]abi.Block, bool, error) {
	if p.passes(content) {
		ok.Kind = abi.DocPDF
		name := filepath.Base(p.node.Target)
		return []abi.Block{{Type: abi.BlockDocument, MediaType: "application/pdf", Title: name, Data: content}}, true, nil
	}
	name := filepath.Base(p.node.Target)
	result, err := p.opts.Run(ctx, Document{Name: name, Pages: p.args.Pages, Content: content})
	if err == nil && result.Error != nil {
		err = result.Error
	}
	if err != nil {
		return nil, false, p.explain(err)
	}
	var h head
	if err := json.Unmarshal(result.Structured, &h); err != nil {
		return nil, false, abi.Errorf(abi.CodeProtocol, "what shows documents answered no head: %w", err)
	}
	ok.Kind, ok.Pages, ok.Notes = h.Kind, h.Pages, h.Notes
	// Pages of a PDF and pixels of an image are no part of the file that could be
	// missing when it is written anew; cells of a notebook are.
	return result.Content, h.Whole || h.Kind != abi.DocNotebook, nil
}

// explain says what a failure means for the document.
func (p *plan) explain(err error) error {
	code := abi.CodeOf(err)
	switch code {
	case abi.CodeTrap:
		return abi.Errorf(code, "%s could not be shown: it is broken, or takes more memory to read than documents get: %w", p.node.Target, err)
	case abi.CodeLimit, abi.CodeTimeout:
		return abi.Errorf(code, "%s could not be shown: it takes more to read than documents get: %w", p.node.Target, err)
	}
	return abi.Errorf(code, "%s could not be shown: %w", p.node.Target, err)
}

// passes reports whether a PDF goes to the model as it is.
func (p *plan) passes(content []byte) bool {
	return p.opts.Documents && p.args.Pages == "" && len(content) <= MaxDocument && bytes.HasPrefix(content, []byte("%PDF-"))
}

// view names what was asked for.
func (p *plan) view() string { return abi.CapDocsRead + " " + p.args.Pages }

// told reports whether the session is to know that its model gets to see the file.
func (p *plan) told() bool { return p.args.Shown && p.scope.Files != nil && !p.scope.Rehearse }

func (p *plan) shownBefore(stamp capability.Stamp) bool {
	return p.told() && p.scope.Files.Again(p.node.Real, p.view(), stamp)
}

// note tells the session that its model gets to see the file. A notebook of which
// cells are missing counts as seen but for its last byte: a change to it is noticed
// and cells can be edited, but it cannot be written anew.
func (p *plan) note(stamp capability.Stamp, content []byte, whole bool) {
	if !p.told() {
		return
	}
	if !whole {
		content = content[:max(len(content)-1, 0)]
	}
	seen := capability.Range{To: int64(len(content)), Hash: sha256.Sum256(content)}
	state := capability.ReadState{Stamp: stamp, Ranges: []capability.Range{seen}}
	p.scope.Files.Shown(p.node.Real, p.view(), state)
}

// answer puts the blocks' bytes behind the head, one after the other.
func answer(ok abi.DocsOK, blocks []abi.Block) abi.Answer {
	var body []byte
	for _, b := range blocks {
		data := b.Data
		if b.Type == abi.BlockText {
			data = []byte(b.Text)
		}
		body = append(body, data...)
		ok.Blocks = append(ok.Blocks, abi.DocBlock{Type: b.Type, MediaType: b.MediaType, Title: b.Title, Size: int64(len(data))})
	}
	return abi.Answer{OK: ok, Body: abi.Bytes(body), BodyType: abi.PartBytes, Size: int64(len(body))}
}

// kindByName is the kind of a document that was shown before: its content is not
// looked at again.
func kindByName(path string) string {
	switch filepath.Ext(path) {
	case ".pdf", ".PDF":
		return abi.DocPDF
	case ".ipynb":
		return abi.DocNotebook
	}
	return abi.DocImage
}
