package skills

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
)

// Set is the skills that there are at one moment. It is immutable, and safe for concurrent use. A nil
// set is empty.
type Set struct{ found func() *found }

// found is what was found of a set's sources.
type found struct {
	all      []*Skill // sorted by name
	names    map[string]*Skill
	problems []Problem
}

// Provided is a skill that lies in no file: an embedder's, or the prompt of an MCP server.
type Provided struct {
	// Name is how it is called. Server is the MCP server whose prompt it is, empty for none, and
	// Prompt the server's own name for that: rules are compared with it.
	Name, Server, Prompt string
	// Description, Hint and Tools are as in [Skill].
	Description, Hint string
	Tools             []string
	// Fetch returns its text.
	Fetch Fetch
}

// labelProvided stands before the name of a provided skill that gives way to another.
const labelProvided = "program"

// Load is the skills of sources, the weightiest first, and of those provided, which come last. What
// is wrong with one is its own problem. They are looked for when they are first asked for.
func Load(sources []Source, provided []Provided) *Set {
	return &Set{sync.OnceValue(func() *found { return find(sources, provided) })}
}

func find(sources []Source, provided []Provided) *found {
	s := &found{names: make(map[string]*Skill)}
	labels := map[string]bool{labelProvided: true}
	for i := range sources {
		source := &sources[i]
		if source.Plugin && labels[source.Label] { // its skills would be called as those of another source
			s.problems = append(s.problems, Problem{source.Label, source.Dir, errors.New("the plugin has the name of another source of skills, so that its own are left out")})
			continue
		}
		labels[source.Label] = true
		s.load(source)
	}
	for i := range provided {
		s.add(provided[i].skill(), false)
	}
	s.shorten()
	slices.SortFunc(s.all, func(a, b *Skill) int { return strings.Compare(a.Name+"\x00"+a.Path, b.Name+"\x00"+b.Path) })
	return s
}

// Check returns why a host does not take the skill, or nil.
func (p *Provided) Check() error {
	if p.Fetch == nil {
		return fmt.Errorf("the skill %s has no text", visible.Name(p.Name))
	}
	if !usable(p.Name) {
		return fmt.Errorf("the name %s cannot be called: use letters, digits, hyphens and underscores, at most %d", visible.Name(p.Name), maxName)
	}
	return nil
}

func (p *Provided) skill() *Skill {
	s := &Skill{
		Own: p.Name, Label: labelProvided, Description: short(p.Description, maxDescription), Hint: short(p.Hint, maxHint),
		Tools: p.Tools, Server: p.Server, Prompt: p.Prompt, fetched: p.Fetch,
	}
	if p.Server != "" {
		s.Label = "MCP server " + p.Server
	}
	s.stands.refused = p.Check()
	return s
}

func (s *found) load(source *Source) {
	problem := func(err error) { s.problems = append(s.problems, Problem{source.Label, source.Dir, err}) }
	p, err := source.open()
	if err != nil {
		problem(err)
		return
	}
	if p == nil {
		return
	}
	defer p.close() //nolint:errcheck // it was read
	files, problems := p.find()
	for _, f := range files {
		s.add(p.look(f), source.Plugin)
	}
	for _, err := range problems {
		problem(err)
	}
}

// add gives a skill its name: its own one if that is free, or else the one with its source's
// label.
func (s *found) add(skill *Skill, labelled bool) {
	s.all = append(s.all, skill)
	skill.Name = skill.Own
	if skill.Problem() != nil {
		return
	}
	by, taken := s.names[skill.Name]
	if taken {
		skill.ShadowedBy = by.Label
	}
	if taken || labelled {
		skill.Name = skill.Qualified()
	}
	if other, taken := s.names[skill.Name]; taken {
		skill.stands.refused = fmt.Errorf("the name %s is taken by %s", skill.Name, other.where())
		return
	}
	s.names[skill.Name] = skill
}

// where names the skill's place for people.
func (s *Skill) where() string {
	if s.Path == "" {
		return "the program's own"
	}
	return visible.Line(s.Path)
}

