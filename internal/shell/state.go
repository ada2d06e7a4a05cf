package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// maxDirs is how many directories the shell may be in before it counts as not
// known where it is.
const maxDirs = 8

// state is the shell between two commands. It is a value: a subshell gets a
// copy.
type state struct {
	// dirs are all the directories it may be in, as a cd may fail; none if that
	// is not known. The first is the one where every command has succeeded.
	dirs []string
	// forked says that success alone does not tell which of dirs it is.
	forked bool
	// stack is what pushd has kept.
	stack *pushed
	// away is what may have led out of the working directories; empty is nothing.
	away string
	// rehomed says that HOME or CDPATH may have been set.
	rehomed bool
	// shaken says what changed the shell so that a name may mean something else
	// from here on; it is empty if nothing has.
	shaken string
	// vars are the variables whose values are known. They are not changed in place.
	vars []variable
}

// pushed is one entry of the directory stack.
type pushed struct {
	dirs []string
	next *pushed
}

// outcome is the state after a command, by how it ended.
type outcome struct{ ok, failed state }

func always(s state) outcome { return outcome{s, s} }

// either is the state where the command may have ended both ways.
func (o *outcome) either() state { return join(o.ok, o.failed) }

// join is what is known where one of two states holds. The first is the one
// that is met if all goes well.
func join(a, b state) state {
	a.dirs = unite(a.dirs, b.dirs)
	a.forked = a.forked || b.forked
	a.away = cmp.Or(a.away, b.away)
	a.rehomed = a.rehomed || b.rehomed
	a.vars = common(a.vars, b.vars)
	if a.shaken == "" {
		a.shaken = b.shaken
	}
	if a.stack != b.stack {
		a.stack = &pushed{}
	}
	return a
}

// fork is join where neither state is the usual one.
func fork(a, b state) state {
	forked := len(a.dirs) == 0 || len(b.dirs) == 0 || a.dirs[0] != b.dirs[0]
	a = join(a, b)
	a.forked = a.forked || forked
	return a
}

func unite(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	out := slices.Clip(a)
	for _, dir := range b {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}

// lost is the state when the shell may be anywhere.
func (s state) lost() state {
	s.dirs, s.stack, s.away = nil, &pushed{}, cmp.Or(s.away, "what may have moved the shell elsewhere")
	return s
}

// shake notes that names may mean something else from now on.
func (s state) shake(why string) state {
	if s.shaken == "" {
		s.shaken = why
	}
	return s
}

// end is the directory at the end of it all, empty if it cannot be told.
func (s *state) end() string {
	if s.forked || len(s.dirs) == 0 {
		return ""
	}
	return s.dirs[0]
}

// enter is the state after a cd to a name that is literal. Like bash's, it is
// lexical: a/.. is where the shell was, even if a is a link.
func (a *analysis) enter(s state, name string) (state, bool) {
	var dirs []string
	for _, dir := range s.dirs {
		if strings.HasPrefix(name, "/") {
			dir = "/"
		} else if s.rehomed && !dotted(name) {
			return s, false // CDPATH may say where
		}
		dirs = including(dirs, path.Join(dir, name))
	}
	if len(s.dirs) == 0 && strings.HasPrefix(name, "/") {
		dirs = []string{path.Clean(name)}
	}
	if len(dirs) == 0 {
		return s, false
	}
	s.dirs, s.forked = dirs, s.forked && len(dirs) > 1
	for _, dir := range dirs {
		if s.away == "" && !a.working(dir) {
			s.away = "a cd that led out of the working directories"
		}
	}
	return s, true
}

func including(dirs []string, dir string) []string {
	if slices.Contains(dirs, dir) {
		return dirs
	}
	return append(dirs, dir)
}

// dotted reports whether a name starts at . or .., where CDPATH has no say.
func dotted(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first == "." || first == ".."
}

// working reports whether a directory is one that may be entered unasked.
func (a *analysis) working(dir string) bool {
	dir = a.lies(dir)
	if within(dir, a.at.Cwd) || within(dir, a.at.scratch.Dir) {
		return true
	}
	return slices.ContainsFunc(a.at.Working, func(w string) bool { return within(dir, w) })
}

// within reports whether a clean path is a directory or below it.
func within(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/' || dir == "/")
}

// home is where ~ leads, empty if that is not known.
func (a *analysis) home(s *state) string {
	if s.rehomed {
		return ""
	}
	return a.at.Home
}
