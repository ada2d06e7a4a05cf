package host

import (
	"encoding/json"

	"github.com/toolquay/toolquay/host/internal/toolset"
)

type (
	// ToolsetOptions set which tools models are offered, and how: Only, Also, Defer, DeferOverTools,
	// DeferOverChars, Strict, Examples.
	ToolsetOptions = toolset.Selection
	// Deferral sets when tools are deferred: listed by name alone, so that a model finds
	// them with ToolSearch first. It applies to tools whose contract says defer, and to
	// those of MCP servers, except for tools whose contract says always_load.
	Deferral = toolset.Deferral
	// Audience is the kind of agent that tools are offered to.
	Audience = toolset.Audience
	// Format is a model API's way of writing tool definitions.
	Format = toolset.Format
	// ToolChoice sets whether a model is to call tools (Type), and which (Name). The zero
	// value leaves it to the API, whose default is [ChooseAuto].
	ToolChoice = toolset.Choice
	// ChoiceType is the kind of a [ToolChoice].
	ChoiceType = toolset.ChoiceType
	// ToolState is what a session's model is told of one tool, or why it is told nothing.
	// It has the contract and Plugin, Deferred, Loaded, Chars and NotOffered.
	ToolState = toolset.State
)

// The default bounds over which tools are deferred.
const (
	DefaultDeferOverTools = toolset.DefaultDeferOverTools
	DefaultDeferOverChars = toolset.DefaultDeferOverChars
)

// The deferrals; the zero value is DeferAuto.
const (
	DeferAuto   = toolset.DeferAuto   // if the offered tools exceed a bound of [ToolsetOptions]
	DeferAlways = toolset.DeferAlways // regardless of the bounds
	DeferNever  = toolset.DeferNever  // the model gets all definitions at once
)

// The names of the presets.
const (
	PresetFull    = toolset.PresetFull
	PresetMinimal = toolset.PresetMinimal
)

// The audiences; the zero value is a main agent, which is offered all tools.
const (
	AudienceMain       = toolset.AudienceMain
	AudienceSubagent   = toolset.AudienceSubagent   // an agent started by another one
	AudienceBackground = toolset.AudienceBackground // a sub-agent that nobody waits for
)

// The formats.
const (
	FormatAnthropic = toolset.FormatAnthropic // Anthropic Messages API
	FormatOpenAI    = toolset.FormatOpenAI    // OpenAI Chat Completions API
	FormatResponses = toolset.FormatResponses // OpenAI Responses API
	FormatGemini    = toolset.FormatGemini    // Gemini API, generateContent
	FormatMCP       = toolset.FormatMCP       // Model Context Protocol, tools/list
)

// The tool choices.
const (
	ChooseAuto = toolset.ChooseAuto // the model may answer or call tools
	ChooseAny  = toolset.ChooseAny  // it must call at least one tool
	ChooseNone = toolset.ChooseNone // it must call none
	ChooseTool = toolset.ChooseTool // it must call the named one
)

// ParseDeferral parses the name of a deferral; empty is [DeferAuto].
func ParseDeferral(name string) (Deferral, error) { return toolset.ParseDeferral(name) }

// Preset returns the list of tools with a name, for [ToolsetOptions].Only: full is all tools,
// minimal is Bash, Read and Edit, without background tasks.
func Preset(name string) ([]string, error) { return toolset.Preset(name) }

// ParseAudience parses the name of an audience; empty and "main" are [AudienceMain].
func ParseAudience(name string) (Audience, error) { return toolset.ParseAudience(name) }

// Formats lists all formats.
func Formats() []Format { return toolset.Formats() }

// ParseToolChoice parses a choice: auto, any, none, or tool:NAME. Empty is the zero value.
func ParseToolChoice(text string) (ToolChoice, error) { return toolset.ParseChoice(text) }

// Definitions returns the definitions of the tools that a session offers its model, for
// an API: tools that can be called now, are for this session's audience, and are not
// denied as a whole. Their order depends on nothing else: the same tools give the same
// bytes. While a turn runs, the definitions are those of the next one.
//
// Deferred tools (see [ToolsetOptions]) are marked as such for [FormatAnthropic], whose API
// hides them from the model until a result refers to them. For other formats they are
// left out until they were loaded, so clients should ask for the definitions before each
// message to the model. Once a session was asked, a call of a tool that its model cannot
// know yet is refused, with a message on how to load it.
//
// With [ToolsetOptions].Strict, tools whose contract says so are strict, as many as the API
// takes: for [FormatAnthropic] 20, with 24 optional properties and 16 unions in all.
// Built-in tools come before others, and tools with fewer optional properties before
// tools with more. Their schemas are rewritten to the API's rules, and bounds that it
// does not take are moved to descriptions. A tool whose schema cannot be rewritten so is
// not strict.
//
// [Session.Request] returns the list with a tool choice.
func (s *Session) Definitions(format Format) (json.RawMessage, error) {
	set, err := s.core.Tools.Offer(s.core.Next(), format)
	if err != nil {
		return nil, err
	}
	return set.Tell(&s.core.Tools.Known)
}

// Request returns the part of a request to a model API that is about tools: an object
// with tools, as [Session.Definitions] returns them, and tool_choice or, for
// [FormatGemini], toolConfig. A choice that no offered tool fits is an error, as is any
// for [FormatMCP]. If no tool is offered the object is empty: APIs refuse an empty list,
// and a choice without tools.
func (s *Session) Request(format Format, choice ToolChoice) (json.RawMessage, error) {
	set, err := s.core.Tools.Offer(s.core.Next(), format)
	if err != nil {
		return nil, err
	}
	return set.Request(choice, &s.core.Tools.Known)
}

// Tools lists all tools, offered or not, in the order in which models are told of them,
// with the sizes of their definitions in a format. It does not count as telling the model
// (see [Session.Definitions]).
func (s *Session) Tools(format Format) ([]ToolState, error) {
	v := s.core.Next()
	set, err := s.core.Tools.Offer(v, format)
	if err != nil {
		return nil, err
	}
	return set.States(s.core.Tools.List(v), &s.core.Tools.Known), nil
}
