package discovery

import (
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// Program is the file of the running program.
type Program struct {
	Path  string
	Stamp Stamp
}

// Executable is the file of this program, if the system tells enough about it.
var Executable = sync.OnceValues(func() (*Program, bool) {
	path, err := os.Executable()
	if err != nil {
		return nil, false
	}
	// Where the program was replaced since it began, there may be another at its path.
	file := path
	if runtime.GOOS == "linux" {
		file = "/proc/self/exe"
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, false
	}
	at, ok := systemStamp(info.Sys())
	return &Program{path, at}, ok
})

// Files are files within the program, as a file system.
func (p *Program) Files(files fs.FS) fs.FS { return programFS{files, p} }

// programFS is a file system of files that change with the program: what the system
// says of its file is what it says of theirs.
type programFS struct {
	fs.FS
	program *Program
}

// Open opens a file of the program's.
func (p programFS) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if dir, ok := f.(fs.ReadDirFile); ok {
		return dir, nil
	}
	return embedded{f, p.program}, nil
}

type embedded struct {
	fs.File
	program *Program
}

// Stat tells of the file, and of the program.
func (e embedded) Stat() (fs.FileInfo, error) {
	info, err := e.File.Stat()
	return embeddedInfo{info, e.program}, err
}

type embeddedInfo struct {
	fs.FileInfo
	program *Program
}

// Sys is the program's file; see stampOf.
func (i embeddedInfo) Sys() any { return i.program }
