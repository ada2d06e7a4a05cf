package permissions

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// shifts tells which paths of a command may lead elsewhere when they are reached than when they were
// resolved, before any part has run: one part may put a link in a place, which another part follows.
//
// It knows the parts that put links in known places: mv, ln, cp -r. No rule on paths covers the
// targets of such links. A part that is not known in full (make, git checkout) runs because a rule
// allows it to do anything; it could have read itself what a later part reads.
type shifts struct {
	policy *Policy
	parts  []Part
	fold   bool
	// planted are the places where there may be a new link.
	planted map[string]planted
}

// planted is a place that a part writes, or several.
type planted struct {
	by int
	// below says that the place itself is no link, but that there may be links below it.
	below bool
}

// several stands for more parts than one.
const several = -1

func newShifts(p *Policy, cmd *Command, fold bool) shifts {
	s := shifts{policy: p, parts: cmd.Parts, fold: fold}
	for i := range cmd.Parts {
		part := &cmd.Parts[i]
		if !plantsLinks(part) {
			continue
		}
		at := planted{by: i, below: movesNoLink(part)}
		for j := range part.Accesses {
			if a := &part.Accesses[j]; a.Kind == AccessWrite {
				s.plant(a.Target, at)
				s.plant(a.Real, at)
			}
		}
	}
	return s
}

// plant notes a place where a part may put a link. The working directory and those above it do not
// count: the shell is in there already.
func (s *shifts) plant(name string, at planted) {
	name = s.key(name)
	if name == "" || s.aboveCwd(name) {
		return
	}
	if s.planted == nil {
		s.planted = make(map[string]planted)
	}
	if other, ok := s.planted[name]; ok {
		at.below = at.below && other.below
		if at.by != other.by {
			at.by = several
		}
	}
	s.planted[name] = at
}

// movesNoLink reports whether what a part moves or copies is known to be no link
// itself.
func movesNoLink(p *Part) bool {
	switch path.Base(p.Words[0].Text) {
	case "mv", "cp":
		return !slices.ContainsFunc(p.Accesses, func(a Access) bool { return a.Real != a.Target || a.Glob != "" })
	}
	return false
}

func (s *shifts) key(name string) string {
	if name = filepath.ToSlash(name); s.fold {
		return paths.Fold(name)
	}
	return name
}

// aboveCwd reports whether a path is the session's directory or above it.
func (s *shifts) aboveCwd(name string) bool {
	return slices.ContainsFunc(slashed(s.policy.places.cwd), func(cwd string) bool {
		_, ok := paths.Below(strings.TrimSuffix(name, "/"), s.key(cwd))
		return ok
	})
}

// maybeLink reports whether another part may have put a link on the way to a path of the part at
// index i before it is reached. If there were links on the way before, they may lead through any
// new one.
func (s *shifts) maybeLink(i int, a *Access) bool {
	if len(s.planted) == 0 {
		return false
	}
	for _, name := range []string{s.key(a.Target), s.key(a.Real)} {
		for at := name; strings.Contains(at, "/") && at != "/"; at = path.Dir(at) {
			if there, ok := s.planted[at]; ok && s.before(there.by, i) && (at != name || !there.below || a.Tree) {
				return true
			}
		}
	}
	return a.Real != a.Target && s.anyBefore(i)
}

// anyBefore reports whether any part that plants links may have run before.
func (s *shifts) anyBefore(i int) bool {
	for _, there := range s.planted {
		if s.before(there.by, i) {
			return true
		}
	}
	return false
}

// before reports whether a part that plants links may have run when part i does.
func (s *shifts) before(by, i int) bool {
	p := &s.parts[i]
	switch {
	case by == several, p.Again:
		return true
	case by == i:
		return false
	}
	return by < i || p.Beside
}

// plantsLinks reports whether a part may put links where it writes. Without flags cp copies the
// target of a link, and opening a file to write makes no link.
func plantsLinks(p *Part) bool {
	if len(p.Words) == 0 {
		return false
	}
	switch path.Base(p.Words[0].Text) {
	case "mv", "ln", "link":
		return true
	case "cp":
		return slices.ContainsFunc(p.Words[1:], mayKeepLinks)
	}
	return false
}

// mayKeepLinks reports whether a word may be a flag with which cp copies links as
// links.
func mayKeepLinks(w Word) bool {
	letters, dashed := strings.CutPrefix(w.Text, "-")
	if !dashed {
		return !w.Literal
	}
	return strings.Trim(letters, "finpTtuv") != "" && letters != "-"
}
