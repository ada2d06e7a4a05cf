package plugins

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// ShadowedError says that a plugin offers nothing because another plugin has a name
// that it claims too.
type ShadowedError struct {
	// Claim is what both claim, such as `the name "weather"` or `the tool "Weather"`.
	Claim string
	// ByName, ByOrigin and ByPath are the plugin that has it.
	ByName   string
	ByOrigin Origin
	ByPath   string
	// Reason says why that one has it.
	Reason string
}

// Error says which plugin has what, why, and what to do.
func (e *ShadowedError) Error() string {
	return fmt.Sprintf("%s is taken by %s (%s, %s): %s; remove one of them or rename it in its manifest",
		e.Claim, e.ByName, e.ByOrigin, e.ByPath, e.Reason)
}

// award gives each name to one of the plugins that claim it, and refuses the others. The
// order is by origin, then by grant, then by age: a plugin that is dropped in cannot take
// the place of one that is in use.
func (s *settlement) award() {
	rivals := make(map[int]*rival)
	for _, groups := range []map[string][]int{s.rivals(pluginName), s.rivals(toolNames)} {
		for _, group := range groups {
			for _, i := range group {
				if s.plugins[i].Origin != OriginBuiltin && rivals[i] == nil { // those are the embedder's own affair
					rivals[i] = rivalOf(i, s.plugins[i])
				}
			}
		}
	}
	order := make([]*rival, 0, len(rivals))
	for _, r := range rivals {
		order = append(order, r)
	}
	slices.SortFunc(order, compareRivals)
	holders := make(map[string]*rival)
	for _, r := range order {
		s.claim(r, holders)
	}
}

// claim gives a plugin its names, if no other plugin has one of them.
func (s *settlement) claim(r *rival, holders map[string]*rival) {
	var claims []string
	claims = append(claims, fmt.Sprintf("the name %q", r.plugin.Name))
	for _, name := range toolNames(r.plugin) {
		claims = append(claims, fmt.Sprintf("the tool %q", name))
	}
	for _, claim := range claims {
		if by := holders[claim]; by != nil {
			shadowed := &ShadowedError{claim, by.plugin.Name, by.plugin.Origin, by.plugin.Path, r.behind(by)}
			s.problems[r.index] = &abi.Error{Code: abi.CodeLoad, Message: shadowed.Error(), Err: shadowed}
			return
		}
	}
	for _, claim := range claims {
		holders[claim] = r
	}
}

// rival is a plugin that claims a name together with others.
type rival struct {
	index  int // in the order of origins, of their sources, and of names there
	plugin *Plugin
	grant  int
	since  int64 // nanoseconds since 1970, or 0 where the system does not tell
}

// grantOrder is the order in which plugins take names. One that asks for nothing comes
// behind one that a person granted something.
var grantOrder = []GrantState{GrantGiven, GrantUnneeded, GrantChanged, GrantMissing}

func rivalOf(index int, p *Plugin) *rival {
	r := &rival{index: index, plugin: p, grant: slices.Index(grantOrder, p.GrantState())}
	p.generation.forget() // its module may have been read for its fingerprint
	p.generation.mu.Lock()
	defer p.generation.mu.Unlock()
	r.since = p.generation.manifestAt.Since()
	return r
}

// compareRivals orders plugins by who takes a name first.
func compareRivals(a, b *rival) int {
	order := cmp.Or(rank(a.plugin.Origin)-rank(b.plugin.Origin), a.grant-b.grant)
	if order == 0 && a.sameSource(b) {
		order = cmp.Compare(a.since, b.since)
	}
	return cmp.Or(order, a.index-b.index)
}

func (r *rival) sameSource(other *rival) bool {
	return r.plugin.generation.source.Path == other.plugin.generation.source.Path
}

// behind says why another plugin comes first.
func (r *rival) behind(by *rival) string {
	origins := map[Origin]string{OriginFlag: "plugins named for this run", OriginUser: "the user's plugins"}
	switch {
	case by.plugin.Origin != r.plugin.Origin:
		return origins[by.plugin.Origin] + " come first"
	case by.grant < r.grant && grantOrder[by.grant] == GrantGiven:
		return "that one is granted, and this one is not"
	case by.grant < r.grant:
		return "that one needs no grant that it does not have"
	case r.sameSource(by):
		return "that one was there first"
	}
	return "its directory comes first"
}
