package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Offering says which tools models are told of.
type Offering struct {
	// Only are the names of those that are offered, aliases included; empty is all.
	// Calls of others are refused. [Preset] knows usual lists. Where the list lacks
	// TaskOutput or TaskStop, no command goes on in the background: nobody could read or
	// end it.
	Only []string
	// Defer has tools listed by name alone where there are many (see DeferOver), so
	// that a model looks for them with ToolSearch first. A session that has begun to
	// defer goes on, and tells in full what it has told in full before.
	Defer Deferral
	// DeferOverTools and DeferOverChars are how many tools, or code points of their
	// definitions, are too many; 0 is 40 and 30,000.
	DeferOverTools, DeferOverChars int
	// Strict asks model APIs to hold models to the schemas of tools that say strict,
	// and Examples gives them the tools' examples of inputs: where an API has no place
	// for those, in the description.
	Strict, Examples bool
}

// The bounds over which tools are deferred where [Offering] sets no others.
const (
	DefaultDeferOverTools = 40
	DefaultDeferOverChars = 30_000
)

// Deferral says when tools are deferred. Those are deferred whose contract says
// defer, and those of MCP servers, but for what says always_load.
type Deferral string

// The deferrals; the zero value is DeferAuto.
const (
	// DeferAuto defers where more is offered than [Offering] has bounds for.
	DeferAuto Deferral = "auto"
	// DeferAlways defers however little is offered.
	DeferAlways Deferral = "always"
	// DeferNever gives the model all definitions.
	DeferNever Deferral = "never"
)

// Deferrals lists the deferrals there are.
func Deferrals() []Deferral { return []Deferral{DeferAuto, DeferAlways, DeferNever} }

// ParseDeferral reads the name of a deferral; empty is [DeferAuto].
func ParseDeferral(name string) (Deferral, error) {
	if name == "" {
		return DeferAuto, nil
	}
	if d := Deferral(name); slices.Contains(Deferrals(), d) {
		return d, nil
	}
	return "", fmt.Errorf("no deferral %q; there are %v", name, Deferrals())
}

// The names of the presets.
const (
	PresetFull    = "full"
	PresetMinimal = "minimal"
)

// Preset is the list of tools that a name stands for, for [Offering].Only: full
// is everything, minimal is Bash, Read and Edit, without background tasks.
func Preset(name string) ([]string, error) {
	switch name {
	case PresetFull:
		return nil, nil
	case PresetMinimal:
		return []string{"Bash", "Read", "Edit"}, nil
	}
	return nil, fmt.Errorf("no preset %q; there are %s and %s", name, PresetFull, PresetMinimal)
}

// Audience is whom tools are offered to.
type Audience string

// The audiences; the zero value is a main agent, which is offered everything.
const (
	AudienceMain Audience = ""
	// AudienceSubagent is an agent that another one started.
	AudienceSubagent Audience = "subagent"
	// AudienceBackground is one that nobody waits for: of what a sub-agent is offered it
	// has the tools that say so and need no person.
	AudienceBackground Audience = "background"
)

// ParseAudience reads the name of an audience; empty and "main" are
// [AudienceMain].
func ParseAudience(name string) (Audience, error) {
	switch a := Audience(name); a {
	case AudienceMain, AudienceSubagent, AudienceBackground:
		return a, nil
	case "main":
		return AudienceMain, nil
	}
	return "", fmt.Errorf("no audience %q; there are main, %s and %s", name, AudienceSubagent, AudienceBackground)
}

// notForSubagents are tools that only whoever speaks with the person may have. No
// plugin of others can take their names.
var notForSubagents = []string{"Agent", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}

// inBackground are the host's own tools that agents in the background may have.
// Others say so themselves.
var inBackground = strings.Fields(`
	Bash Edit Glob Grep LSP NotebookEdit PowerShell Read Skill Sleep StructuredOutput
	TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite ToolSearch
	WebFetch WebSearch Write`)

// admits says why an audience is not to have a tool, or nil.
func (a Audience) admits(t tool) error {
	contract := t.contract()
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
	if builtIn(t) {
		said = slices.Contains(inBackground, contract.Name)
	}
	if !said {
		return abi.Errorf(abi.CodeDisabled, "%s is not for agents in the background", contract.Name)
	}
	return nil
}

// has reports whether a list of tools, if there is one, names this one.
func (o *Offering) has(t *abi.Tool) bool { return len(o.Only) == 0 || among(o.Only, t) }

// among reports whether a tool has one of some names.
func among(names []string, t *abi.Tool) bool {
	return slices.Contains(names, t.Name) ||
		slices.ContainsFunc(t.Aliases, func(alias string) bool { return slices.Contains(names, alias) })
}

// bounds are the most tools and code points that are offered in full.
func (o *Offering) bounds() (tools, chars int) {
	tools, chars = DefaultDeferOverTools, DefaultDeferOverChars
	if o.DeferOverTools > 0 {
		tools = o.DeferOverTools
	}
	if o.DeferOverChars > 0 {
		chars = o.DeferOverChars
	}
	return tools, chars
}
