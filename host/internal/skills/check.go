package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Check reads the skill of a folder, of a command's file or of a SKILL.md, or the skills in a folder of
// them, each whole.
func Check(path string) ([]*Skill, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(path)
	switch {
	case base == skillFile:
		return checkAll(filepath.Dir(filepath.Clean(dir)), []*file{{name: filepath.Base(dir) + "/" + skillFile, own: filepath.Base(dir)}}), nil
	case !info.IsDir() && strings.EqualFold(filepath.Ext(base), ".md"):
		return checkAll(dir, []*file{{name: base, own: commandName(base), command: true}}), nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s is neither a folder nor a Markdown file", path)
	}
	if _, err := os.Lstat(filepath.Join(path, skillFile)); err == nil {
		return checkAll(dir, []*file{{name: base + "/" + skillFile, own: base}}), nil
	}
	source := &Source{Dir: path, Flat: true}
	p, err := source.open()
	if err != nil {
		return nil, err
	}
	files, problems := p.find()
	if len(files) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s holds no skill: name a folder with a %s, a command's file, or a folder of skills", path, skillFile))
	}
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return checkAll(path, files), nil
}

func checkAll(dir string, files []*file) []*Skill {
	source := &Source{Dir: dir, Flat: true}
	p := &place{Source: source, fsys: anywhere(dir)}
	all := make([]*Skill, len(files))
	for i, f := range files {
		f.source = source
		s := p.look(f)
		if s.Name = s.Own; s.Problem() == nil {
			if _, whole, err := readText(p.fsys, f.name, MaxFile); err != nil || !whole {
				s.fatal("it cannot be read: %s", plain(err))
			}
		}
		all[i] = s
	}
	return all
}
