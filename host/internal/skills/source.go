package skills

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/toolquay/toolquay/abi"
)

// Source is a place where skills are found.
type Source struct {
	// Label names it: letters, digits, hyphens and underscores. It is for people, and before
	// the names of its skills.
	Label string
	// Dir holds the folders skills and commands; it need not exist. Flat says that it is itself
	// the folder of skills.
	Dir  string
	Flat bool
	// Within is a directory above Dir that no link may lead out of, such as a project's; empty
	// lets links lead anywhere, as in a user's own directories.
	Within string
	// FS is where the skills of an embedder lie, in place of Dir. They have no folder that
	// tools could read.
	FS fs.FS
	// Plugin says that the label is a plugin's, and stands before the names of all its skills.
	Plugin bool
	// Admit is called whenever skills are found, and what it returns for each skill; an error
	// keeps that skill from being offered. Nil admits all.
	Admit func() func(*Skill) error
	// Watched are further files whose change can change what there is.
	Watched []string
}

// place is a source, open.
type place struct {
	*Source
	fsys  fs.FS
	close func() error
	admit func(*Skill) error
	// looked counts the names in the directories of commands: links among those can make many of few.
	looked int
}

// open returns nil where the directory does not exist.
func (s *Source) open() (*place, error) {
	p := &place{Source: s, close: func() error { return nil }}
	switch {
	case s.FS != nil:
		p.fsys = s.FS
	case s.Within == "":
		p.fsys = anywhere(s.Dir)
	default:
		sub, err := filepath.Rel(s.Within, s.Dir)
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(s.Within)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p.fsys, p.close = within{root, filepath.ToSlash(sub)}, root.Close
	}
	if s.Admit != nil {
		p.admit = s.Admit()
	}
	return p, nil
}

// unblocked opens pipes without waiting for their writers.
const unblocked = os.O_RDONLY | syscall.O_NONBLOCK

// anywhere is a directory whose links may lead out of it.
type anywhere string

// Open opens a file; it waits for no writer of a pipe.
func (d anywhere) Open(name string) (fs.File, error) {
	return os.OpenFile(filepath.Join(string(d), filepath.FromSlash(name)), unblocked, 0)
}

// within is a directory in a root that no link leads out of.
type within struct {
	root *os.Root
	sub  string
}

// Open opens a file; it waits for no writer of a pipe.
func (d within) Open(name string) (fs.File, error) {
	return d.root.OpenFile(path.Join(d.sub, name), unblocked, 0)
}

// file is a skill's file in its source.
type file struct {
	source  *Source
	name    string // in the source
	command bool
	own     string // what the place of the file calls it
}

// openRegular opens a file, and refuses what is no regular file or too large.
func openRegular(fsys fs.FS, name string) (fs.File, fs.FileInfo, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("it is a directory, not a file")
	case !info.Mode().IsRegular():
		err = errors.New("it is a pipe or a device, not a file")
	case info.Size() > MaxFile:
		err = abi.Errorf(abi.CodeTooLarge, "it has %d bytes; at most %d are read", info.Size(), MaxFile)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func (d anywhere) stat(name string) (fs.FileInfo, error) {
	return os.Stat(filepath.Join(string(d), filepath.FromSlash(name)))
}
