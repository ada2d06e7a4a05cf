package toolset

import (
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// Selection says which tools models are offered, and how.
type Selection struct {
	// Only are the names or aliases of the tools that are offered; empty is all. Calls of
	// other tools are refused. [Preset] has common lists. If TaskOutput or TaskStop is not
	// in the list, no command runs in the background: nobody could read or end it.
	Only []string
	// Also are the names or aliases of tools that are off by default, such as SendUserMessage,
	// and are offered besides.
	Also []string
	// Defer sets when tools are deferred: listed by name alone, so that a model finds them
	// with ToolSearch first. A session that has begun to defer continues to, and a tool
	// whose definition the model has been given is not deferred later.
	Defer Deferral
	// DeferOverTools and DeferOverChars are the bounds of [DeferAuto]: the number of tools,
	// and of code points in their definitions; 0 is the default.
	DeferOverTools, DeferOverChars int
	// Strict asks model APIs to enforce the schemas of tools whose contract says strict.
	// Examples adds the tools' input examples, in the description if an API has no field
	// for them.
	Strict, Examples bool
}

// The default bounds over which tools are deferred.
const (
	DefaultDeferOverTools = 40
	DefaultDeferOverChars = 30_000
)

// Deferral sets when tools are deferred. It applies to tools whose contract says defer,
// and to those of MCP servers, except for tools whose contract says always_load.
type Deferral string

// The deferrals; the zero value is DeferAuto.
const (
	// DeferAuto defers if the offered tools exceed a bound of [Selection].
	DeferAuto Deferral = "auto"
	// DeferAlways defers regardless of the bounds.
	DeferAlways Deferral = "always"
	// DeferNever gives the model all definitions at once.
	DeferNever Deferral = "never"
)

// Deferrals lists all deferrals.
func Deferrals() []Deferral { return []Deferral{DeferAuto, DeferAlways, DeferNever} }

// ParseDeferral parses the name of a deferral; empty is [DeferAuto].
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

// Preset returns the list of tools with a name, for [Selection].Only: full is all tools,
// minimal is Bash, Read and Edit, without background tasks.
func Preset(name string) ([]string, error) {
	switch name {
	case PresetFull:
		return nil, nil
	case PresetMinimal:
		return []string{"Bash", "Read", "Edit"}, nil
	}
	return nil, fmt.Errorf("no preset %q; there are %s and %s", name, PresetFull, PresetMinimal)
}

// Has reports whether Only names a tool, or is empty, or Also names it.
func (o *Selection) Has(t *abi.Tool) bool {
	return len(o.Only) == 0 || among(o.Only, t) || o.Adds(t)
}

// Adds reports whether Also names a tool.
func (o *Selection) Adds(t *abi.Tool) bool { return among(o.Also, t) }

// bounds are the largest number of tools, and of code points, offered without deferral.
func (o *Selection) bounds() (tools, chars int) {
	tools, chars = DefaultDeferOverTools, DefaultDeferOverChars
	if o.DeferOverTools > 0 {
		tools = o.DeferOverTools
	}
	if o.DeferOverChars > 0 {
		chars = o.DeferOverChars
	}
	return tools, chars
}
