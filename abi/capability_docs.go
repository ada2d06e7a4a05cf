package abi

// The kinds of document that docs.read knows.
const (
	DocPDF      = "pdf"
	DocImage    = "image"
	DocNotebook = "notebook"
)

// DocsArgs are the arguments of docs.read, which has a PDF, an image or a notebook
// turned into what a model can be shown. The file is parsed in a guest of its own,
// which can reach nothing but its bytes.
//
// The answer's head is [DocsOK]; its body the blocks' bytes, one after the other:
// see [Source] for how they pass into a result.
type DocsArgs struct {
	Path string `json:"path"`
	// Pages names pages of a PDF, 1-based, such as "3", "1-5,8" or "10-"; at most 20.
	// Without it there are up to 10.
	Pages string `json:"pages,omitempty"`
	// Shown is as in [ReadArgs]: the model gets to see the document.
	Shown bool `json:"shown,omitempty"`
}

// DocsOK is the answer to docs.read.
type DocsOK struct {
	// Path is the file that was read, absolute and without links.
	Path string `json:"path"`
	// Kind is one of the kinds of document.
	Kind string `json:"kind"`
	// Pages is how many pages a PDF has, or how many cells a notebook.
	Pages int `json:"pages,omitempty"`
	// Blocks are what is shown, in order.
	Blocks []DocBlock `json:"blocks,omitempty"`
	// Notes are for the model, a sentence each: what was left out, scaled or broken.
	Notes []string `json:"notes,omitempty"`
	// Unchanged is as in [ReadOK].
	Unchanged bool `json:"unchanged,omitempty"`
}

// DocBlock is one content block of a document.
type DocBlock struct {
	// Type is text, image or document.
	Type      BlockType `json:"type"`
	MediaType string    `json:"media_type,omitempty"`
	Title     string    `json:"title,omitempty"`
	// Size is how many bytes of the body are the block's.
	Size int64 `json:"size"`
}
