package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// find is the tool that is meant, by name or alias, if the model may have it and can
// know how to call it. What a call calls in turn, its author knows.
func (t *turn) find(name string) (tool, error) {
	s := t.session
	found, ok := s.host.lookup(t.plugins, name)
	if !ok {
		return nil, s.unknown(t.plugins, name)
	}
	if err := s.refuses(found); err != nil {
		return nil, err
	}
	if name := found.contract().Name; t.within == nil && s.knows.lacks(name) && s.defers(t.plugins, name) {
		return nil, abi.Errorf(abi.CodeUnknownTool, "the tool %[1]s is deferred, and its definition was not loaded yet: call %[2]s with the query \"select:%[1]s\" first, then call it as its definition says",
			name, toolSearch)
	}
	return found, nil
}

// unknown says that there is no such tool, and what may be meant.
func (s *Session) unknown(set *plugins.Set, name string) error {
	for _, p := range set.Plugins() {
		if problem := p.Problem(); problem != nil && slices.Contains(p.ToolNames(), name) {
			return abi.Errorf(abi.CodeUnknownTool, "the tool %s is not available: its plugin %s could not be used: %w", name, p.Name, problem)
		}
	}
	return abi.Errorf(abi.CodeUnknownTool, "there is no tool %q; %s", name, s.suggest(set, name))
}

// suggest names the tools there are, the one that may be meant first.
func (s *Session) suggest(set *plugins.Set, name string) string {
	p, err := s.poolOf(set)
	if err != nil {
		return "the tools there are cannot be told: " + err.Error()
	}
	for _, t := range p.tools {
		if strings.EqualFold(t.Name, name) {
			return fmt.Sprintf("did you mean %s?", t.Name)
		}
	}
	ready, deferred := p.names()
	switch {
	case len(ready) == 0:
		return "no tool is offered"
	case deferred > 0:
		return fmt.Sprintf("there are %s, and %d more that %s finds", strings.Join(ready, ", "), deferred, toolSearch)
	}
	return "there are " + strings.Join(ready, ", ")
}

// poolOf is what the session offers of some plugins, as its model is told.
func (s *Session) poolOf(set *plugins.Set) (*pool, error) {
	v := *s.view()
	v.plugins = set
	return s.pool(&v, s.knows.told())
}

// defers reports whether a tool of some plugins is deferred.
func (s *Session) defers(set *plugins.Set, name string) bool {
	p, err := s.poolOf(set)
	if err != nil {
		return false
	}
	_, deferred := p.find(name)
	return deferred
}

// unloaded adds to what is wrong with an input how to learn what is right, where
// the model may know the tool by its name alone. In a session that was asked for
// definitions such a call does not come so far; in one that was not, as where each
// message has a process of its own, nobody knows what the model was told.
func (c *call) unloaded(err error) error {
	name := c.tool.contract().Name
	if !deferrable(c.tool.contract()) || c.session().knows.has(name) || !c.session().defers(c.turn.plugins, name) {
		return err
	}
	return abi.Errorf(abi.CodeOf(err), "%w; the tool is deferred: if its definition was not loaded, call %s with the query \"select:%s\"", err, toolSearch, name)
}

// catalog is a call's session as the capability that lists tools sees it.
type catalog call

// List implements [capability.Catalog].
func (c *catalog) List() ([]abi.DeferredTool, []string, error) {
	p, err := c.turn.session.poolOf(c.turn.plugins)
	if err != nil {
		return nil, nil, err
	}
	var deferred []abi.DeferredTool
	for _, t := range p.tools {
		if t.deferred {
			deferred = append(deferred, abi.DeferredTool{
				Name: t.Name, Hint: t.SearchHint, Description: cmp.Or(t.Description, t.Summary), MCP: isMCP(t.Tool),
			})
		}
	}
	ready, _ := p.names()
	return deferred, ready, nil
}

func isReference(b abi.Block) bool { return b.Type == abi.BlockToolReference }

// references holds the tool references of a result to tools that the model can
// look for, as an API refuses a message with others, and puts the definitions into
// them for the APIs that do not. Each tool is referred to once: an API shows the
// definition behind every reference, whatever limit the result has.
func (c *call) references(r *abi.ToolResult) {
	if !slices.ContainsFunc(r.Content, isReference) {
		return
	}
	p, err := c.session().poolOf(c.turn.plugins)
	if err != nil {
		p = &pool{} // without definitions there is nothing to refer to
	}
	var kept []abi.Block // a new list: the tool may hold on to its own
	known := make(map[string]bool)
	for _, b := range r.Content {
		if isReference(b) {
			t, ok := p.find(b.ToolName)
			if !ok || known[b.ToolName] {
				continue
			}
			known[b.ToolName] = true
			b.Text = fmt.Sprintf("%s can be called now. Its definition:\n%s", t.Name, t.definition)
		}
		kept = append(kept, b)
	}
	r.Content = kept
}
