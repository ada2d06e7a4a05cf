package permissions

import (
	"path/filepath"

	"github.com/toolquay/toolquay/permissions/internal/gitrepo"
	"github.com/toolquay/toolquay/permissions/internal/sandbox"
)

// SandboxPolicy is what a sandbox enforces of a policy while a command runs in it. Find returns
// the paths to hide and to protect; Walks and Guarded name directories to walk, as more may be
// found there: Hides and Protects tell of one path. Around, Reading and Following return it for
// more writable directories, and with other ways to look at files.
type SandboxPolicy = sandbox.Policy

// Places are paths that a sandbox hides or protects.
type Places = sandbox.Places

// List returns the names in a directory. The error is fs.ErrNotExist where there is no
// directory, and another one where it cannot be listed now: whoever made it so may undo that.
type List func(dir string) (names []string, err error)

// Read returns the beginning of a file, as much of it as a configuration may have.
type Read func(file string) (content []byte, err error)

// Repository is what git reads where it runs in a directory.
type Repository = gitrepo.Repository

// SandboxPolicy returns what a sandbox enforces while a call runs for which a person approved
// these accesses. An approval stands for what would ask, never against a deny.
func (p *Policy) SandboxPolicy(approved []Access) *SandboxPolicy {
	rules := sandbox.Rules{
		Deny: p.book.paths[Deny].bound, Ask: p.book.paths[Ask].bound, Protected: p.guards,
		Secrets: p.mode.answers(guardedRead) != Allow, Edits: p.mode.answers(guardedEdit) != Allow,
	}
	for _, a := range approved {
		if a.Kind == AccessRead || a.Kind == AccessWrite {
			rules.Approved = append(rules.Approved, sandbox.Approval{
				Write: a.Kind == AccessWrite, Tree: a.Tree && a.Glob == "",
				Target: filepath.ToSlash(a.Target), Real: filepath.ToSlash(a.Real),
			})
		}
	}
	rules.Allowed, _ = p.allowed()
	return sandbox.New(rules, p.space())
}

// space is where a sandbox for commands works.
func (p *folders) space() sandbox.Space {
	return sandbox.Space{
		Roots: p.workingReal, Working: p.working, Home: slashed(p.places.home),
		Fold: p.places.fold, Resolve: p.places.resolve,
	}
}

// disk is how git's own directories are looked for.
func disk(space *sandbox.Space, list List, read Read) gitrepo.Disk {
	return gitrepo.Disk{List: list, Read: read, Lies: space.Lies, Home: space.Home}
}

// GitAround returns the paths, with all below, by which git comes to run programs in the
// repositories that paths lie in and those of the working directories, other than by their
// names: directories that are git's own by their layout or because a .git file leads there,
// directories of hooks, and further files of configuration. A path that would complete such a
// layout counts as if it was there.
func (p *folders) GitAround(names []string, list List, read Read) []string {
	space := p.space()
	git := gitrepo.Programs{Disk: disk(&space, list, read), Writable: space.Inside}
	files := make([]string, 0, len(names)+len(space.Roots))
	for _, name := range names {
		files = append(files, filepath.ToSlash(name))
	}
	for _, root := range space.Roots {
		files = append(files, root+"/.git")
	}
	return git.Around(files)
}

// Repository finds the repository that git uses in a directory; links lists the names in a
// directory that are links. It reports false where not all of it is known. Where there is none,
// it is empty.
func (p *folders) Repository(dir string, read Read, list, links List) (found Repository, known bool) {
	space := p.space()
	return gitrepo.Find(disk(&space, list, read), filepath.ToSlash(dir), links)
}
