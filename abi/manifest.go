package abi

import "encoding/json"

// ManifestVersion is the value of a version 1 manifest's "manifest" key.
const ManifestVersion = 1

// ManifestFile is the name of a folder plugin's manifest.
const ManifestFile = "plugin.toml"

// Manifest is what a plugin says of itself. All of it is a claim: the operator
// may only tighten it. The struct tags name the keys of plugin.toml.
type Manifest struct {
	// Manifest is the version of the format, 1.
	Manifest int `toml:"manifest"`
	// Name identifies the plugin: lower-case letters, digits and hyphens.
	Name string `toml:"name"`
	// Version is the plugin's own, semantic.
	Version     string   `toml:"version"`
	Description string   `toml:"description"`
	Authors     []string `toml:"authors"`
	License     string   `toml:"license"`
	Homepage    string   `toml:"homepage"`
	// Icon is a picture for people, shown beside the tools: a data URI of an image, such
	// as "data:image/svg+xml;base64,...", of at most [MaxIcon] bytes.
	Icon string `toml:"icon"`

	// ABI is "toolquay:host/1" (the default) or "extism".
	ABI string `toml:"abi"`
	// Module is the .wasm file beside a folder plugin's manifest; default
	// "<name>.wasm". A single-file plugin must not set it.
	Module string `toml:"module"`
	// Requires lists optional host features without which the plugin is
	// refused. Version 1 defines none.
	Requires []string `toml:"requires"`
	// Instance says how memory is kept clean.
	Instance InstanceMode `toml:"instance"`
	// Isolation says what walls the plugin runs behind.
	Isolation Isolation `toml:"isolation"`

	Capabilities []CapabilityClaim `toml:"capabilities"`
	Limits       Limits            `toml:"limits"`
	Config       []ConfigKey       `toml:"config"`
	Tools        []Tool            `toml:"tools"`
}

// The values of Manifest.ABI.
const (
	ABIDirect = ImportModule
	ABIExtism = "extism"
)

// InstanceMode says what a call finds in memory.
type InstanceMode string

// The instance modes. Memory is clean for every call but under InstanceKept.
const (
	// InstanceFresh gives every call memory and globals as after a start of its
	// own. Where a start depends on nothing from outside (no clock, no random
	// numbers), the host may put a used instance back to it instead.
	InstanceFresh InstanceMode = "fresh"
	// InstanceReset puts a used instance back to how it was after its start, for
	// plugins whose start is slow: random numbers drawn during the start, such as
	// the seeds of a language's runtime, are the same for every call.
	InstanceReset InstanceMode = "reset"
	// InstanceKept keeps one instance a session, one call at a time.
	InstanceKept InstanceMode = "kept"
)

// Isolation says what walls a plugin runs behind. An operator can demand more
// than a manifest asks for, not less.
type Isolation string

// The isolations.
const (
	// IsolationSandbox is the WebAssembly sandbox within the host's process.
	IsolationSandbox Isolation = "sandbox"
	// IsolationProcess puts the sandbox into a worker process of its own, with
	// limits of the operating system around it.
	IsolationProcess Isolation = "process"
)

// CapabilityClaim is a plugin's request for a capability.
type CapabilityClaim struct {
	// Name is the capability, such as "fs.read".
	Name string `toml:"name" json:"name"`
	// Scope narrows it: for fs and search, path patterns as in permission
	// rules; empty is whatever the operator's rules allow.
	Scope []string `toml:"scope" json:"scope,omitempty"`
	// Reason is shown to the person who is asked to consent.
	Reason string `toml:"reason" json:"reason,omitempty"`
}

// Limits are the bounds a plugin claims to live within. The host's own are
// ceilings: a claim over them is cut, with a note.
type Limits struct {
	// Memory bounds linear memory, such as "64MiB".
	Memory Size `toml:"memory"`
	// Time bounds the guest's own running time in one call, such as "30s".
	// Waiting for capabilities and for people is not counted.
	Time Duration `toml:"time"`
	// Output bounds the whole result of a call.
	Output Size `toml:"output"`
	// LogLines bounds the log lines and progress reports of a call. What is over
	// is counted and dropped, but for the newest progress, ten times a second.
	LogLines int `toml:"log_lines"`
	// CapabilityCalls bounds the capability calls of a call.
	CapabilityCalls int `toml:"capability_calls"`
}

// ConfigKey declares a configuration value the plugin reads.
type ConfigKey struct {
	Name        string `toml:"name"`
	Description string `toml:"description"`
	// Type is what a value may be; without one it may be a string, a number or a
	// boolean.
	Type ConfigType `toml:"type"`
	// Default is used where the operator sets nothing. It is written as a string
	// whatever the type, such as "10".
	Default  string `toml:"default"`
	Required bool   `toml:"required"`
}

