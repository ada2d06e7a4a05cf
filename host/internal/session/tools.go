package session

import (
	"cmp"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/toolset"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// Tools are the tools of a session: which its model is offered, and what the model was told
// about them.
type Tools struct {
	host     *Host
	audience toolset.Audience
	stage    bool // writes are staged
	// unstaged returns why the changes of commands cannot be staged, or nil.
	unstaged func() error
	// carries is as in [Options], and unheard says that nobody shows messages.
	carries func(kinds ...capability.QuestionKind) bool
	unheard bool
	cron    bool // prompts that come due are taken
	storage *storage.Session
	// Output is what the session is begun for; nil is nothing.
	Output *Output
	// declined are the rules that skills proposed and the person did not allow.
	declined sync.Map
	// Known is what the model knows of them.
	Known toolset.Known
}

// Offer is what the session offers its model, with definitions in a format.
func (s *Tools) Offer(v *rules.View, format toolset.Format) (*toolset.Set, error) {
	return toolset.New(s.List(v), &toolset.Options{
		Selection: s.host.tuned().Toolset, Format: format, Known: &s.Known, Background: s.Backgrounds(),
	})
}

// List lists all tools in their order, with the reasons why some are not offered.
func (s *Tools) List(v *rules.View) []toolset.Tool {
	var all []toolset.Tool
	add := func(t tool.Tool, origin toolset.Origin, m *abi.Manifest) {
		_, commands := t.Declares(abi.CapShellRun)
		one := toolset.Tool{
			Tool: t.Contract(), Plugin: t.Source().Plugin, Manifest: m, Origin: origin, Shaped: isShaped(t), Commands: commands, NotOffered: s.notOffered(v, t),
		}
		if described, ok := t.(*tool.Described); ok {
			one.Brief = described.Brief
		}
		all = append(all, one)
	}
	for _, t := range v.Tools.Tools() {
		origin, found := toolset.OriginPlugin, s.asOffered(v.Tools.Skills, v.Policy, tool.Plugin{Tool: t})
		if tool.BuiltIn(found) {
			origin = toolset.OriginBuiltin
		}
		add(found, origin, t.Plugin.Manifest())
	}
	for _, t := range v.Tools.Natives.All() {
		add(t, toolset.OriginNative, nil)
	}
	toolset.Sort(all)
	return all
}

// notOffered returns why the session's model is not told of a tool, or nil. Besides tools
// that it may not have, these are tools that can do nothing in the session: a call of
// them has an answer of its own.
func (s *Tools) notOffered(v *rules.View, t tool.Tool) error {
	contract := t.Contract()
	if err := t.Available(); err != nil {
		return err
	}
	server := t.Server(nil)
	origin := permissions.Origin{Server: server.Name, Tool: server.Tool}
	if !v.Policy.OfferedFrom(origin, contract.Name, contract.Aliases...) {
		return abi.Errorf(abi.CodeDenied, "a deny rule binds all of its calls")
	}
	if s.stage {
		if err := pipeline.BarredByStage(t, contract.ReadOnly != "" && contract.ReadOnly != abi.TraitFalse, s.unstaged); err != nil {
			return err
		}
	}
	return cmp.Or(s.refuses(t), s.refusesSkills(v.Tools.Skills, v.Policy, t))
}

// refuses returns why a session's model may not have a tool that it may ask for, or nil.
// Tools that rules deny are for the rules to refuse.
func (s *Tools) refuses(t tool.Tool) error {
	contract := t.Contract()
	if err := s.refusesOff(t); err != nil {
		return err
	}
	if !s.host.tuned().Toolset.Has(contract) && !s.wanted(t) {
		return abi.Errorf(abi.CodeDisabled, "%s is not among the tools that are offered here", contract.Name)
	}
	if err := cmp.Or(s.refusesPowerShell(t), s.refusesTasks(t), s.refusesLists(t), s.refusesSelf(t)); err != nil {
		return err
	}
	if contract.RequiresUser && !s.carries(asks(contract)...) {
		return abi.Errorf(abi.CodeDisabled, "%s needs a person, and there is nobody to ask", contract.Name)
	}
	return s.audience.Refuses(contract, tool.BuiltIn(t))
}

// testing is the built-in tool for tests, which settings cannot turn on.
const testing = "TestingPermission"

// refusesOff says why a tool that is off by default is not offered, or returns nil.
func (s *Tools) refusesOff(t tool.Tool) error {
	contract := t.Contract()
	switch {
	case contract.Enabled != abi.TraitFalse:
		return nil
	case tool.BuiltIn(t) && contract.Name == testing:
		if s.host.Testing {
			return nil
		}
		return abi.Errorf(abi.CodeDisabled, "%s is switched off, as it is for tests; host.ModelOptions.Testing turns it on", contract.Name)
	case s.host.tuned().Toolset.Adds(contract):
		return nil
	}
	return abi.Errorf(abi.CodeDisabled, "%s is switched off; also = [%q] in the table [tools] of settings, or host.ToolsetOptions.Also, turns it on", contract.Name, contract.Name)
}

// refusesSelf says why a built-in tool is not offered that has nothing to work with in the
// session, or returns nil.
func (s *Tools) refusesSelf(t tool.Tool) error {
	if !tool.BuiltIn(t) {
		return nil
	}
	if _, hands := t.Declares(abi.CapSessionOutput); hands && s.Output == nil {
		return abi.Errorf(abi.CodeDisabled, "nobody asked for structured output: --output-schema, or host.SessionOptions.OutputSchema, does")
	}
	if _, tells := t.Declares(abi.CapSessionMessage); tells && s.unheard {
		return abi.Errorf(abi.CodeDisabled, "nobody shows the person here what %s would tell them", t.Contract().Name)
	}
	if _, schedules := t.Declares(abi.CapSessionCron); schedules && !s.cron {
		return abi.Errorf(abi.CodeDisabled, "nothing stays here that could take a prompt when it comes due: run --stream and toolquay mcp do, and so do embedders with host.SessionOptions.Prompts")
	}
	if _, sets := t.Declares(abi.CapSessionConfig); sets && s.host.Settings == nil {
		return abi.Errorf(abi.CodeDisabled, "there are no settings here that %s could read or set", t.Contract().Name)
	}
	return s.refusesWorktrees(t)
}

// refusesWorktrees says why a built-in tool for worktrees is not offered, or returns nil.
func (s *Tools) refusesWorktrees(t tool.Tool) error {
	_, moves := t.Declares(abi.CapSessionWorktree)
	switch {
	case !moves:
		return nil
	case s.stage:
		return abi.Errorf(abi.CodeDisabled, "what is written here is staged: worktrees are entered and left without that")
	case s.host.Worktrees == nil:
		return abi.Errorf(abi.CodeDisabled, "there is no place for worktrees here: host.StorageOptions.Worktrees is empty")
	}
	if _, err := s.host.Worktrees.Git(); err != nil {
		return abi.Errorf(abi.CodeDisabled, "there is no git here: %w", err)
	}
	return nil
}

// wanted reports whether whoever began the session asked for a tool, so that it is offered
// whatever else is.
func (s *Tools) wanted(t tool.Tool) bool {
	return s.Output != nil && tool.BuiltInFor(t, abi.CapSessionOutput)
}

// shaped is a tool as the session has it.
func (s *Tools) shaped(t tool.Tool) tool.Tool {
	if !s.wanted(t) {
		return t
	}
	return tool.NewShaped(t, s.Output.text, s.Output.schema)
}

// Contract is that of a tool as the session has it.
func (s *Tools) Contract(t tool.Tool) *abi.Tool { return s.shaped(t).Contract() }

// asks are the kinds of question that a tool cannot do without, by the capabilities that its
// contract names; none where it names none that asks.
func asks(contract *abi.Tool) []capability.QuestionKind {
	var kinds []capability.QuestionKind
	for name, kind := range map[string]capability.QuestionKind{
		abi.CapSessionQuestion: capability.QuestionChoice, abi.CapSessionPlan: capability.QuestionPlan,
	} {
		if slices.Contains(contract.Capabilities, name) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// refusesPowerShell says why the built-in tool PowerShell is not offered, or returns nil.
func (s *Tools) refusesPowerShell(t tool.Tool) error {
	if !tool.BuiltIn(t) || t.Contract().Name != pipeline.PowerShell {
		return nil
	}
	if missing := s.host.Calls.Commands.MissingPowerShell(); missing != nil {
		return abi.Errorf(abi.CodeDisabled, "there is no PowerShell here: %w", missing)
	}
	return nil
}

// refusesTasks says why a built-in tool for background tasks is not offered where no more
// of them begin, or returns nil: the tasks that the session had can be read.
func (s *Tools) refusesTasks(t tool.Tool) error {
	reads := tool.BuiltInFor(t, abi.CapTaskOutput)
	if !reads && !tool.BuiltInFor(t, abi.CapTaskStop) || s.Backgrounds() {
		return nil
	}
	if had := s.storage.Tasks(); reads && had != nil && len(had.List()) > 0 {
		return nil
	}
	return abi.Errorf(abi.CodeDisabled, "nothing runs in the background here, so there is nothing for %s", t.Contract().Name)
}

// refusesLists says why a built-in tool for lists of work is not offered, or returns nil: a
// model has the one kind or the other.
func (s *Tools) refusesLists(t tool.Tool) error {
	kind, instead := abi.CapSessionTodo, "TaskCreate, TaskUpdate, TaskGet and TaskList"
	if s.host.Todos {
		kind, instead = abi.CapSessionTask, "TodoWrite"
	}
	if !tool.BuiltInFor(t, kind) {
		return nil
	}
	return abi.Errorf(abi.CodeDisabled, "work is kept with %s here (the setting tasks.kind)", instead)
}

// Backgrounds reports whether background tasks may start in the session. They may not if its
// writes are staged and the changes of commands cannot be, or if its model has no tools to read
// and to stop them.
func (s *Tools) Backgrounds() bool {
	if !s.host.Tasks || s.stage && s.unstaged() != nil {
		return false
	}
	return len(s.host.tuned().Toolset.Only) == 0 || s.offersTo(abi.CapTaskOutput) && s.offersTo(abi.CapTaskStop)
}

// offersTo reports whether an offered tool of a plugin may ask for a capability.
func (s *Tools) offersTo(capability string) bool {
	return slices.ContainsFunc(s.host.Plugins.Newest().Tools(), func(t *plugins.Tool) bool {
		_, may := t.Plugin.Declares(t.Tool, capability)
		return may && s.host.tuned().Toolset.Has(t.Tool)
	})
}

// learn records what the model learns of tools from the content of a result, here and in
// the journal.
func (s *Tools) learn(content []abi.Block) {
	news := s.Known.Learn(content)
	if len(news) == 0 {
		return
	}
	if err := s.storage.Remember(toolset.RecordKind, news); err != nil {
		s.host.Logger.Warn("the next process that goes on with the session will have these tools loaded anew", "tools", news, "error", err)
	}
}

// restore takes over what the model had learnt when an earlier process ended.
func (s *Tools) restore() {
	for _, record := range s.storage.Recall(toolset.RecordKind) {
		if err := s.Known.Restore(record); err != nil {
			s.host.Logger.Warn("a record of the session is left out", "kind", toolset.RecordKind, "error", err)
		}
	}
}
