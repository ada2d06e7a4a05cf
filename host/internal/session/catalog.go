package session

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/toolset"
	"github.com/toolquay/toolquay/permissions"
)

// catalog is the tools of a session as a turn finds them, of those that there were when it began.
type catalog struct {
	session *Session
	set     tool.Set
}

// offered is what the model is offered, with definitions in the format that it was told
// them in.
func (c *catalog) offered() (*toolset.Set, error) {
	v := *c.session.Rules.View()
	v.Tools = c.set
	return c.session.Tools.Offer(&v, c.session.Tools.Known.Format())
}

// Find returns the tool with a name or alias, if the model may have it. A call of the
// model's must also know how to call it; the author of a tool that makes calls does.
func (c *catalog) Find(name string, byModel bool) (tool.Tool, error) {
	found, ok := c.set.Find(name)
	if !ok {
		return nil, c.unknown(name)
	}
	if err := c.session.Tools.refuses(found); err != nil {
		return nil, err
	}
	policy := c.session.Rules.View().Policy
	if err := c.session.Tools.refusesSkills(c.set.Skills, policy, found); err != nil {
		return nil, err
	}
	found = c.session.Tools.asOffered(c.set.Skills, policy, found)
	if name := found.Contract().Name; byModel && c.session.Tools.Known.Lacks(name) && c.defers(name) {
		return nil, abi.Errorf(abi.CodeUnknownTool, "the tool %[1]s is deferred, and its definition was not loaded yet: call %[2]s with the query \"select:%[1]s\" first, then call it as its definition says",
			name, toolset.Search)
	}
	return found, nil
}

// unknown is the error for a tool that does not exist, with a suggestion.
func (c *catalog) unknown(name string) error {
	for _, p := range c.set.Plugins() {
		if problem := p.Problem(); problem != nil && slices.Contains(p.ToolNames(), name) {
			return abi.Errorf(abi.CodeUnknownTool, "the tool %s is not available: its plugin %s could not be used: %w", name, p.Name, problem)
		}
	}
	for _, server := range c.pending() {
		if strings.HasPrefix(name, "mcp__"+server+"__") {
			return abi.Errorf(abi.CodeUnknownTool, "there is no tool %q yet: the MCP server %s is still connecting; try again in a moment", name, server)
		}
	}
	offered, err := c.offered()
	if err != nil {
		return abi.Errorf(abi.CodeUnknownTool, "there is no tool %q; the tools there are cannot be told: %s", name, err.Error())
	}
	return abi.Errorf(abi.CodeUnknownTool, "there is no tool %q; %s", name, offered.Suggest(name))
}

// defers reports whether a tool is deferred.
func (c *catalog) defers(name string) bool {
	offered, err := c.offered()
	return err == nil && offered.Defers(name)
}

// Unloaded adds to an error in a tool's input how to load the tool's definition, if the
// model may know the tool by name alone. In a session that was asked for definitions such
// a call is refused before; in one that was not, such as where each message has a process
// of its own, what the model was told is not known.
func (c *catalog) Unloaded(contract *abi.Tool, err error) error {
	if !toolset.Deferrable(contract) || c.session.Tools.Known.Loaded(contract.Name) || !c.defers(contract.Name) {
		return err
	}
	return abi.Errorf(abi.CodeOf(err), "%w; the tool is deferred: if its definition was not loaded, call %s with the query \"select:%s\"", err, toolset.Search, contract.Name)
}

// List implements [pipeline.Catalog].
func (c *catalog) List() (capability.ToolList, error) {
	offered, err := c.offered()
	if err != nil {
		return capability.ToolList{}, err
	}
	return capability.ToolList{Deferred: offered.Deferred(), Ready: offered.Ready(), Pending: c.pending()}, nil
}

// pending are the servers whose tools are still to come, but for those that a deny rule
// keeps from the model as a whole.
func (c *catalog) pending() []string {
	policy := c.session.Rules.View().Policy
	return slices.DeleteFunc(slices.Clone(c.set.Natives.Pending), func(server string) bool {
		return !policy.OfferedFrom(permissions.Origin{Server: server}, "mcp__"+server)
	})
}

// Refer puts definitions into the tool references of a result's content, and removes
// those that are not to deferred tools.
func (c *catalog) Refer(content []abi.Block) []abi.Block {
	if !toolset.HasReferences(content) {
		return content
	}
	offered, err := c.offered()
	if err != nil {
		offered = &toolset.Set{} // without definitions there is nothing to refer to
	}
	return offered.Refer(content)
}
