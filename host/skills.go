package host

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
)

// SkillOptions say which skills there are: instructions that models load by the tool Skill. Those
// of plugins, in a folder skills beside the manifest, and of [Provided].Skills are added to them.
type SkillOptions struct {
	// Sources are the places where skills are found. Of two skills with one name the one of the
	// earlier source has it.
	Sources []SkillSource
	// Own are the embedder's. They come last.
	Own []Skill
	// Project returns, whenever skills are found, what says of each skill in a project's plugin why
	// it is not offered. Nil offers all.
	Project func() func(*FoundSkill) error
}

// folders are the user's own folders of skills.
func (o *SkillOptions) folders() (dirs []string) {
	for i := range o.Sources {
		if s := &o.Sources[i]; s.FS == nil && s.Within == "" && !s.Flat && filepath.IsAbs(s.Dir) {
			dirs = append(dirs, s.Dir)
		}
	}
	return dirs
}

type (
	// Skill is a skill that lies in no file, with Name, Description, Hint, Tools and Fetch.
	Skill = skills.Provided
	// SkillSource is a place where skills are found. It is the folder that has the folders
	// skills and commands.
	SkillSource = skills.Source
	// FoundSkill is a skill as it was found, and SkillFault what is wrong with it.
	FoundSkill = skills.Skill
	// SkillFault is something wrong with a skill.
	SkillFault = skills.Fault
	// SkillProblem is something wrong with a source of skills.
	SkillProblem = skills.Problem
)

// CheckSkills reads the skill of a folder or file, or those in a folder of skills, and holds them to
// the format. It runs nothing.
func CheckSkills(path string) ([]*FoundSkill, error) { return skills.Check(path) }

// FindSkills finds the skills of sources, as a host does.
func FindSkills(sources []SkillSource) (found []*FoundSkill, problems []SkillProblem) {
	set := skills.Load(sources, nil)
	return set.All(), set.Problems()
}

// SkillWords splits the arguments of a skill at blanks, but not in quotes that begin a word.
func SkillWords(args string) []string { return skills.Words(args) }

// Skills lists all skills by name, those that are not offered too, and what is wrong with their sources.
func (h *Host) Skills() (found []*FoundSkill, problems []SkillProblem) {
	set := h.plugins.Newest().Skills
	return slices.Clone(set.All()), set.Problems()
}

// provision is what of skills comes and goes.
type provision struct {
	mu        sync.Mutex
	providers map[string][]Skill
}

// provide has the skills of a provider take the place of its former ones, and reports whether there
// are or were any.
func (p *provision) provide(provider string, list []Skill) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, had := p.providers[provider]
	if len(list) == 0 {
		delete(p.providers, provider)
		return had
	}
	if p.providers == nil {
		p.providers = make(map[string][]Skill)
	}
	p.providers[provider] = slices.Clone(list)
	return true
}

// reloadSkills has what there is now take the place of the skills that there were. again says that
// they are only looked for again, and no provider has changed its own.
func (h *Host) reloadSkills(again bool) {
	h.provision.mu.Lock()
	defer h.provision.mu.Unlock()
	h.plugins.SetSkills(h.skillsOf(h.plugins.Newest().Set), again)
}

// skillsOf are the skills that there are with some plugins.
func (h *Host) skillsOf(set *plugins.Set) *skills.Set {
	var provided []Skill
	for _, name := range slices.Sorted(maps.Keys(h.provision.providers)) {
		provided = append(provided, h.provision.providers[name]...)
	}
	return skills.Load(h.skillSources(set), append(provided, h.options.Skills.Own...))
}

// skillSources are the places where skills lie, those of plugins last.
func (h *Host) skillSources(set *plugins.Set) []SkillSource {
	o := &h.options.Skills
	all := slices.Clone(o.Sources)
	for _, p := range set.Plugins() {
		state := p.GrantState()
		if p.Problem() != nil || state != plugins.GrantUnneeded && state != plugins.GrantGiven {
			continue
		}
		if s, has := PluginSkills(p); has {
			if p.Origin == plugins.OriginProject {
				s.Admit = o.Project
			}
			all = append(all, s)
		}
	}
	return all
}

// PluginSkills is where the skills of a plugin lie: in the folder skills beside its manifest. Plugins
// that are built in, or a single file, have no place for them.
func PluginSkills(p *plugins.Plugin) (s SkillSource, has bool) {
	if p.Origin == plugins.OriginBuiltin || filepath.Ext(p.Path) == ".wasm" {
		return s, false
	}
	return SkillSource{Label: p.Name, Dir: filepath.Join(p.Path, "skills"), Flat: true, Within: p.Path, Plugin: true}, true
}

// withSkills is the first set of tools that a host has.
func (h *Host) withSkills(set tool.Set) tool.Set {
	set.Skills = h.skillsOf(set.Set)
	return set
}
