package host

import (
	"cmp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/toolset"
)

// toolset is what the session offers its model, with definitions in a format.
func (s *Session) toolset(v *rules.View, format Format) (*toolset.Set, error) {
	return toolset.New(s.tools(v), &toolset.Options{
		Offering: s.host.options.Offer, Format: format, Known: &s.known, Background: s.backgrounds(),
	})
}

// tools lists all tools in their order, with the reasons why some are not offered.
func (s *Session) tools(v *rules.View) []toolset.Tool {
	var all []toolset.Tool
	add := func(t tool.Tool, origin toolset.Origin) {
		_, commands := t.Declares(abi.CapShellRun)
		all = append(all, toolset.Tool{
			Tool: t.Contract(), Plugin: t.Source().Plugin, Origin: origin, Commands: commands, NotOffered: s.notOffered(v, t),
		})
	}
	for _, t := range v.Plugins.Tools() {
		origin := toolset.OriginPlugin
		if tool.BuiltIn(tool.Plugin{Tool: t}) {
			origin = toolset.OriginBuiltin
		}
		add(tool.Plugin{Tool: t}, origin)
	}
	for _, t := range s.host.native {
		add(t, toolset.OriginNative)
	}
	toolset.Sort(all)
	return all
}

// notOffered returns why the session's model is not told of a tool, or nil. Besides tools
// that it may not have, these are tools that can do nothing in the session: a call of
// them has an answer of its own.
func (s *Session) notOffered(v *rules.View, t tool.Tool) error {
	contract := t.Contract()
	if err := t.Available(); err != nil {
		return err
	}
	if contract.Enabled == abi.TraitFalse {
		return abi.Errorf(abi.CodeDisabled, "its manifest switches it off")
	}
	if !v.Policy.Offered(contract.Name, contract.Aliases...) {
		return abi.Errorf(abi.CodeDenied, "a deny rule binds all of its calls")
	}
	if s.options.Stage {
		if err := pipeline.BarredByStage(t, contract.ReadOnly != "" && contract.ReadOnly != abi.TraitFalse); err != nil {
			return err
		}
	}
	return s.refuses(t)
}

// refuses returns why a session's model may not have a tool that it may ask for, or nil.
// Tools that rules deny are for the rules to refuse.
func (s *Session) refuses(t tool.Tool) error {
	contract := t.Contract()
	if !s.host.options.Offer.Has(contract) {
		return abi.Errorf(abi.CodeDisabled, "%s is not among the tools that are offered here", contract.Name)
	}
	if err := cmp.Or(s.host.refusesPowerShell(t), s.refusesTasks(t)); err != nil {
		return err
	}
	return s.options.Audience.Refuses(contract, tool.BuiltIn(t))
}
