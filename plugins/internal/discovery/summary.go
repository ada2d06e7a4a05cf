package discovery

import (
	"cmp"
	"path"

	"github.com/toolquay/toolquay/abi"
)

// Summary is what must be known of a manifest to settle which plugin offers
// what. It is kept in the discovery index, so that a manifest is parsed when its
// plugin is used and not whenever a process starts.
type Summary struct {
	Name      string
	ABI       string
	Isolation abi.Isolation
	// Module is the name of the module's file, beside the manifest or around it.
	Module       string
	Limits       abi.Limits
	Capabilities []string
	Config       []abi.ConfigKey
	// Tools holds for each tool its name, then its aliases.
	Tools [][]string
}

// Summarise is the summary of a manifest, whose module has a name.
func Summarise(m *abi.Manifest, module string) Summary {
	s := Summary{
		Name: m.Name, ABI: cmp.Or(m.ABI, abi.ABIDirect), Isolation: m.Isolation,
		Module: path.Base(module), Limits: m.Limits, Config: m.Config,
		Tools: make([][]string, len(m.Tools)),
	}
	for _, c := range m.Capabilities {
		s.Capabilities = append(s.Capabilities, c.Name)
	}
	for i := range m.Tools {
		s.Tools[i] = append([]string{m.Tools[i].Name}, m.Tools[i].Aliases...)
	}
	return s
}

// ToolNames lists every name and alias.
func (s *Summary) ToolNames() []string {
	if len(s.Tools) == 1 {
		return s.Tools[0]
	}
	var all []string
	for _, names := range s.Tools {
		all = append(all, names...)
	}
	return all
}
