package permissions

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// folders are the directories of a session, as rules and modes see them.
type folders struct {
	places places
	// working are the names of the working directories, and workingReal where they
	// really are.
	working, workingReal []string
	// session and temp are the names of the session's folders, planFile those of the plan
	// file.
	session, temp, planFile []string
	// critical are the directories whose removal asks in every mode, besides / and its
	// children.
	critical []string
}

// newFolders takes the directories of a setup.
func newFolders(s *Setup) folders {
	p := folders{
		places:  places{home: s.Home, start: s.Cwd, cwd: s.Cwd, fold: s.FoldCase, resolve: s.Resolve},
		session: slashed(s.SessionFolder), temp: slashed(s.TempFolder), planFile: slashed(s.PlanFile),
	}
	if w := &s.Worktree; w.Main.Path != "" {
		p.places.start = w.Start
		p.places.moved = pathrule.Moved{From: slashed(w.Main), To: cmp.Or(last(slashed(s.Cwd))[0], "/")}
	}
	p.work(s.Cwd)
	p.work(s.Additional...)
	p.critical = criticalPaths(&p.places)
	return p
}

// newGuards makes the protected paths of a setup.
func newGuards(s *Setup) protected.Paths {
	host := make([][]string, len(s.HostFolders))
	for i, dir := range s.HostFolders {
		host[i] = dir.forms()
	}
	all := protected.Paths{Index: protected.New(s.Home.forms(), s.Sessions.forms(), host), Session: slashed(s.SessionFolder)}
	for _, dir := range s.Skills {
		all.Publish(slashed(dir))
	}
	if s.Worktree.Own {
		all.Open(slashed(s.Cwd))
	}
	return all
}

// work adds working directories.
func (p *folders) work(dirs ...Dir) {
	for _, d := range dirs {
		if forms := slashed(d); len(forms) > 0 {
			p.working = append(p.working, forms...)
			p.workingReal = append(p.workingReal, forms[len(forms)-1])
		}
	}
}

// inside and insideReal report whether a path is in the working directories, or in the
// folder for temporary files, which counts as one: by its name and as it really is.
func (p *folders) inside(path string) bool {
	return paths.InsideAny(p.working, path) || paths.InsideAny(p.temp, path)
}

func (p *folders) insideReal(path string) bool {
	return paths.InsideAny(p.workingReal, path) || paths.InsideAny(last(p.temp), path)
}

// readable and readableReal report whether it is there or in the session's
// folders.
func (p *folders) readable(path string) bool {
	return p.inside(path) || paths.InsideAny(p.session, path)
}

func (p *folders) readableReal(path string) bool {
	return p.insideReal(path) || paths.InsideAny(last(p.session), path)
}

// last returns the last name of a directory, where it really lies; none if there is none.
func last(forms []string) []string { return forms[max(0, len(forms)-1):] }

// isPlanFile reports whether the access is to the plan file and no more, under
// both its names.
func (p *folders) isPlanFile(q *pathrule.Query, a *Access) bool {
	return !a.Tree && !a.Removal && slices.Contains(p.planFile, q.Target) && slices.Contains(p.planFile, q.Real)
}

// criticalPaths are the home, the working directory and all above them.
func criticalPaths(pl *places) []string {
	var out []string
	for _, dir := range []Dir{pl.home, pl.start, pl.cwd} {
		for _, form := range slashed(dir) {
			for ; !slices.Contains(out, form) && form != "." && form != "/" && form != ""; form = path.Dir(form) {
				out = append(out, form)
			}
		}
	}
	return out
}

// isCritical reports whether taking a path away is asked about in every mode:
// the root, what is in it, and [criticalPaths].
func (p *folders) isCritical(name string) bool {
	if strings.IndexByte(name[1:], '/') < 0 {
		return true
	}
	return slices.ContainsFunc(p.critical, func(dir string) bool {
		return dir == name || p.places.fold && strings.EqualFold(dir, name)
	})
}

// Cwd is the session's working directory.
func (p *folders) Cwd() Dir { return p.places.cwd }

// WorkingDirs are the session's working directories, as they really lie.
func (p *folders) WorkingDirs() []string {
	out := make([]string, len(p.workingReal))
	for i, dir := range p.workingReal {
		out[i] = cmp.Or(dir, "/")
	}
	return out
}

// Readable are the files and directories besides the working ones that may be read unasked,
// with all below: those of the session and those that allow rules on reading name whole.
// All says that rules, or the mode, let everything be read that is not protected.
func (p *Policy) Readable() (names []string, all bool) {
	names, all = p.allowed()
	if all || p.mode.answers(readOutside) == Allow {
		return nil, true
	}
	return slices.Concat(last(p.session), last(p.temp), names), false
}

// allowed are the directories that allow rules on reading name whole, or all.
func (p *Policy) allowed() (names []string, all bool) {
	for i := range p.book.paths[Allow].bound {
		for _, pattern := range p.book.paths[Allow].bound[i].Reads {
			switch {
			case len(pattern.Segs) != 1 || !pattern.Segs[0].Deep:
			case pattern.Base == "":
				all = true
			default:
				names = append(names, pattern.Base)
			}
		}
	}
	return names, all
}

// Inside reports whether a real path lies in the working directories or in the
// session's folder.
func (p *folders) Inside(path string) bool { return p.readableReal(filepath.ToSlash(path)) }

// places are the directories patterns are relative to.
type places struct {
	home Dir
	// start is where the session began and cwd where it is now.
	start, cwd Dir
	moved      pathrule.Moved
	fold       bool
	resolve    func(string) string
}

// bind binds the patterns of a rule to every name of the directories they are relative to.
func (pl *places) bind(r *Rule) pathrule.Bound {
	bases := pathrule.Places{
		Home: pl.home.forms(), Start: pl.start.forms(), Cwd: pl.cwd.forms(), Moved: pl.moved, Fold: pl.fold, Resolve: pl.resolve,
	}
	return bases.Bind(&pathrule.Rule{Spec: r.path, Folder: r.folder.forms(), Allow: r.Verdict == Allow, Reads: r.reads, Writes: r.writes})
}
