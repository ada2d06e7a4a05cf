package host

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// toolSearch is the tool that finds deferred ones. Without it none is deferred.
const toolSearch = "ToolSearch"

// mcpPrefix begins the names of the tools of MCP servers: mcp__SERVER__TOOL.
const mcpPrefix = "mcp__"

// pool is what a session offers its model at one moment, in the order in which
// the model is told of it.
type pool struct {
	// format is that of the definitions.
	format Format
	tools  []pooled
	// defers says that some are known by name alone.
	defers bool
}

// pooled is one tool of a pool.
type pooled struct {
	tool
	*abi.Tool
	deferred bool
	// definition is the encoded definition in the pool's format.
	definition json.RawMessage
}

// all lists every tool in an order that depends on nothing but the tools: the
// built-in ones, the embedder's, the plugins', those of MCP servers, each by
// name. What stands in front stays the same when something is added behind it,
// which keeps a model API's prompt cache valid.
func (h *Host) all(set *plugins.Set) []tool {
	var all []tool
	for _, t := range set.Tools() {
		all = append(all, pluginTool{t})
	}
	for _, t := range h.native {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b tool) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.contract().Name, b.contract().Name))
	})
	return all
}

// rank is a tool's place in the order.
func rank(t tool) int {
	_, native := t.(*nativeTool)
	switch {
	case isMCP(t.contract()):
		return 3
	case builtIn(t):
		return 0
	case native:
		return 1
	}
	return 2
}

// builtIn reports whether a tool comes with the host.
func builtIn(t tool) bool {
	p, ok := t.(pluginTool)
	return ok && p.Plugin.Origin == plugins.OriginBuiltin
}

func isMCP(t *abi.Tool) bool { return strings.HasPrefix(t.Name, mcpPrefix) }

// deferrable reports whether a tool is one that a model can look for.
func deferrable(t *abi.Tool) bool {
	return (t.Defer || isMCP(t)) && !t.AlwaysLoad && t.Name != toolSearch
}

// refuses says why a session's model is not to have a tool that it may ask for,
// or nil. What rules deny is for the rules to say.
func (s *Session) refuses(t tool) error {
	if !s.host.options.Offer.has(t.contract()) {
		return abi.Errorf(abi.CodeDisabled, "%s is not among the tools that are offered here", t.contract().Name)
	}
	if err := cmp.Or(s.host.commands.refuses(t), s.refusesTasks(t)); err != nil {
		return err
	}
	return s.options.Audience.admits(t)
}

// withholds says why the session's model is not told of a tool, or nil. Besides those
// that it may not have these are tools that cannot do anything in the session: what such
// a call is answered is for the call to say.
func (s *Session) withholds(t tool) error {
	if s.options.Stage {
		if err := barredByStage(t, t.contract().ReadOnly != "" && t.contract().ReadOnly != abi.TraitFalse); err != nil {
			return err
		}
	}
	return s.refuses(t)
}

// offered lists the tools that a model may be told of: those that can be called
// now, are for this session, and are not denied as a whole.
func (s *Session) offered(v *view) []tool {
	return slices.DeleteFunc(s.host.all(v.plugins), func(t tool) bool {
		contract := t.contract()
		return contract.Enabled == abi.TraitFalse || !v.offers(contract) || s.withholds(t) != nil || t.available() != nil
	})
}

// pool is what the session offers, with the definitions of a format. ToolSearch
// is left out where it would have nothing to find.
func (s *Session) pool(v *view, format Format) (*pool, error) {
	p, search := &pool{format: format}, pooled{}
	offered := s.offered(v)
	all := make([]pooled, 0, len(offered))
	for _, t := range offered {
		contract, err := s.shown(t)
		if err != nil {
			return nil, err
		}
		all = append(all, pooled{tool: t, Tool: contract, deferred: deferrable(contract) && !s.knows.hasInFull(contract.Name)})
	}
	d := s.host.options.Offer.definer(format, all)
	for _, t := range all {
		if t.Name == toolSearch && t.source().trusted {
			search = t
			continue
		}
		var err error
		if t.definition, err = d.define(t, ""); err != nil {
			return nil, err
		}
		p.tools = append(p.tools, t)
	}
	p.defers = search.tool != nil && p.overflows(&s.host.options.Offer, s.knows.defers())
	if !p.defers {
		for i := range p.tools {
			p.tools[i].deferred = false
		}
		return p, nil
	}
	return p, p.add(search, d)
}

// overflows reports whether tools are to be deferred: what would be sent without
// that is too much, or it is asked for, or was done before, and there are tools that
// can be.
func (p *pool) overflows(o *Offering, before bool) bool {
	if o.Defer == DeferNever || !slices.ContainsFunc(p.tools, func(t pooled) bool { return t.deferred }) {
		return false
	}
	tools, chars := o.bounds()
	return o.Defer == DeferAlways || before || len(p.tools) > tools || p.chars() > chars
}

// chars is the size of the whole list of definitions, in code points.
func (p *pool) chars() int {
	n := len("[]") + max(len(p.tools)-1, 0) // with the commas
	if p.format == FormatGemini && len(p.tools) > 0 {
		n += len(`{"functionDeclarations":[]}`)
	}
	for _, t := range p.tools {
		n += utf8.RuneCount(t.definition)
	}
	return n
}

// add puts ToolSearch into its place, with the names of what it can find behind
// its description. Those that were loaded stay in the list: it is the same text
// for as long as the same tools are offered.
func (p *pool) add(search pooled, d *definer) error {
	var names []string
	for _, t := range p.tools {
		if t.deferred {
			names = append(names, t.Name)
		}
	}
	var err error
	search.definition, err = d.define(search, "\n\nDeferred tools: "+strings.Join(names, ", "))
	at := slices.IndexFunc(p.tools, func(t pooled) bool {
		return rank(t.tool) > rank(search.tool) || rank(t.tool) == rank(search.tool) && t.Name > search.Name
	})
	if at < 0 {
		at = len(p.tools)
	}
	p.tools = slices.Insert(p.tools, at, search)
	return err
}

// find is a deferred tool of the pool.
func (p *pool) find(name string) (pooled, bool) {
	i := slices.IndexFunc(p.tools, func(t pooled) bool { return t.deferred && t.Name == name })
	if i < 0 {
		return pooled{}, false
	}
	return p.tools[i], true
}

// names are the names of the tools that can be called as they are, and how many
// there are besides.
func (p *pool) names() (ready []string, deferred int) {
	for _, t := range p.tools {
		if t.deferred {
			deferred++
		} else {
			ready = append(ready, t.Name)
		}
	}
	return ready, deferred
}
