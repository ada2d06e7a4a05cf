package host

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/internal/tool"
)

// Provided is what one provider of tools offers at a moment, such as an MCP server.
type Provided struct {
	Tools []NativeTool
	// Pending are the names of servers whose tools are still to come. ToolSearch tells models
	// of them.
	Pending []string
	// Skills are what models may load by the tool Skill, such as the prompts of an MCP server.
	Skills []Skill
	// Edits looks at the files that Write, Edit and NotebookEdit are about to change, once such a
	// call was permitted, and may note something behind its result, such as new errors. nil does
	// not. It is not called where writes are staged.
	Edits EditWatch
}

type (
	// EditWatch is called before a call edits a file; what it returns is called after that.
	EditWatch = tool.EditWatch
	// FileEdit is the file that an [EditWatch] is told of, with Session, Policy and File.
	FileEdit = tool.Edit
)

// Provide has a provider's tools take the place of those that it offered before. It may be
// called while calls run: turns that have begun keep the tools that they began with, and
// sessions take up the newer ones with their next turn. [ObserveOptions.Events] is told of
// tools that came, went or changed (EventTools). If a name is taken, or a contract is invalid,
// everything is as it was.
func (h *Host) Provide(provider string, p Provided) error {
	compiled, err := compileAll(p.Tools)
	if err != nil {
		return fmt.Errorf("the tools of %s: %w", provider, err)
	}
	for i := range p.Skills {
		if err := p.Skills[i].Check(); err != nil {
			return fmt.Errorf("the skills of %s: %w", provider, err)
		}
	}
	if err := h.offer(provider, offer{compiled, slices.Clone(p.Pending), p.Edits}); err != nil {
		return err
	}
	if h.provision.provide(provider, p.Skills) {
		h.reloadSkills(false)
	}
	return nil
}

func (h *Host) offer(provider string, by offer) error {
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	return h.tools.replace(provider, by, h.plugins.SetNatives)
}

// offers are the tools that are not from plugins: the embedder's own, and those of providers
// by their names.
type offers struct {
	mu        sync.Mutex
	own       []*tool.Native
	providers map[string]offer
}

// offer is what one provider offers.
type offer struct {
	tools   []*tool.Native
	pending []string
	edits   EditWatch
}

// replace puts an offer into force, unless that fails. The mutex is held.
func (o *offers) replace(provider string, by offer, put func(*tool.Natives) error) error {
	was, had := o.providers[provider]
	if o.providers == nil {
		o.providers = make(map[string]offer)
	}
	o.providers[provider] = by
	if len(by.tools)+len(by.pending) == 0 && by.edits == nil {
		delete(o.providers, provider)
	}
	natives, err := o.join()
	if err == nil {
		err = put(natives)
	}
	if err != nil {
		delete(o.providers, provider)
		if had {
			o.providers[provider] = was
		}
	}
	return err
}

// join puts the tools of all together.
func (o *offers) join() (*tool.Natives, error) {
	all, lists := &tool.Natives{}, [][]*tool.Native{o.own}
	for _, name := range slices.Sorted(maps.Keys(o.providers)) {
		lists = append(lists, o.providers[name].tools)
		all.Pending = append(all.Pending, o.providers[name].pending...)
		if watch := o.providers[name].edits; watch != nil {
			all.Watches = append(all.Watches, watch)
		}
	}
	slices.Sort(all.Pending)
	for _, list := range lists {
		for _, t := range list {
			if err := all.Add(t); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// compileAll checks tools and returns them as the pipeline calls them.
func compileAll(list []NativeTool) ([]*tool.Native, error) {
	compiled := make([]*tool.Native, len(list))
	for i := range list {
		var err error
		if compiled[i], err = list[i].compile(); err != nil {
			return nil, err
		}
	}
	return compiled, nil
}
