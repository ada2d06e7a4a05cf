package plugins

import (
	"path"

	"github.com/toolquay/toolquay/abi"
)

// summary is what must be known of a manifest to settle which plugin offers
// what. It is kept in the discovery index, so that a manifest is parsed when its
// plugin is used and not whenever a process starts.
type summary struct {
	name      string
	abi       string
	isolation abi.Isolation
	// module is the name of the module's file, beside the manifest or around it.
	module       string
	limits       abi.Limits
	capabilities []string
	config       []abi.ConfigKey
	// tools holds for each tool its name, then its aliases.
	tools [][]string
}

func summarise(m *abi.Manifest, module string) summary {
	s := summary{
		name: m.Name, abi: or(m.ABI, abi.ABIDirect), isolation: m.Isolation,
		module: path.Base(module), limits: m.Limits, config: m.Config,
		tools: make([][]string, len(m.Tools)),
	}
	for _, c := range m.Capabilities {
		s.capabilities = append(s.capabilities, c.Name)
	}
	for i := range m.Tools {
		s.tools[i] = append([]string{m.Tools[i].Name}, m.Tools[i].Aliases...)
	}
	return s
}

// toolNames lists every name and alias.
func (s *summary) toolNames() []string {
	if len(s.tools) == 1 {
		return s.tools[0]
	}
	var all []string
	for _, names := range s.tools {
		all = append(all, names...)
	}
	return all
}
