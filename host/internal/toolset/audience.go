package toolset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Audience is the kind of agent that tools are offered to.
type Audience string

// The audiences; the zero value is a main agent, which is offered all tools.
const (
	AudienceMain Audience = ""
	// AudienceSubagent is an agent started by another one.
	AudienceSubagent Audience = "subagent"
	// AudienceBackground is a sub-agent that nobody waits for. It is offered the tools
	// that are marked for it and need no person.
	AudienceBackground Audience = "background"
)

// ParseAudience parses the name of an audience; empty and "main" are [AudienceMain].
func ParseAudience(name string) (Audience, error) {
	switch a := Audience(name); a {
	case AudienceMain, AudienceSubagent, AudienceBackground:
		return a, nil
	case "main":
		return AudienceMain, nil
	}
	return "", fmt.Errorf("no audience %q; there are main, %s and %s", name, AudienceSubagent, AudienceBackground)
}

// notForSubagents are tools only for the agent that talks to the person. No third-party
// plugin can take their names.
var notForSubagents = []string{"Agent", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}

// inBackground are the built-in tools for agents in the background. Other tools are
// marked in their contract.
var inBackground = strings.Fields(`
	Bash Edit Glob Grep LSP NotebookEdit PowerShell Read Skill Sleep StructuredOutput
	TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite ToolSearch
	WebFetch WebSearch Write`)

// Refuses returns why an audience is not to have a tool, or nil.
func (a Audience) Refuses(contract *abi.Tool, builtin bool) error {
	switch {
	case a == AudienceMain:
		return nil
	case among(notForSubagents, contract):
		return abi.Errorf(abi.CodeDisabled, "%s is not for sub-agents; leave it to the agent that started this one", contract.Name)
	case a == AudienceSubagent:
		return nil
	case contract.RequiresUser:
		return abi.Errorf(abi.CodeDisabled, "%s needs a person, and nobody attends to an agent in the background", contract.Name)
	}
	said := contract.Background
	if builtin {
		said = slices.Contains(inBackground, contract.Name)
	}
	if !said {
		return abi.Errorf(abi.CodeDisabled, "%s is not for agents in the background", contract.Name)
	}
	return nil
}
