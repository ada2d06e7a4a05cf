package plugins

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
func (s *settlement) refuseReserved(more []string) {
	reserved := make(map[string]bool, len(products)+len(more))
	for _, name := range slices.Concat(products, more) {
		reserved[string(fold(nil, name))] = true
	}
	isReserved := func(name string) bool {
		var room [64]byte
		return reserved[string(fold(room[:0], name))]
	}
	for i, p := range s.plugins {
		if s.problems[i] != nil || p.Origin == OriginBuiltin {
			continue
		}
		for _, name := range p.generation.finding.Summary.ToolNames() {
			if isReserved(name) {
				s.problems[i] = abi.Errorf(abi.CodeLoad, "the tool name %q is reserved; give the tool another name in the manifest", name)
			}
		}
	}
}

// fold appends a name without the difference of case. It goes through upper
// case, because some letters have two lower ones.
func fold(b []byte, name string) []byte {
	for _, r := range name {
		b = utf8.AppendRune(b, unicode.ToLower(unicode.ToUpper(r)))
	}
	return b
}
