package plugins

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Plugin is one plugin that was found, whether or not it can be used. It is
// immutable: where its files change, a [Set.Reload] finds another.
type Plugin struct {
	// Name is the manifest's, or the file's where the manifest cannot be read.
	Name   string
	Origin Origin
	// Path is where it was found, for people.
	Path string
	// Limits are the ones in force.
	Limits Limits
	// Notes are worth knowing and no problem, such as limits that were cut.
	Notes []string

	problem    error // beside the other plugins of its set
	generation *generation
	tools      []Tool
}

func newPlugin(g *generation) *Plugin {
	p := new(Plugin)
	p.init(g)
	return p
}

// init fills in a new plugin, which may have room for its tools.
func (p *Plugin) init(g *generation) {
	p.Name, p.Origin, p.Path = g.name(), g.found.Origin, g.found.Path
	p.Limits, p.Notes = g.limits, g.notes
	p.problem, p.generation = g.problem, g
	if g.finding == nil {
		return
	}
	n := len(g.finding.Summary.Tools)
	p.tools = slices.Grow(p.tools, n)[:n]
	for i := range p.tools {
		p.tools[i].Plugin, p.tools[i].index = p, i
	}
}

// with is the plugin with another problem, itself where that is the same.
func (p *Plugin) with(problem error) *Plugin {
	if text(problem) == text(p.problem) {
		return p
	}
	other := newPlugin(p.generation)
	other.problem = problem
	return other
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Problem says why the plugin offers nothing; nil where it does.
func (p *Plugin) Problem() error {
	if p.problem != nil {
		return p.problem
	}
	if fault := p.generation.fault.Load(); fault != nil {
		return *fault
	}
	return nil
}

// Manifest is what the plugin says of itself, read when it is first asked for.
// It is nil where it cannot be read, which is then the plugin's Problem.
func (p *Plugin) Manifest() *abi.Manifest {
	m, _ := p.generation.manifest()
	return m
}

// ToolNames lists the names and aliases of the plugin's tools, as far as they
// are known, without reading its manifest.
func (p *Plugin) ToolNames() []string {
	if p.generation.finding == nil {
		return nil
	}
	return slices.Clone(p.generation.finding.Summary.ToolNames())
}

// Command is a toolquay command about the plugin, with these arguments. A plugin that was
// named for this run is named again in it: it would not be found otherwise.
func (p *Plugin) Command(args string) string { return p.generation.found.Command(args) }

// Fingerprint is what a grant is pinned to: the SHA-256, in hexadecimal, of the
// SHA-256 of the module followed by that of the manifest.
func (p *Plugin) Fingerprint() (string, error) { return p.generation.fingerprint() }

// sameAs reports whether two plugins are the same, byte for byte.
func (p *Plugin) sameAs(q *Plugin) bool {
	a, errA := p.Fingerprint()
	b, errB := q.Fingerprint()
	return errA == nil && errB == nil && a == b
}

// Declares reports whether the plugin's manifest asks for a capability for a
// tool, and returns its scope.
func (p *Plugin) Declares(tool *abi.Tool, capability string) (abi.CapabilityClaim, bool) {
	if !tool.Uses(capability) {
		return abi.CapabilityClaim{}, false
	}
	m := p.Manifest()
	if m == nil {
		return abi.CapabilityClaim{}, false
	}
	i := slices.IndexFunc(m.Capabilities, func(c abi.CapabilityClaim) bool { return c.Name == capability })
	if i < 0 {
		return abi.CapabilityClaim{}, false
	}
	return m.Capabilities[i], true
}

// Undeclared is the error for a capability that a manifest does not give a tool: with
// the tools that it is declared for, where there are others. The manifest may be nil.
func Undeclared(m *abi.Manifest, tool, capability string) error {
	if m == nil || !slices.ContainsFunc(m.Capabilities, func(c abi.CapabilityClaim) bool { return c.Name == capability }) {
		return abi.Errorf(abi.CodeUndeclared, "%s asked for %s, which its manifest does not declare: add it to [[capabilities]] in %s",
			tool, capability, abi.ManifestFile)
	}
	var others []string
	for i := range m.Tools {
		if t := &m.Tools[i]; t.Uses(capability) {
			others = append(others, t.Name)
		}
	}
	declared := "for none of its tools"
	if len(others) > 0 {
		declared = "for " + strings.Join(others, ", ") + ", not for " + tool
	}
	return abi.Errorf(abi.CodeUndeclared, "%s asked for %s, which its manifest declares %s: add it to capabilities of [[tools]] %s in %s",
		tool, capability, declared, tool, abi.ManifestFile)
}

// Config is the plugin's configuration: the operator's values over the
// manifest's defaults.
func (p *Plugin) Config() map[string]json.RawMessage { return p.generation.config }