// shorten has each name that is free call a skill, too: a plugin's by its own name, and others by
// the one with their source's label.
func (s *found) shorten() {
	for _, skill := range s.all {
		for _, name := range []string{skill.Own, skill.Qualified()} {
			if _, taken := s.names[name]; !taken && skill.Problem() == nil {
				s.names[name] = skill
			}
		}
	}
}

// All lists all skills by name, those that are not offered too. The list must not be changed.
func (s *Set) All() []*Skill {
	if s == nil {
		return nil
	}
	return s.found().all
}

// Problems are those of sources.
func (s *Set) Problems() []Problem {
	if s == nil {
		return nil
	}
	return s.found().problems
}

// None reports whether there is no skill that a model may load.
func (s *Set) None() bool { return len(s.Listed(every)) == 0 }

// Same reports whether a model is told the same of two sets.
func Same(a, b *Set) bool {
	return slices.EqualFunc(a.Listed(every), b.Listed(every), func(a, b *Skill) bool {
		return a.Name == b.Name && a.Description == b.Description && a.Hint == b.Hint && a.Qualified() == b.Qualified()
	})
}

// Equal reports whether the same was found for two sets, apart from what provided skills fetch.
func Equal(a, b *Set) bool {
	return slices.EqualFunc(a.All(), b.All(), sameSkill) && slices.EqualFunc(a.Problems(), b.Problems(), func(a, b Problem) bool {
		return a.Label == b.Label && a.Dir == b.Dir && sameText(a.Err, b.Err)
	})
}

func sameSkill(a, b *Skill) bool {
	return a.texts() == b.texts() && a.Hidden == b.Hidden && slices.Equal(a.Tools, b.Tools) && slices.Equal(a.Faults, b.Faults) &&
		sameText(a.Problem(), b.Problem())
}

// texts are all that a skill says of itself in one text each.
func (s *Skill) texts() [10]string {
	return [...]string{s.Name, s.Own, s.Label, s.Description, s.Hint, s.Path, s.Dir, s.Server, s.Prompt, s.ShadowedBy}
}

func sameText(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}

func every(*Skill) bool { return true }

// Listed are the skills that a model may load, of those that pass; by name.
func (s *Set) Listed(passes func(*Skill) bool) []*Skill {
	var out []*Skill
	for _, skill := range s.All() {
		if skill.Problem() == nil && !skill.Hidden && passes(skill) {
			out = append(out, skill)
		}
	}
	return out
}

// Called is the skill that a name calls, or nil.
func (s *Set) Called(name string) *Skill {
	if s == nil {
		return nil
	}
	return s.found().names[name]
}

// Split parts what a model wrote as a skill's name, such as "/pdf report.pdf".
func Split(written string) (name, args string) {
	name = strings.TrimSpace(written)
	if i := strings.IndexFunc(name, unicode.IsSpace); i > 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	return strings.TrimPrefix(name, "/"), args
}

// Find returns the skill that a model calls by a name, of those that pass. The error is of
// abi.CodeNotFound, or of abi.CodeDisabled where the skill may not be loaded.
func (s *Set) Find(name string, passes func(*Skill) bool) (*Skill, error) {
	if skill := s.Called(name); skill != nil && passes(skill) {
		if skill.Hidden {
			return nil, skill.hides()
		}
		return skill, nil
	}
	for _, skill := range s.All() {
		if problem := skill.Problem(); problem != nil && (skill.Own == name || skill.Qualified() == name) && passes(skill) {
			return nil, abi.Errorf(abi.CodeDisabled, "the skill %s cannot be used: %w", name, problem)
		}
	}
	var known []string
	for _, skill := range s.Listed(passes) {
		known = append(known, skill.Name)
	}
	const most = 50
	hint := stricttoml.DidYouMean(name, known)
	if len(known) > most {
		known = append(known[:most:most], fmt.Sprintf("%d more", len(known)-most))
	}
	return nil, abi.Errorf(abi.CodeNotFound, "there is no skill %s%s; there are %s", visible.Name(name), hint, strings.Join(known, ", "))
}
