package toolquay

import "github.com/toolquay/toolquay/sdk/go/wire"

// FS reads and writes files through the host. Each method needs the capability it is
// named for in plugin.toml: fs.read, fs.stat, fs.list, fs.write or fs.replace. Paths
// may be relative to the session's working directory.
type FS struct{ call *Call }

// FS returns the capabilities on files.
func (c *Call) FS() FS { return FS{c} }

// Read opens a file for reading from its start to its end.
func (f FS) Read(path string) (*Answer[ReadOK], error) {
	return f.StartRead(ReadArgs{Path: path}).Wait()
}

// ReadFile reads a whole file into memory.
func (f FS) ReadFile(path string) ([]byte, error) {
	a, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	return a.Bytes()
}

// ReadRange opens a range of a file: length bytes from offset, or with a length
// of 0 up to the end.
func (f FS) ReadRange(path string, offset, length int64) (*Answer[ReadOK], error) {
	return f.StartRead(ReadArgs{Path: path, Offset: offset, Length: length}).Wait()
}

// ReadLines opens a file as lines of text, which the host cuts and numbers as
// asked. The answer's OK.Lines tells what was returned.
func (f FS) ReadLines(path string, lines LineArgs) (*Answer[ReadOK], error) {
	return f.StartRead(ReadArgs{Path: path, Lines: &lines}).Wait()
}

// ShowLines opens a file as [FS.ReadLines] does, as lines that the model gets to see:
// once the call has ended the session takes them for read, so that later calls may write
// the file. Where OK.Unchanged is set the model was shown just these before, and there is
// no text.
func (f FS) ShowLines(path string, lines LineArgs) (*Answer[ReadOK], error) {
	return f.StartRead(ReadArgs{Path: path, Lines: &lines, Shown: true}).Wait()
}

// StartRead starts reading a file; see [ReadArgs].
func (f FS) StartRead(args ReadArgs) *Pending[ReadOK] {
	return start[ReadOK](f.call, CapFSRead, &args)
}

// Stat describes a file. It follows links.
func (f FS) Stat(path string) (StatOK, error) {
	return described(f.StartStat(path))
}

// Hash describes a file with the SHA-256 of its content: what a later write can
// expect. It is empty for what is no regular file.
func (f FS) Hash(path string) (StatOK, error) {
	return described(start[StatOK](f.call, CapFSStat, &StatArgs{Path: path, Hash: true}))
}

func described(p *Pending[StatOK]) (StatOK, error) {
	a, err := p.Wait()
	if err != nil {
		return StatOK{}, err
	}
	return a.OK, a.Close()
}

// StartStat starts describing a file.
func (f FS) StartStat(path string) *Pending[StatOK] {
	return start[StatOK](f.call, CapFSStat, &StatArgs{Path: path})
}

// Listing is what a directory holds.
type Listing struct {
	ListOK
	// Entries are sorted by name.
	Entries []Entry
}

// List lists a directory, up to the host's bound of 10,000 entries.
func (f FS) List(path string) (Listing, error) {
	a, err := f.StartList(ListArgs{Path: path}).Wait()
	if err != nil {
		return Listing{}, err
	}
	l := Listing{ListOK: a.OK}
	l.Entries, err = readList[Entry](a.Body)
	return l, err
}

// StartList starts listing a directory. The answer's body is a JSON array of
// [Entry]; [FS.List] decodes it.
func (f FS) StartList(args ListArgs) *Pending[ListOK] {
	return start[ListOK](f.call, CapFSList, &args)
}

// Search searches files through the host. Its methods need the capabilities
// search.names and search.contents.
type Search struct{ call *Call }

// Search returns the capabilities to search.
func (c *Call) Search() Search { return Search{c} }

// NameList is what a search for names found.
type NameList struct {
	NamesOK
	// Files are the newest first.
	Files []Found
}

// Names finds files whose path matches a glob.
func (s Search) Names(args NamesArgs) (NameList, error) {
	a, err := s.StartNames(args).Wait()
	if err != nil {
		return NameList{}, err
	}
	l := NameList{NamesOK: a.OK}
	l.Files, err = readList[Found](a.Body)
	return l, err
}

// StartNames starts a search for names. The answer's body is a JSON array of
// [Found]; [Search.Names] decodes it.
func (s Search) StartNames(args NamesArgs) *Pending[NamesOK] {
	return start[NamesOK](s.call, CapSearchNames, &args)
}

// Contents searches the contents of files. The answer's body is text, in the
// shape that [ContentsArgs] asks for.
func (s Search) Contents(args ContentsArgs) (*Answer[ContentsOK], error) {
	return s.StartContents(args).Wait()
}

// StartContents starts a search of contents.
func (s Search) StartContents(args ContentsArgs) *Pending[ContentsOK] {
	return start[ContentsOK](s.call, CapSearchContents, &args)
}

// readList reads a body that is a JSON array.
func readList[T any, P interface {
	*T
	DecodeJSON(d *wire.Decoder)
}](b *Body) ([]T, error) {
	all, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	var list []T
	d := wire.NewDecoder(all)
	d.Array(func() {
		var item T
		P(&item).DecodeJSON(d)
		list = append(list, item)
	})
	return list, d.End()
}
