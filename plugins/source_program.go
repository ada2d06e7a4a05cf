package plugins

import (
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// Program is a source within the running program, which package embed made. What was
// read of it once holds for as long as the program's file stays as it is: later
// processes need not read its manifests. Path is its name for people.
func Program(origin Origin, path string, files fs.FS) Source {
	if file, ok := executable(); ok {
		return within(file, origin, path, files)
	}
	return Source{Origin: origin, Path: path, FS: files}
}

func within(program *programFile, origin Origin, path string, files fs.FS) Source {
	return Source{Origin: origin, Path: path, FS: programFS{files, program}, program: program}
}

// programFile is the file of the running program.
type programFile struct {
	path  string
	stamp stamp
}

// executable is the file of this program, if the system tells enough about it.
var executable = sync.OnceValues(func() (*programFile, bool) {
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
	return &programFile{path, at}, ok
})

// programFS is a file system of files that change with the program: what the system
// says of its file is what it says of theirs.
type programFS struct {
	fs.FS
	program *programFile
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
	program *programFile
}

// Stat tells of the file, and of the program.
func (e embedded) Stat() (fs.FileInfo, error) {
	info, err := e.File.Stat()
	return embeddedInfo{info, e.program}, err
}

type embeddedInfo struct {
	fs.FileInfo
	program *programFile
}

// Sys is the program's file; see stampOf.
func (i embeddedInfo) Sys() any { return i.program }
