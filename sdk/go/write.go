package toolquay

import "github.com/toolquay/toolquay/sdk/go/wire"

// Written is what a write came to.
type Written struct {
	WriteOK
	// Diff is the change as a unified diff, still with the host: read it, pass it
	// into the result, or close it.
	Diff *Body
}

// Write writes a text as a file's whole content. A file that is there must have been
// read in this session, unless the host keeps no record of it; see [WriteArgs].
func (f FS) Write(path, text string) (Written, error) {
	return written(f.StartWrite(WriteArgs{Path: path}, []byte(text)))
}

// WriteBytes writes bytes as a file's whole content.
func (f FS) WriteBytes(path string, content []byte) (Written, error) {
	return written(f.StartWrite(WriteArgs{Path: path, Bytes: true}, content))
}

// StartWrite starts writing a file. The content must be UTF-8 unless args.Bytes is
// set.
func (f FS) StartWrite(args WriteArgs, content []byte) *Pending[WriteOK] {
	part := wire.Part{Type: wire.PartText, Data: content}
	if args.Bytes {
		part.Type = wire.PartBytes
	}
	return start[WriteOK](f.call, CapFSWrite, &args, part)
}

// Replace replaces a text that is in a file once, without reading the file into the
// guest. An empty text to replace makes a file. See [ReplaceArgs].
func (f FS) Replace(path, from, to string) (Written, error) {
	return written(f.StartReplace(ReplaceArgs{Path: path}, from, to))
}

// ReplaceAll replaces a text wherever it is in a file.
func (f FS) ReplaceAll(path, from, to string) (Written, error) {
	return written(f.StartReplace(ReplaceArgs{Path: path, All: true}, from, to))
}

// StartReplace starts replacing a text in a file. Both texts must be UTF-8.
func (f FS) StartReplace(args ReplaceArgs, from, to string) *Pending[WriteOK] {
	return start[WriteOK](f.call, CapFSReplace, &args,
		wire.Part{Type: wire.PartText, Data: []byte(from)}, wire.Part{Type: wire.PartText, Data: []byte(to)})
}

func written(p *Pending[WriteOK]) (Written, error) {
	a, err := p.Wait()
	if err != nil {
		return Written{}, err
	}
	return Written{WriteOK: a.OK, Diff: a.Body}, nil
}
