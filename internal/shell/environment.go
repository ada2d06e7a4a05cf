package shell

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// Environment lists the environment under which a command that was judged
// read-only must run to be so: NAME=value is to be set, a bare NAME not to be. The
// rest of the environment is to come from a list of names that are allowed.
//
// A name of the form BASH_FUNC_NAME%% is a function of bash, in the place of the program
// NAME. All of them do for every command. As bash parses each at its start, whoever runs
// a command may leave those out that [Needs] says the command cannot call.
func Environment() []string { return programs.Environment() }

// Needs reports whether a setting of [Environment] is to be set for a command: all are
// but functions that its shell, and the shells that it starts, look up under no
// circumstances. A command that is not known in full needs all.
func Needs(c *permissions.Command, setting string) bool {
	function, is := strings.CutPrefix(setting, "BASH_FUNC_")
	name, _, _ := strings.Cut(function, "%%=")
	return !is || Calls(c, name)
}

// Calls reports whether the shell of a command, or one that it starts, may look up one of
// these names, as that of a built-in, a function or a program.
func Calls(c *permissions.Command, names ...string) bool {
	return c.Fault != "" || slices.ContainsFunc(c.Parts, func(part permissions.Part) bool {
		if len(part.Words) == 0 {
			return !part.Complete
		}
		return !part.Words[0].Literal || slices.Contains(names, part.Words[0].Text)
	})
}
