package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// foreignDir is the directory, in projects and homes, that other agents read skills from.
const foreignDir = ".claude"

// SkillSources are the places of the project's own skills, whether or not it is trusted. In a home
// directory one of them is the user's, and is left out.
func (p Project) SkillSources(dirs Dirs) (sources []host.SkillSource) {
	if p.Root == "" {
		return nil
	}
	sources = []host.SkillSource{{Label: "project", Dir: filepath.Join(p.Root, projectDir), Within: p.Root}}
	if foreign := filepath.Join(p.Root, foreignDir); !sameDir(foreign, dirs.foreign()) {
		sources = append(sources, host.SkillSource{Label: "project-claude", Dir: foreign, Within: p.Root})
	}
	return sources
}

// foreign is that of the user's, empty where nothing of the user's counts.
func (d Dirs) foreign() string {
	if d.Config == "" {
		return ""
	}
	return join(d.Home, foreignDir)
}

// skillsOf are the user's skills and those of a trusted project, the weightiest first.
func skillsOf(dirs Dirs, project Project) host.SkillOptions {
	var o host.SkillOptions
	add := func(label, dir string) {
		if dir != "" {
			o.Sources = append(o.Sources, host.SkillSource{Label: label, Dir: dir})
		}
	}
	add("user", dirs.Config)
	if project.Trusted && project.trust != nil {
		o.Project = project.admitSkills
		for _, s := range project.SkillSources(dirs) {
			s.Admit, s.Watched = project.admitSkills, []string{project.trust.file.Path}
			o.Sources = append(o.Sources, s)
		}
	}
	add("user-claude", dirs.foreign())
	return o
}

// sameDir reports whether two paths lead to one directory, which is there.
func sameDir(a, b string) bool {
	at, err := os.Stat(a)
	if err != nil {
		return false
	}
	there, err := os.Stat(b)
	return err == nil && os.SameFile(at, there)
}

// usableSkills are the skills in some places that can be used.
func usableSkills(places []host.SkillSource) (list []*host.FoundSkill) {
	found, _ := host.FindSkills(places)
	for _, s := range found {
		if s.Problem() == nil {
			list = append(list, s)
		}
	}
	return list
}

// admitSkills returns a function that refuses skills that propose rules and that the user was not
// shown. It reads the trust file once for all skills.
func (p Project) admitSkills() func(*host.FoundSkill) error {
	shown, err := p.trust.follow(p.Root)()
	return func(s *host.FoundSkill) error {
		switch {
		case err != nil:
			return err
		case shown == nil:
			return errors.New("the project is not trusted any more; toolquay trust shows and trusts what it brings")
		case len(s.Tools) > 0 && !shown[broughtSkill(s).Pin()]:
			return errors.New("it would have calls allowed, and the user was not shown it; toolquay trust shows and trusts what is new")
		}
		return nil
	}
}

// broughtSkill describes a skill of a project. Its pin depends on its name and on the rules that it
// proposes.
func broughtSkill(s *host.FoundSkill) settings.Brought {
	b := settings.Brought{
		Kind: settings.BringsSkill, Text: s.Own,
		Source: permissions.Source{Kind: permissions.SourceProject, File: s.Path},
	}
	if len(s.Tools) > 0 {
		b.Text += visible.Line(fmt.Sprintf(", which proposes to allow %q", s.Tools))
		b.Note = "; each time a person is asked"
	}
	return b
}
