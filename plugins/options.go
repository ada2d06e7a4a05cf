package plugins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// Options say where plugins are and what runs them.
type Options struct {
	Sources []Source
	// Runners run the modules, one for each ABI. The set closes them.
	Runners []Runner
	// Isolated run the modules of plugins that run in a process of their own, one
	// for each ABI. The set closes them.
	Isolated []Runner
	// Isolate demands a process of its own of every plugin that is not built in.
	Isolate bool
	// CacheDir keeps an index of what was found, so that the next process need
	// not read every manifest; empty keeps none.
	CacheDir string
	// Grants holds what people granted; nil holds nothing.
	Grants *Grants
	// Granted names plugins whose capabilities the operator grants for this run;
	// those of a project need a grant on record all the same.
	Granted []string
	// Ceilings bound what manifests can ask for; zero fields are
	// [DefaultCeilings].
	Ceilings Limits
	// Capabilities are the operations this host has. A plugin that declares
	// another is refused.
	Capabilities []string
	// Reserved are names of tools that no plugin may take but one that is built
	// in; those of tools that this product has or will have are always reserved.
	Reserved []string
	// Config holds configuration values by plugin and key. See [Set.Configure].
	Config map[string]map[string]json.RawMessage
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// runnerFor picks what runs a plugin, behind the walls that it or the operator
// asks for. What is built in always runs in the host's own process.
func (o *Options) runnerFor(origin Origin, s *discovery.Summary) (Runner, error) {
	runners, where := o.Runners, ""
	if origin != OriginBuiltin && (o.Isolate || s.Isolation == abi.IsolationProcess) {
		runners, where = o.Isolated, " in a process of its own"
	}
	var have []string
	for _, r := range runners {
		if r.ABI() == s.ABI {
			return r, nil
		}
		have = append(have, r.ABI())
	}
	switch {
	case where == "":
		return nil, abi.Errorf(abi.CodeUnsupported, "it needs the ABI %q; this host runs %s", s.ABI, cmp.Or(strings.Join(have, ", "), "none"))
	case o.Isolate:
		where += ", which settings demand of every plugin"
	default:
		where += `, which its manifest asks for (isolation = "process")`
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "it needs the ABI %q%s; this host runs %s so", s.ABI, where, cmp.Or(strings.Join(have, ", "), "none"))
}

func (o *Options) knows(origin Origin, capabilities []string) error {
	var unknown []string
	if origin != OriginBuiltin {
		if closed := slices.DeleteFunc(slices.Clone(capabilities), func(c string) bool { return !abi.Closed(c) }); len(closed) > 0 {
			return abi.Errorf(abi.CodeUnsupported, "it declares capabilities that only tools in the box may have (%s); take them out of the manifest", strings.Join(closed, ", "))
		}
	}
	for _, c := range capabilities {
		if !slices.Contains(o.Capabilities, c) {
			unknown = append(unknown, fmt.Sprintf("%q", c))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return abi.Errorf(abi.CodeUnsupported, "it declares capabilities this host does not have (%s); it has %s",
		strings.Join(unknown, ", "), cmp.Or(strings.Join(o.Capabilities, ", "), "none"))
}
