package lines

import "github.com/toolquay/toolquay/abi"

// knownTool is what the judgement knows of a tool's input. The tools of a host
// say so in their manifests; here no host runs, and rules are written for the
// tools that agents of this field have.
type knownTool struct {
	fields []abi.Field
	// within says that a call has no effect outside the session.
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
	"ListMcpResources": {within: true},
}

// trees are the tools that go into the directories they are given.
var trees = map[string]bool{"LS": true, "Glob": true, "Grep": true}

// escapes is the input field by which a shell tool asks to leave the sandbox.
const escapes = "dangerouslyDisableSandbox"
