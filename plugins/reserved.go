package plugins

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// products are the names, and former names, of the tools that come with the
// product, whether or not this version has them. Rules that people write for
// Bash must not come to hold for a plugin that calls its tool so.
var products = strings.Fields(`
	Advisor Agent AgentOutput AskUserQuestion Bash BashOutput Config CronCreate
	CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree
	Glob Grep KillShell ListMcpResources LS LSP MultiEdit NotebookEdit NotebookRead
	PowerShell Read ReadMcpResource RemoteTrigger REPL SendMessage SendUserMessage
	Skill SlashCommand Sleep StructuredOutput Task TaskCreate TaskGet TaskList
	TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TestingPermission TodoWrite
	ToolSearch WebFetch WebSearch Write`)

// refuseReserved refuses plugins that take a reserved name, in whatever case: a
// person reading a rule or a prompt would not tell them apart.
func (s *Set) refuseReserved(more []string) {
	for _, p := range s.plugins {
		if p.Problem != nil || p.Origin == OriginBuiltin {
			continue
		}
		for _, name := range toolNames(p) {
			same := func(r string) bool { return strings.EqualFold(r, name) }
			if slices.ContainsFunc(products, same) || slices.ContainsFunc(more, same) {
				p.Problem = abi.Errorf(abi.CodeLoad, "the tool name %q is reserved; give the tool another name in the manifest", name)
			}
		}
	}
}
