package host

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/toolset"
	"github.com/toolquay/toolquay/plugins"
)

// find returns the tool with a name or alias, if the model may have it and can know how
// to call it. The author of a tool that makes calls knows that anyway.
func (t *turn) find(name string) (tool, error) {
	s := t.session
	found, ok := s.host.lookup(t.plugins, name)
	if !ok {
		return nil, s.unknown(t.plugins, name)
	}
	if err := s.refuses(found); err != nil {
		return nil, err
	}
	if name := found.contract().Name; t.within == nil && s.known.Lacks(name) && s.defers(t.plugins, name) {
		return nil, abi.Errorf(abi.CodeUnknownTool, "the tool %[1]s is deferred, and its definition was not loaded yet: call %[2]s with the query \"select:%[1]s\" first, then call it as its definition says",
			name, toolset.Search)
	}
	return found, nil
}

// unknown is the error for a tool that does not exist, with a suggestion.
func (s *Session) unknown(set *plugins.Set, name string) error {
	for _, p := range set.Plugins() {
		if problem := p.Problem(); problem != nil && slices.Contains(p.ToolNames(), name) {
			return abi.Errorf(abi.CodeUnknownTool, "the tool %s is not available: its plugin %s could not be used: %w", name, p.Name, problem)
		}
	}
	offered, err := s.toolsetOf(set)
	if err != nil {
		return abi.Errorf(abi.CodeUnknownTool, "there is no tool %q; the tools there are cannot be told: %s", name, err.Error())
	}
	return abi.Errorf(abi.CodeUnknownTool, "there is no tool %q; %s", name, offered.Suggest(name))
}

// defers reports whether a tool of a set of plugins is deferred.
func (s *Session) defers(set *plugins.Set, name string) bool {
	offered, err := s.toolsetOf(set)
	return err == nil && offered.Defers(name)
}

// unloaded adds to an error in an input how to load the tool's definition, if the model
// may know the tool by name alone. In a session that was asked for definitions such a
// call is refused before; in one that was not, such as where each message has a process
// of its own, what the model was told is not known.
func (c *call) unloaded(err error) error {
	contract := c.tool.contract()
	if !toolset.Deferrable(contract) || c.session().known.Loaded(contract.Name) || !c.session().defers(c.turn.plugins, contract.Name) {
		return err
	}
	return abi.Errorf(abi.CodeOf(err), "%w; the tool is deferred: if its definition was not loaded, call %s with the query \"select:%s\"", err, toolset.Search, contract.Name)
}

// catalog is a call's session for the capability that lists tools.
type catalog call

// List implements [capability.Catalog].
func (c *catalog) List() ([]abi.DeferredTool, []string, error) {
	offered, err := c.turn.session.toolsetOf(c.turn.plugins)
	if err != nil {
		return nil, nil, err
	}
	return offered.Deferred(), offered.Ready(), nil
}

// references puts definitions into the tool references of a result, and removes those
// that are not to deferred tools.
func (c *call) references(r *abi.ToolResult) {
	if !toolset.HasReferences(r.Content) {
		return
	}
	offered, err := c.session().toolsetOf(c.turn.plugins)
	if err != nil {
		offered = &toolset.Set{} // without definitions there is nothing to refer to
	}
	r.Content = offered.Refer(r.Content)
}

// learn records what the model learns of tools from a result that leaves, here and in the
// journal. A result for a call that makes calls does not reach the model.
func (t *turn) learn(r *abi.ToolResult) {
	if t.within != nil {
		return
	}
	s := t.session
	news := s.known.Learn(r.Content)
	if len(news) == 0 {
		return
	}
	if err := s.remember(toolset.RecordKind, news); err != nil {
		s.host.options.Logger.Warn("the next process that goes on with the session will have these tools loaded anew", "tools", news, "error", err)
	}
}

// loadKnown takes over what the model had learnt when an earlier process ended.
func (s *Session) loadKnown() {
	for _, record := range s.recall(toolset.RecordKind) {
		if err := s.known.Restore(record); err != nil {
			s.host.options.Logger.Warn("a record of the session is left out", "kind", toolset.RecordKind, "error", err)
		}
	}
}
