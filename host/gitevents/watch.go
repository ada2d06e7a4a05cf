package gitevents

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// Watch is a command that is watched from before it runs. What it prints anybody may
// have it print, as a file that it shows; where HEAD is only git says.
type Watch struct {
	command  permissions.Command
	programs []program
	dir      string
	before   head
	// proves says that HEAD shows whether anything has moved it, and once that only one
	// thing was to.
	proves, once bool
}

// Begin looks at what a command is to be compared with, which begins in a directory.
func Begin(command permissions.Command, dir string) *Watch {
	w := &Watch{command: command, programs: programsOf(command), dir: dir}
	last, count := 0, 0
	for i, p := range w.programs {
		switch {
		case p.name != "git":
		case slices.Contains(movers, p.sub):
			if count++; p.again {
				count++
			}
			last = i
		}
	}
	goesBack := slices.ContainsFunc(w.programs[last:], func(p program) bool { return p.name == "git" && slices.Contains(back, p.sub) })
	if count == 0 || goesBack || elsewhere(&w.command) {
		return w
	}
	w.before, w.proves = headOf(dir)
	w.once = count == 1
	return w
}

// Deeds tells what the command did; see [Recognise].
func (w *Watch) Deeds(exit int, output []byte) []capability.Deed {
	if len(w.programs) == 0 {
		return nil
	}
	signs := readSigns(output)
	after, known := headOf(w.dir)
	if !w.proves || !known {
		return recognise(w.command, w.programs, exit, signs)
	}
	if w.once {
		signs.commits = slices.DeleteFunc(signs.commits, func(s commitSign) bool { return !strings.HasPrefix(after.hash, s.hash) })
	}
	deeds := recognise(w.command, w.programs, exit, signs)
	if after.hash == w.before.hash {
		return slices.DeleteFunc(deeds, func(d capability.Deed) bool { return slices.Contains(moves, d.Kind) })
	}
	if w.once {
		for i := range deeds {
			standsAt(&deeds[i], after)
		}
	}
	return deeds
}

// moves are the deeds that move HEAD, and movers the sub-commands that do them; back are
// others that move it, to where it may have been before.
var (
	moves = []capability.DeedKind{
		capability.DeedCommit, capability.DeedAmend, capability.DeedMerge, capability.DeedRebase, capability.DeedCherryPick,
	}
	movers = []string{"commit", "revert", "cherry-pick", "merge", "pull", "rebase"}
	back   = []string{"reset", "checkout", "switch", "update-ref", "symbolic-ref", "bisect", "am", "stash"}
)

// elsewhere reports whether a command may work in another repository than that of the
// directory where it begins.
func elsewhere(c *permissions.Command) bool {
	return slices.ContainsFunc(c.Parts, func(part permissions.Part) bool {
		return len(part.Words) > 0 && slices.Contains([]string{"cd", "pushd", "popd", "env", "sudo", "doas", "chroot"}, part.Words[0].Text) ||
			slices.ContainsFunc(part.Env, func(name string) bool { return strings.HasPrefix(name, "GIT_") }) ||
			slices.ContainsFunc(part.Words, func(w permissions.Word) bool {
				return w.Text == "-C" || strings.HasPrefix(w.Text, "--git-dir") || strings.HasPrefix(w.Text, "--work-tree")
			})
	})
}

// standsAt says where HEAD is after a deed that moved it.
func standsAt(d *capability.Deed, at head) {
	if !slices.Contains(moves, d.Kind) {
		return
	}
	const short = 7
	if d.Commit == "" || !strings.HasPrefix(at.hash, d.Commit) {
		d.Commit = at.hash[:min(short, len(at.hash))]
	}
	if d.Kind != capability.DeedMerge { // whose branch is the one that was merged
		d.Branch = at.branch
	}
}
