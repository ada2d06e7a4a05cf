package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// Places are the directories and files that the policies of a session are about, whatever
// the settings, as paths. Empty ones are none, except for Cwd.
type Places struct {
	// Cwd is where the session begins, and Additional are further working directories:
	// absolute, and they must exist.
	Cwd        string
	Additional []string
	// The others are as in [permissions.Layout].
	Home, ProjectRoot, PlanFile, Sessions string
	HostFolders, Skills                   []string
}

// Setup finds out where the places really lie, once: what a call does to the file system,
// such as replacing a working directory by a link, must not move them. It fails if a
// working directory does not exist.
func (p *Places) Setup() (permissions.Setup, error) {
	cwd, err := directory(p.Cwd)
	if err != nil {
		return permissions.Setup{}, fmt.Errorf("the working directory: %w", err)
	}
	setup := permissions.Setup{
		Layout: permissions.Layout{
			Cwd:         cwd,
			Home:        Dir(p.Home),
			ProjectRoot: Dir(p.ProjectRoot),
			PlanFile:    File(p.PlanFile),
			Sessions:    Dir(p.Sessions),
		},
		FoldCase: permissions.FoldsCase(),
		Resolve:  paths.Real,
		// Directories that settings name are found out once too, when they are first named.
		ResolveDirectory: once(paths.Real),
	}
	place := shell.Place{Cwd: cwd.Path, Home: setup.Home.Path}
	setup.Analyse = func(text string) permissions.Command { return shell.Analyse(text, place) }
	for _, folder := range p.HostFolders {
		setup.HostFolders = append(setup.HostFolders, Dir(folder))
	}
	for _, folder := range p.Skills {
		setup.Skills = append(setup.Skills, Dir(folder))
	}
	for _, path := range p.Additional {
		dir, err := directory(path)
		if err != nil {
			return permissions.Setup{}, fmt.Errorf("an additional directory: %w", err)
		}
		setup.Additional = append(setup.Additional, dir)
	}
	return setup, nil
}

// Dir returns a path with where it really lies now; for an empty one, nothing.
func Dir(path string) permissions.Dir {
	if path == "" {
		return permissions.Dir{}
	}
	return permissions.Dir{Path: filepath.Clean(path), Real: paths.Real(path)}
}

// File is [Dir] for a file that is to lie where it is named: a link in its place, such as one
// that a repository brings, leads to another file. Links on the way to it are followed.
func File(path string) permissions.Dir {
	if path == "" {
		return permissions.Dir{}
	}
	file := permissions.Dir{Path: filepath.Clean(path)}
	if dir := paths.Real(filepath.Dir(file.Path)); dir != "" {
		file.Real = filepath.Join(dir, filepath.Base(file.Path))
	}
	return file
}

// directory is [Dir] for an absolute path of a directory.
func directory(path string) (permissions.Dir, error) {
	if !filepath.IsAbs(path) {
		return permissions.Dir{}, fmt.Errorf("%q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return permissions.Dir{}, err
	}
	if !info.IsDir() {
		return permissions.Dir{}, fmt.Errorf("%s is not a directory", path)
	}
	return Dir(path), nil
}

// once returns resolve with its first answer for each path remembered.
func once(resolve func(string) string) func(string) string {
	var mu sync.Mutex
	known := make(map[string]string)
	return func(path string) string {
		mu.Lock()
		defer mu.Unlock()
		lies, ok := known[path]
		if !ok {
			lies = resolve(path)
			known[path] = lies
		}
		return lies
	}
}
