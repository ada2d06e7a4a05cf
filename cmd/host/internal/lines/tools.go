package lines

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// knownTool is what the judgement knows of a tool's input. The tools of a host
// say so in their manifests; here no host runs, and rules are written for the
// tools that agents of this field have.
type knownTool struct {
	fields []abi.Field
	// within says that a call uses nothing but the session: see [partOf].
	within bool
}

func reads(name, otherwise string) abi.Field {
	return abi.Field{Name: name, Kind: abi.FieldPath, Effect: "read", Default: otherwise}
}

func writes(name string) abi.Field {
	return abi.Field{Name: name, Kind: abi.FieldPath, Effect: "write"}
}

func one(f abi.Field) knownTool { return knownTool{fields: []abi.Field{f}} }

// knownTools are the tools whose calls are more than a name. Any other tool is
// judged as one that is not read-only and of which nothing else is known.
var knownTools = map[string]knownTool{
	"Read":         one(reads("file_path", "")),
	"NotebookRead": one(reads("notebook_path", "")),
	"LS":           one(reads("path", ".")),
	"Glob":         one(reads("path", ".")),
	"Grep":         one(reads("path", ".")),
	"Write":        one(writes("file_path")),
	"Edit":         one(writes("file_path")),
	"MultiEdit":    one(writes("file_path")),
	"NotebookEdit": one(writes("notebook_path")),
	"Bash":         one(abi.Field{Name: "command", Kind: abi.FieldCommand}),
	"PowerShell":   one(abi.Field{Name: "command", Kind: abi.FieldCommand}),
	"WebFetch":     one(abi.Field{Name: "url", Kind: abi.FieldHost}),

	"TodoWrite": {within: true}, "TaskCreate": {within: true}, "TaskGet": {within: true},
	"TaskUpdate": {within: true}, "TaskList": {within: true}, "TaskOutput": {within: true},
	"TaskStop": {within: true}, "ToolSearch": {within: true}, "Sleep": {within: true},
	"StructuredOutput": {within: true}, "SendUserMessage": {within: true},
	"AskUserQuestion": {within: true}, "EnterPlanMode": {within: true}, "CronList": {within: true},
	"CronCreate": {within: true}, "CronDelete": {within: true}, "EnterWorktree": {within: true}, "ExitWorktree": {within: true},
	"ListMcpResources": {within: true},
}

// partOf is the part of the session that a call of a tool uses: one that lasts beyond it, or one
// that is free, by the tool's name.
func partOf(name string, input json.RawMessage) string {
	switch name {
	case "EnterWorktree":
		return permissions.SessionWorktrees
	case "ExitWorktree":
		var in struct {
			Action  string
			Discard bool `json:"discard_changes"`
		}
		switch err := json.Unmarshal(input, &in); {
		case err != nil, in.Action != abi.WorktreeKeep && in.Discard:
			return permissions.SessionUnsaved
		case in.Action != abi.WorktreeKeep:
			return permissions.SessionWorktrees
		}
	case "CronCreate", "CronDelete":
		return permissions.SessionSchedule
	}
	return name
}

// Toolset is the tools that calls are judged against: those of a host, by their
// contracts, and the usual ones of which only the table above is known.
type Toolset struct {
	byName  map[string]*abi.Tool
	aliases map[string]string
}

// NewToolset makes a set of contracts, which it keeps.
func NewToolset(contracts []*abi.Tool) *Toolset {
	s := &Toolset{byName: make(map[string]*abi.Tool), aliases: maps.Clone(usualAliases)}
	for _, t := range contracts {
		s.byName[t.Name] = t
		for _, alias := range t.Aliases {
			s.byName[alias], s.aliases[alias] = t, t.Name
		}
	}
	return s
}

// usualAliases are the other names of usual tools that no host has yet.
var usualAliases = map[string]string{"Task": "Agent", "SlashCommand": "Skill", "Brief": "SendUserMessage"}

func (s *Toolset) lookup(name string) (*abi.Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Request makes of a call, by any of its tool's names, what is judged.
func (s *Toolset) Request(name string, input json.RawMessage, at host.CommandPlace) (permissions.Request, error) {
	input, err := abi.Canonical(input)
	if t, ok := s.byName[name]; ok && err == nil {
		input, err = t.Renamed(name, input)
	}
	if err != nil {
		return permissions.Request{}, err
	}
	if to, ok := s.aliases[name]; ok {
		name = to
	}
	r, err := request(name, input, at)
	r.Aliases = s.namesOf(name)
	return r, err
}

// namesOf are the aliases of a tool.
func (s *Toolset) namesOf(tool string) []string {
	var out []string
	for alias, to := range s.aliases {
		if to == tool {
			out = append(out, alias)
		}
	}
	slices.Sort(out)
	return out
}

// trees are the tools that go into the directories they are given.
var trees = map[string]bool{"LS": true, "Glob": true, "Grep": true}

// shells are the shells that tools run commands with, by the tools' names.
var shells = map[string]string{"Bash": abi.ShellBash, "PowerShell": abi.ShellPowerShell}

// readsServers is the tool whose calls are those of the MCP server that they name.
const readsServers = "ReadMcpResource"

// escapes is the input field by which a shell tool asks to leave the sandbox.
const escapes = "dangerouslyDisableSandbox"
