package toolquay

// Docs reads PDFs, images and notebooks through the host, which has them turned into
// what a model can be shown. It needs the capability docs.read.
type Docs struct{ call *Call }

// Docs returns the capability on documents.
func (c *Call) Docs() Docs { return Docs{c} }

// Read reads a document; pages are those of a PDF, as [DocsArgs] has them, and empty
// for up to 10.
func (d Docs) Read(path, pages string) (*Answer[DocsOK], error) {
	return d.StartRead(DocsArgs{Path: path, Pages: pages}).Wait()
}

// Show reads a document as [Docs.Read] does, as one that the model gets to see: the
// session takes the file for read. Pass the answer into the result with [Output.Doc].
// Where OK.Unchanged is set the model was shown just this before, and there are no
// blocks.
func (d Docs) Show(path, pages string) (*Answer[DocsOK], error) {
	return d.StartRead(DocsArgs{Path: path, Pages: pages, Shown: true}).Wait()
}

// StartRead starts reading a document.
func (d Docs) StartRead(args DocsArgs) *Pending[DocsOK] {
	return start[DocsOK](d.call, CapDocsRead, &args)
}

// Doc adds the blocks of a document, which do not enter the guest's memory. Its notes
// are left to the caller.
func (o Output) Doc(a *Answer[DocsOK]) Output {
	for _, b := range a.OK.Blocks {
		switch piece := a.Piece(b.Size); b.Type {
		case BlockImage:
			o = o.ImageFrom(b.MediaType, piece)
		case BlockDocument:
			o = o.DocumentFrom(b.Title, b.MediaType, piece)
		default:
			o = o.TextFrom(piece)
		}
	}
	return o
}
