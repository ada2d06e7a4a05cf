package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/plugins"
)

// Set is the tools that there are at one moment: those of plugins, and the embedder's; and
// the skills.
type Set struct {
	*plugins.Set
	Natives *Natives
	// Skills are those that models may load; nil is none.
	Skills *skills.Set
}

// Find returns the tool with a name or alias among the embedder's, or else among those of
// plugins.
func (s Set) Find(name string) (Tool, bool) {
	if t, ok := s.Natives.find(name); ok {
		return t, true
	}
	if t, ok := s.Tool(name); ok {
		return Plugin{Tool: t}, true
	}
	return nil, false
}

// Natives are the embedder's tools, by their names and aliases. The zero value is empty. They
// do not change once a [Set] has them.
type Natives struct {
	list   []*Native // sorted by name
	byName map[string]*Native
	// Pending are the servers whose tools are still to come, sorted.
	Pending []string
	// Watches look at the files that calls edit.
	Watches []EditWatch
}

// Add adds a tool, and refuses one with a name that is taken.
func (n *Natives) Add(t *Native) error {
	contract := t.Contract()
	if n.byName == nil {
		n.byName = make(map[string]*Native)
	}
	for _, name := range append([]string{contract.Name}, contract.Aliases...) {
		if _, taken := n.byName[name]; taken {
			return fmt.Errorf("the native tool %q: the name %q is taken", contract.Name, name)
		}
		n.byName[name] = t
	}
	at, _ := slices.BinarySearchFunc(n.list, contract.Name, func(t *Native, name string) int {
		return strings.Compare(t.Contract().Name, name)
	})
	n.list = slices.Insert(n.list, at, t)
	return nil
}

// find returns the tool with a name or alias.
func (n *Natives) find(name string) (*Native, bool) {
	if n == nil {
		return nil, false
	}
	t, ok := n.byName[name]
	return t, ok
}

// All lists the tools, sorted by name. The list must not be changed.
func (n *Natives) All() []*Native {
	if n == nil {
		return nil
	}
	return n.list
}

// Names lists all names and aliases, sorted.
func (n *Natives) Names() []string { return slices.Sorted(maps.Keys(n.byName)) }

// Clash refuses plugins that take the name of one of these tools: only built-in ones can.
func (n *Natives) Clash(set *plugins.Set) error {
	for name := range n.byName {
		if _, taken := set.Tool(name); taken {
			return fmt.Errorf("the native tool %q: the name is taken by a built-in tool", name)
		}
	}
	return nil
}
