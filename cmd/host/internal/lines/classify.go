package lines

import (
	"io"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// Command is a line for [Classify].
type Command struct {
	Command *string `json:"command"`
	// Cwd and Home are where it would run, for relative paths; by default what
	// Classify was given.
	Cwd  string `json:"cwd"`
	Home string `json:"home"`
}

// Effects is the answer to a [Command].
type Effects struct {
	ReadOnly bool `json:"read_only"`
	// Where is "sandbox" where it is only read-only because a sandbox lets it read no other
	// files than may be read unasked, write nothing and reach no host; else empty.
	Where    string   `json:"where,omitempty"`
	Reason   string   `json:"reason"`
	Accesses []Access `json:"accesses"`
}

// Access is one effect: fs.read, fs.write, exec or net, and on what.
type Access struct {
	Kind    permissions.AccessKind `json:"kind"`
	Target  string                 `json:"target"`
	Tree    bool                   `json:"tree,omitempty"`
	Links   bool                   `json:"links,omitempty"`
	Removal bool                   `json:"removal,omitempty"`
}

// Classify reads commands and writes what they would do; at is where lines that
// do not say run. Only reading and writing fail.
func Classify(in io.Reader, out io.Writer, at host.CommandPlace) error {
	_, err := each(in, out, func(line []byte) (any, error) {
		var c Command
		if err := abi.Unmarshal(line, &c); err != nil {
			return nil, err
		}
		if c.Command == nil {
			return nil, abi.Errorf(abi.CodeInvalidInput, `it has no "command"`)
		}
		place := at
		if c.Cwd != "" {
			place = host.CommandPlace{Cwd: c.Cwd, Home: c.Home}
		} else if c.Home != "" {
			place.Home = c.Home
		}
		if err := checkPlace(place.Cwd, place.Home); err != nil {
			return nil, err
		}
		return effectsOf(host.AnalyseCommand(abi.ShellBash, *c.Command, place)), nil
	})
	return err
}

func effectsOf(c permissions.Command) Effects {
	e := Effects{ReadOnly: c.ReadOnly, Reason: c.Reason, Accesses: []Access{}}
	if !c.ReadOnly && c.ReadOnlyConfined {
		e.ReadOnly, e.Where = true, "sandbox"
		e.Reason = "it only reads where it can write nothing, reach no host and see no more than may be read unasked"
	}
	if c.Fault != "" {
		e.Reason = c.Fault
	}
	for _, a := range c.Accesses() {
		e.Accesses = append(e.Accesses, Access{Kind: a.Kind, Target: a.Target, Tree: a.Tree, Links: a.Links, Removal: a.Removal})
	}
	return e
}
