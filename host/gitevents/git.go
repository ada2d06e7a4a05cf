package gitevents

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// globalFlags are those before git's sub-command that change nothing of what it
// does; globalValued take a value of their own.
var (
	globalFlags = []string{
		"-p", "--paginate", "-P", "--no-pager", "--no-replace-objects", "--bare", "--literal-pathspecs", "--glob-pathspecs",
		"--noglob-pathspecs", "--icase-pathspecs", "--no-optional-locks", "--no-advice", "--no-lazy-fetch",
	}
	globalValued = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
)

// cutGlobal finds the sub-command. It reports false where there is none that can be
// told.
func (p *program) cutGlobal() bool {
	for i := 0; i < len(p.args); i++ {
		w := p.args[i]
		name, _, has := strings.Cut(w.Text, "=")
		switch {
		case !w.Literal:
			return false
		case slices.Contains(globalFlags, w.Text), has && slices.Contains(globalValued, name):
		case slices.Contains(globalValued, w.Text):
			i++
		case strings.HasPrefix(w.Text, "-"):
			return false
		default:
			p.sub, p.args = w.Text, p.args[i+1:]
			return true
		}
	}
	return false
}

// git makes the deeds of one run of git. Aliases cannot have the names of its own
// sub-commands.
func (r *reader) git(p *program) {
	if p.manual() {
		return
	}
	switch p.sub {
	case "commit":
		r.commit(p)
	case "revert":
		r.picks(p, capability.DeedCommit)
	case "cherry-pick":
		r.picks(p, capability.DeedCherryPick)
	case "push":
		r.push(p)
	case "merge", "pull":
		r.merge(p)
	case "rebase":
		r.rebase(p)
	case "branch":
		r.branch(p)
	case "checkout":
		r.checkout(p, "b")
	case "switch":
		r.checkout(p, "c", "create")
	case "worktree":
		r.worktree(p)
	}
}

// manual reports whether a manual is shown instead of anything being done.
func (p *program) manual() bool {
	return slices.ContainsFunc(p.args, func(w permissions.Word) bool { return w.Text == "-h" || w.Text == "--help" })
}

var commitOptions = options{"mFCct", []string{
	"message", "file", "reuse-message", "reedit-message", "fixup", "squash", "author", "date", "template", "cleanup", "trailer",
	"pathspec-from-file",
}}

// commit makes a commit's deed: of the line that tells of it, or of its status,
// which is zero only if there is a commit.
func (r *reader) commit(p *program) {
	a := commitOptions.split(p.args)
	if a.has("dry-run", "short", "porcelain", "long", "null", "z") {
		return
	}
	d := capability.Deed{Kind: capability.DeedCommit}
	if a.has("amend") {
		d.Kind = capability.DeedAmend
	}
	said := false
	for p.end != endFailed {
		s := r.takeCommit(a.subject())
		if s == nil {
			break
		}
		said = true
		d.Branch, d.Commit, d.Subject = s.branch, s.hash, s.subject
		r.tell(p, d)
		if !p.again {
			break
		}
	}
	if !said && p.end == endSucceeded && !a.vague {
		d.Subject = a.subject()
		r.tell(p, d)
	}
}

