package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// The bounds of a source.
const (
	// maxSkills is how many skills and commands of a source are read, and maxEntries how many
	// names of one directory, and of all that commands lie in.
	maxSkills  = 1000
	maxEntries = 10_000
	// maxNested is how deep commands lie in directories; links among them end there too.
	maxNested = 3
)

const (
	skillFile  = "SKILL.md"
	skillsDir  = "skills"
	commandDir = "commands"
)

// Problem is something wrong with a source as a whole.
type Problem struct {
	// Label and Dir are the source's.
	Label, Dir string
	Err        error
}

// find lists the files of a source, skills before commands, each by name.
func (p *place) find() (files []*file, problems []error) {
	base := skillsDir
	if p.Flat {
		base = "."
	}
	entries, err := p.entries(base)
	if err != nil {
		problems = append(problems, err)
	}
	for _, e := range entries {
		name := path.Join(base, e, skillFile)
		if info, err := p.peek(name); err != nil && missing(err) || err == nil && info.IsDir() {
			continue // it is no skill; other failures are told when it is read
		}
		files = append(files, &file{source: p.Source, name: name, own: e})
	}
	if !p.Flat {
		if files = p.commands(commandDir, "", maxNested, files, &problems); p.looked > maxEntries {
			problems = append(problems, fmt.Errorf("there are more than %d names in the directories of commands; the rest is left out", maxEntries))
		}
	}
	if over := len(files) - maxSkills; over > 0 {
		files = files[:maxSkills]
		problems = append(problems, fmt.Errorf("there are more than %d skills and commands; the rest is left out (%d)", maxSkills, over))
	}
	return files, problems
}

// commands adds those of a directory, whose names in it begin with a prefix.
func (p *place) commands(dir, prefix string, deep int, files []*file, problems *[]error) []*file {
	entries, err := p.entries(dir)
	if err != nil {
		*problems = append(*problems, err)
	}
	for _, e := range entries {
		if p.looked++; p.looked > maxEntries || len(files) > maxSkills {
			break
		}
		name := path.Join(dir, e)
		info, err := p.peek(name)
		switch {
		case err != nil && missing(err):
		case err == nil && info.IsDir():
			if deep > 0 {
				files = p.commands(name, prefix+e+"/", deep-1, files, problems)
			}
		case strings.EqualFold(path.Ext(e), ".md"):
			files = append(files, &file{source: p.Source, name: name, command: true, own: commandName(prefix + e)})
		}
	}
	return files
}

// peek looks at a file without opening it for long: what is no regular file is for reading to
// refuse.
func (p *place) peek(name string) (fs.FileInfo, error) {
	switch fsys := p.fsys.(type) {
	case anywhere:
		return fsys.stat(name)
	case within:
		return fsys.root.Stat(path.Join(fsys.sub, name))
	}
	return fs.Stat(p.fsys, name)
}

// missing reports whether an error says that a name is not there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// entries are the names in a directory, sorted, without hidden ones; none where it is not there. With
// an error they may be a part of them.
func (p *place) entries(dir string) ([]string, error) {
	if info, err := p.peek(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", p.path(dir))
	}
	f, err := p.fsys.Open(dir)
	if err != nil {
		if missing(err) {
			return nil, nil
		}
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, fmt.Errorf("%s cannot be listed", p.path(dir))
	}
	list, err := d.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	if len(list) == maxEntries {
		if more, _ := d.ReadDir(1); len(more) > 0 {
			return names, fmt.Errorf("there are more than %d names in %s; the rest is left out", maxEntries, p.path(dir))
		}
	}
	return names, nil
}

// path is the path of a file of the source; empty where it lies in no directory.
func (s *Source) path(name string) string {
	if s.FS != nil {
		return ""
	}
	return filepath.Join(s.Dir, filepath.FromSlash(name))
}

// Files lists what the skills of sources are made of, to follow it: the directories they are looked
// for in, and the folders there.
func Files(sources []Source) []string {
	var files []string
	for i := range sources {
		files = append(append(files, sources[i].Watched...), sources[i].folders()...)
	}
	return files
}

// folders are those of a source that may change, whether or not they are there. What a link out of it
// leads to is none.
func (s *Source) folders() (folders []string) {
	if s.FS != nil {
		return nil
	}
	unadmitted := *s
	unadmitted.Admit = nil // nothing is found
	p, err := unadmitted.open()
	if p == nil || err != nil {
		return []string{s.Dir}
	}
	defer p.close() //nolint:errcheck // it was read
	if s.Flat {
		return p.foldersIn(".", 1)
	}
	return append(p.foldersIn(skillsDir, 1), p.foldersIn(commandDir, maxNested)...)
}

// foldersIn are a directory and those in it, so deep, links among them; at most some [maxSkills].
func (p *place) foldersIn(dir string, deep int) []string {
	if info, err := p.peek(dir); err != nil && !missing(err) || err == nil && !info.IsDir() {
		return nil
	}
	folders := []string{p.path(dir)}
	if deep == 0 {
		return folders
	}
	names, _ := p.entries(dir) // it comes to be listed when it is there
	for _, name := range names {
		if len(folders) > maxSkills {
			break
		}
		if info, err := p.peek(path.Join(dir, name)); err == nil && info.IsDir() {
			folders = append(folders, p.foldersIn(path.Join(dir, name), deep-1)...)
		}
	}
	return folders
}