// Tool is one tool's contract.
type Tool struct {
	// Name is what the model calls: a letter, then up to 63 letters, digits,
	// underscores or hyphens.
	Name    string   `toml:"name"`
	Aliases []string `toml:"aliases"`
	// Renames map fields of the input that have other names to those of the tool.
	Renames []Rename `toml:"renames"`
	// Summary is one line; Description is the full text for the model.
	Summary     string `toml:"summary"`
	Description string `toml:"description"`
	// InputSchema and OutputSchema are JSON Schemas, written as JSON; the root
	// is an object. An input schema left out is taken from [SectionTools].
	InputSchema  string `toml:"input_schema"`
	OutputSchema string `toml:"output_schema"`
	// Strict asks model APIs that can to hold the model to the schema.
	Strict bool `toml:"strict"`
	// InputExamples are inputs, each a JSON object.
	InputExamples []string `toml:"input_examples"`

	ReadOnly        Trait `toml:"read_only"`
	ConcurrencySafe Trait `toml:"concurrency_safe"`
	Destructive     Trait `toml:"destructive"`
	Enabled         Trait `toml:"enabled"`
	// Validates says that assess may refuse input; Checks, that it may give a
	// verdict. Without them it is not asked.
	Validates bool `toml:"validates"`
	Checks    bool `toml:"checks"`

	Interrupt Interrupt `toml:"interrupt"`
	Cascade   bool      `toml:"cascade"`
	// Locks says how the host knows all that a call touches, so that calls that
	// have nothing in common run side by side; empty is that it does not. It is not
	// for tools that have the capability session.cwd.
	Locks Locks `toml:"locks"`
	// MaxResultChars bounds the result in code points; 0 is the default of
	// 50,000. Unlimited asks for no bound; only the host can grant it.
	MaxResultChars int  `toml:"max_result_chars"`
	Unlimited      bool `toml:"unlimited_result"`

	Defer        bool   `toml:"defer"`
	AlwaysLoad   bool   `toml:"always_load"`
	SearchHint   string `toml:"search_hint"`
	RequiresUser bool   `toml:"requires_user"`
	Background   bool   `toml:"background"`

	// Fields says which input fields are paths, commands or hosts.
	Fields []Field `toml:"fields"`
	// Activity is "search", "read" or "other", for collapsing in displays.
	Activity string `toml:"activity"`
	// Display is the tool's name for people; default its name. Title is the
	// input field shown beside it.
	Display string `toml:"display"`
	Title   string `toml:"title"`
	// Lines are what people are shown of a call behind that name. Renders says that assess
	// has a say in it ([Assessment].Lines, Rendering, ClassifierText), and is asked even
	// where nothing else is to be found out.
	Lines   Lines `toml:"lines" json:",omitzero"`
	Renders bool  `toml:"renders" json:",omitzero"`
	// ClassifierText is a template, like those in Lines, for the text that a judge is shown
	// in place of the input. It may have several lines. Where it is empty, a judge sees the
	// whole input as JSON. For a plugin that is not built in, a judge sees both.
	ClassifierText string `toml:"classifier_text" json:",omitzero"`
	// Export is the Extism export that runs this tool; default its name.
	Export string `toml:"export"`
	// Input names the field whose value an Extism export gets: a string as it is, any
	// other value as JSON, nothing where the field is absent. Empty is the whole input,
	// a JSON object.
	Input string `toml:"input"`
	// Output says how an Extism export answers; empty is text that is JSON too where
	// there is an output schema.
	Output OutputForm `toml:"output"`
	// Capabilities narrows the plugin's claims for this tool. Left out it is all of
	// them, and an empty list none; see [Tool.Uses].
	Capabilities []string `toml:"capabilities"`
}

// OutputForm says what the output of an Extism export is.
type OutputForm string

// The values of Tool.Output.
const (
	// OutputText is text, which the model gets as it is.
	OutputText OutputForm = "text"
	// OutputJSON is a JSON document: the structured answer, and the text.
	OutputJSON OutputForm = "json"
	// OutputMCP is a CallToolResult of the Model Context Protocol.
	OutputMCP OutputForm = "mcp"
)

// Rename says that a field has another name in calls by an alias, or by the tool's own
// name: what they call From is To. A call that has both is refused.
type Rename struct {
	Alias string `toml:"alias"`
	From  string `toml:"from"`
	To    string `toml:"to"`
}

// FieldKind says what an input field holds.
type FieldKind string

// The kinds of field that rules can match.
const (
	FieldPath    FieldKind = "path"
	FieldCommand FieldKind = "command"
	FieldHost    FieldKind = "host"
)

// Field names an input field that permission rules match and displays show.
type Field struct {
	Name string    `toml:"name"`
	Kind FieldKind `toml:"kind"`
	// Effect is "read" or "write", for paths.
	Effect string `toml:"effect"`
	// Default is the value the tool uses where the field is absent, such as
	// "." for the session's cwd; empty means an absent field has no effect.
	Default string `toml:"default"`
}

// Interrupt says what a call does when the user writes something new.
type Interrupt string

// The interrupt traits.
const (
	InterruptCancel Interrupt = "cancel"
	InterruptBlock  Interrupt = "block"
)

// Locks says how the host knows all that a call touches. The host holds a call to
// it: a capability call that touches more is refused.
type Locks string

// The values of Tool.Locks; the zero value says nothing.
const (
	// LocksFields: the fields that are paths, each with its effect, are all. There
	// must be one at least.
	LocksFields Locks = "fields"
	// LocksInput: assess tells (see [Assessment].Touches). An Extism module has none.
	LocksInput Locks = "input"
)

// Trait is a yes-or-no property of a tool: known, or asked per call.
type Trait string

// The values of a trait. The empty trait is the default, TraitFalse, except for
// Tool.Enabled where it is TraitTrue.
const (
	TraitTrue  Trait = "true"
	TraitFalse Trait = "false"
	// TraitDerived is computed by the host from the call's accesses.
	TraitDerived Trait = "derived"
	// TraitInput is asked of the guest's assess for each input.
	TraitInput Trait = "input"
)

// ToolPiece is one JSON object of [SectionTools]: what an SDK's macro knew
// about a tool at compile time. plugin.toml wins where both speak.
type ToolPiece struct {
	Name string `json:"name"`
	// Description is the doc comment of the tool's function.
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// Lines and ClassifierText are as in [Tool].
	Lines          Lines  `json:"lines,omitzero"`
	ClassifierText string `json:"classifier_text,omitempty"`
}