// subject is the first line of the message that a commit was given, or "".
func (a *arguments) subject() string {
	m, ok := a.value("m", "message")
	if !ok || !m.Literal || a.has("fixup", "squash") {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
	return strings.TrimSpace(first)
}

// takeCommit takes the first commit's line that is free and may be of a commit with
// that subject. A message of several lines has them joined, so that the
// beginning is what counts.
func (r *reader) takeCommit(subject string) *commitSign {
	for i := range r.signs.commits {
		s := &r.signs.commits[i]
		if !s.taken && (subject == "" || strings.HasPrefix(s.subject, subject)) {
			s.taken = true
			return s
		}
	}
	return nil
}

var pickOptions = options{"mX", []string{"mainline", "cleanup", "strategy", "strategy-option", "empty"}}

// picks makes the deeds of cherry-pick and revert, which make a commit of each they
// are given.
func (r *reader) picks(p *program, kind capability.DeedKind) {
	a := pickOptions.split(p.args)
	if a.has("abort", "quit", "no-commit", "n") {
		return
	}
	said := false
	for i := range r.signs.commits {
		s := &r.signs.commits[i]
		if s.taken || r.committed(s.subject) {
			continue
		}
		s.taken, said = true, true
		r.tell(p, capability.Deed{Kind: kind, Branch: s.branch, Commit: s.hash, Subject: s.subject})
	}
	if !said && p.end == endSucceeded && !a.vague && len(a.rest) > 0 && !a.has("empty", "skip") {
		r.tell(p, capability.Deed{Kind: kind})
	}
}

// committed reports whether a run of git commit was given that subject.
func (r *reader) committed(subject string) bool {
	return slices.ContainsFunc(r.programs, func(p program) bool {
		if p.name != "git" || p.sub != "commit" {
			return false
		}
		a := commitOptions.split(p.args)
		return a.subject() != "" && strings.HasPrefix(subject, a.subject())
	})
}

var pushOptions = options{"o", []string{"push-option", "repo", "receive-pack", "exec", "recurse-submodules"}}

// push makes a deed of each branch that the summary says was pushed. Its status
// alone proves nothing: there may have been nothing to push.
func (r *reader) push(p *program) {
	a := pushOptions.split(p.args)
	if a.has("n", "dry-run") {
		return
	}
	from := 0
	if r.count("push") == 1 && !p.again {
		from = max(0, len(r.signs.pushes)-1) // what stands before may be of anything
	}
	for i := from; i < len(r.signs.pushes); i++ {
		s := &r.signs.pushes[i]
		if s.taken || s.url == "" && r.runs("fetch", "pull") {
			continue
		}
		s.taken = true
		remote := a.word(0)
		if remote == "" || len(r.signs.pushes) != r.count("push") {
			remote = s.url // Which of them the summary is of cannot be told.
		}
		for _, ref := range s.refs {
			r.tell(p, capability.Deed{
				Kind: capability.DeedPush, Remote: withoutUser(remote), Branch: ref.branch, Commit: ref.hash, Forced: ref.forced,
			})
		}
		if !p.again {
			return
		}
	}
}

// count is how often git was run with a sub-command; runs, whether it was with any.
func (r *reader) count(sub string) (n int) {
	for _, p := range r.programs {
		if p.name == "git" && p.sub == sub {
			n++
		}
	}
	return n
}

func (r *reader) runs(subs ...string) bool {
	return slices.ContainsFunc(subs, func(sub string) bool { return r.count(sub) > 0 })
}

var mergeOptions = options{"mFsX", []string{
	"message", "file", "strategy", "strategy-option", "cleanup", "into-name", "upload-pack", "depth", "deepen", "shallow-since",
	"shallow-exclude", "refmap", "server-option", "negotiation-tip", "jobs",
}}

// merge makes a merge's deed, also of one that pull made or --continue ended. Pull
// may have rebased instead.
func (r *reader) merge(p *program) {
	a := mergeOptions.split(p.args)
	if a.has("abort", "quit", "squash", "dry-run") || p.end == endFailed {
		return
	}
	d := capability.Deed{Kind: capability.DeedMerge}
	switch {
	case p.sub == "pull":
		d.Remote, d.Branch = withoutUser(a.word(0)), a.word(1)
		if r.rebase(p) {
			return
		}
	case a.has("continue"):
		if s := r.takeCommit(""); s != nil {
			d.Branch, d.Commit, d.Subject = s.branch, s.hash, s.subject
			r.tell(p, d)
		}
		return
	case len(a.rest) == 1:
		d.Branch = a.word(0)
	}
	for i := range r.signs.merges {
		s := &r.signs.merges[i]
		if s.taken {
			continue
		}
		s.taken = true
		d.Commit = s.hash
		r.tell(p, d)
		if !p.again {
			return
		}
	}
}

var rebaseOptions = options{"sXxC", []string{"onto", "strategy", "strategy-option", "exec", "whitespace", "empty"}}

// rebase makes a rebase's deed, and reports whether there was one.
func (r *reader) rebase(p *program) bool {
	a := rebaseOptions.split(p.args)
	if a.has("abort", "quit", "edit-todo", "show-current-patch") || p.end == endFailed {
		return false
	}
	for i := range r.signs.rebases {
		s := &r.signs.rebases[i]
		if !s.taken {
			s.taken = true
			r.tell(p, capability.Deed{Kind: capability.DeedRebase, Branch: s.branch})
			return true
		}
	}
	return false
}

// branch makes the deed of git branch NAME, which says nothing: its status has to.
// What it is given besides may make it list, move or remove branches.
func (r *reader) branch(p *program) {
	a := options{}.split(p.args)
	if p.end == endSucceeded && a.only("t", "track", "no-track", "q", "quiet", "create-reflog") && len(a.rest) > 0 && a.word(0) != "" {
		r.tell(p, capability.Deed{Kind: capability.DeedBranch, Branch: a.word(0)})
	}
}

// checkout makes the deed of checkout -b and switch -c, and of those that made a
// branch of a remote's.
func (r *reader) checkout(p *program, names ...string) {
	valued := options{"bBcC", []string{"create", "force-create", "orphan", "conflict", "pathspec-from-file"}}
	a := valued.split(p.args)
	name, given := a.value(names...)
	if a.has("orphan") || p.end == endFailed {
		return // An orphan is no branch yet: it has no commit.
	}
	for i := range r.signs.branches {
		s := &r.signs.branches[i]
		if s.taken || given && name.Literal && name.Text != s.name {
			continue
		}
		s.taken = true
		r.tell(p, capability.Deed{Kind: capability.DeedBranch, Branch: s.name})
		return
	}
	if p.end == endSucceeded && given && name.Literal && !a.vague {
		r.tell(p, capability.Deed{Kind: capability.DeedBranch, Branch: name.Text})
	}
}

// worktree makes the deed of worktree add -b.
func (r *reader) worktree(p *program) {
	a := options{"bB", []string{"reason"}}.split(p.args)
	name, given := a.value("b")
	if p.end == endSucceeded && given && name.Literal && !a.vague && a.word(0) == "add" && !a.has("orphan") {
		r.tell(p, capability.Deed{Kind: capability.DeedBranch, Branch: name.Text})
	}
}
