package programs

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// gitPatch are the flags with which git log and its like print what files hold.
// Some only do so together with others.
var gitPatch = []string{
	"-p", "-u", "-U", "-c", "-m", "-L", "-W", "-a", "--patch", "--unified", "--cc", "--dd", "--binary", "--text", "--check",
	"--patch-with-stat", "--patch-with-raw", "--diff-merges", "--function-context", "--word-diff", "--word-diff-regex",
	"--color-words", "--exit-code", "-S", "-G", "--pickaxe-regex", "--pickaxe-all", "--find-object", "-I", "--ignore-matching-lines",
	"--notes", "--show-notes",
}

// gitNames are those with which git diff and its like print names of files.
var gitNames = []string{
	"--stat", "--shortstat", "--numstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw", "--quiet",
	"--no-patch", "-s",
}

// gitContent are forms that print what is in files, whatever their flags, and gitShows
// those that do without flags. All others read what git keeps of its own, of which some
// links and settings lead elsewhere. Of those that are not read-only gitPrints print content.
var (
	gitContent = []string{"git cat-file", "git grep"}
	gitShows   = []string{"git diff", "git stash show"}
	gitPrints  = []string{"git archive", "git whatchanged", "git difftool", "git request-pull", "git stash", "git submodule"}
)

// gitChanges are flags with which further forms print content, as they ask about each change of a
// file or show them all; those of one letter come first, alone or in a bunch.
var gitChanges = map[string][]string{
	"git add": {"pi", "patch", "interactive"}, "git checkout": {"p", "patch"}, "git reset": {"p", "patch"},
	"git restore": {"p", "patch"}, "git stash push": {"p", "patch"}, "git stash save": {"p", "patch"},
	"git commit": {"pv", "patch", "interactive", "verbose", "dry-run"}, "git status": {"v", "verbose"},
	"git am": {"", "show-current-patch"}, "git rebase": {"", "show-current-patch"},
}

// printing adds the repository to what forms read that do more than print its content.
func (f Finding) printing(r *row, args []Arg) Finding {
	prints := slices.Contains(gitPrints, r.name) && (r.name != "git stash" || slices.ContainsFunc(args, beyondStash))
	if prints || slices.ContainsFunc(args, r.showsChanges) {
		f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: ".", Git: true, Tree: true, Former: true, AnyObject: true})
	}
	return f
}

// beyondStash reports whether a word of git stash may do more than say what is stashed.
func beyondStash(a Arg) bool {
	return !a.Literal || !slices.Contains([]string{
		"-u", "--include-untracked", "-a", "--all", "-k", "--keep-index", "--no-keep-index", "-q", "--quiet", "-S", "--staged",
	}, a.Text)
}

// showsChanges reports whether a word is a flag of gitChanges, shortened perhaps, or a bunch with
// one. In a longer bunch they may be letters of a value.
func (r *row) showsChanges(a Arg) bool {
	flags := gitChanges[r.name]
	if len(flags) == 0 {
		return false
	}
	if long, ok := strings.CutPrefix(a.Text, "--"); ok {
		long, _, _ = strings.Cut(long, "=")
		return len(long) > 2 && slices.ContainsFunc(flags[1:], func(flag string) bool { return strings.HasPrefix(flag, long) })
	}
	letters, short := strings.CutPrefix(a.Text, "-")
	at := strings.IndexAny(letters, flags[0])
	return short && (at == 0 || at > 0 && len(letters) < 4)
}

// printsContent reports whether git prints, or tells a guess at a time, what is in files of
// the repository or was in them. Names of files, messages and references are not that.
func (l *line) printsContent() bool {
	switch name := l.row.name; {
	case slices.Contains(gitContent, name), l.printsRaw():
		return true
	case name == "git show": // which prints a file by its sum whatever the flags
		return l.has(gitPatch...) || !l.has(gitNames...) || slices.ContainsFunc(l.operands(), mayBeSum)
	case slices.Contains(gitShows, name):
		return l.has(gitPatch...) || !l.has(gitNames...)
	}
	return l.has(gitPatch...) && l.row.printsPatches()
}

// mayBeSum reports whether an operand may name something other than a commit.
func mayBeSum(a Arg) bool { return !a.Literal || !gitRevision.MatchString(a.Text) }

// printsRaw reports whether a format prints what references lead to, which may be files.
func (l *line) printsRaw() bool {
	format, ok := l.value("--format")
	return ok && (!format.Literal || strings.Contains(format.Text, "raw")) && !l.row.printsPatches()
}

// printsPatches reports whether gitPatch means what it does to git log.
func (r *row) printsPatches() bool {
	_, ok := r.flags["--patch"]
	return ok
}

// searchesFiles reports whether git grep searches files below the directory alone, and no
// revision.
func (l *line) searchesFiles() bool {
	patterns := 1
	if l.first() {
		patterns = 0
	}
	return l.row.name == "git grep" && len(l.operands()) <= patterns && !l.has("--cached")
}

// judgeGit judges a reading form of git. The row says with which flags; here is
// what depends on their values.
func judgeGit(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	content := l.printsContent()
	// With --follow it prints what a file held under another name, and with --full-diff all
	// files of the commits that its paths choose.
	whole := content && (!l.narrow(args) || l.has("--follow", "--full-diff"))
	e := Effect{Kind: permissions.AccessRead, Name: ".", Tree: whole, Former: whole}
	if whole {
		e.Objects, e.AnyObject = l.objects()
	}
	for _, it := range l.items {
		switch it.flag {
		case "--format", "--pretty", "--sort", "--group":
			if f.ReadOnly && !safeGitFormat(it.flag, it.arg) {
				f.refuse("%s %s may make git start a program", it.flag, it.arg.Text)
			}
		case "":
			if len(r.takes) == 0 {
				break
			}
			if l.creates() && f.ReadOnly {
				f.refuse("%s %s without --list makes or changes one", r.name, it.arg.Text)
			}
			if r.takes[0].repeat && (!whole || !it.arg.Literal || !gitRevision.MatchString(it.arg.Text)) {
				f.gitPath(it.arg, content)
			}
		}
	}
	repository := e
	repository.Git, repository.Tree = true, whole && !l.searchesFiles()
	f.Effects = append(f.Effects, e, repository)
	return f
}

// objects are the operands that may name any object of the repository. Others says that more
// may be named, as --merge names what is being merged, which no reference needs to hold.
func (l *line) objects() (words string, others bool) {
	var names []string
	for _, a := range l.operands() {
		switch {
		case !a.Literal:
			others = true
		case !gitRevision.MatchString(a.Text):
			names = append(names, a.Text)
		}
	}
	return strings.Join(names, "\x00"), others || l.has("--batch", "--batch-check", "--batch-all-objects", "--merge")
}

// creates reports whether an operand is the name of a branch or tag to make. To
// git before 2.20 branch -l makes one, with a log.
func (l *line) creates() bool {
	return l.row.name == "git branch" && !l.has("--list") || l.row.name == "git tag" && !l.has("-l", "--list")
}

// gitRevision is a revision that is surely a commit, or a range of them: only
// commits have such names.
var gitRevision = lazyregexp.New(`^(?:(?:(?:HEAD|@)(?:[~^][0-9]*)*|(?:main|master)(?:[~^][0-9]*)+)(?:\.\.\.?|$)){1,2}$`)

// narrow reports whether what git looks at is narrowed to the paths behind a "--":
// all of them are plain names, without a pattern or magic. Other operands may name
// a file of a revision by its sum, which it prints whatever the paths are.
func (l *line) narrow(args []Arg) bool {
	i := slices.IndexFunc(args, func(a Arg) bool { return a.Literal && a.Text == "--" })
	if i < 0 || l.row.name == "git cat-file" {
		return false
	}
	paths, before := args[i+1:], l.operands()
	before = before[:max(0, len(before)-len(paths))]
	if l.row.name == "git grep" && !l.first() {
		if len(before) == 0 {
			return false // the pattern stands behind the "--"
		}
		before = before[1:] // the pattern
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p Arg) bool {
		return !p.Literal || p.Text == "" || strings.ContainsAny(p.Text, `*?[\:`)
	}) && !slices.ContainsFunc(before, func(rev Arg) bool {
		return !rev.Literal || !gitRevision.MatchString(rev.Text)
	})
}

// gitExcluded is a pathspec of what git is to leave out.
var gitExcluded = lazyregexp.New(`^:(?:[!^]|\(exclude\))`)

// gitStage is what stands before the path in :0:file, a file of the index.
var gitStage = lazyregexp.New(`^[0-3]:`)

// gitPath adds the path that an operand may name: a file, or one of a revision,
// as in HEAD:file. A revision that may be a path is taken for one, too: it names
// nothing that is not there.
func (f *Finding) gitPath(a Arg, content bool) {
	if !a.Literal {
		f.Unknown, f.Complete = f.Unknown|permissions.UnknownRead, false
		return
	}
	name := a.Text
	if rev, file, ok := strings.Cut(name, ":"); ok && rev != "" {
		name = file
	} else if gitExcluded.MatchString(name) {
		return // what prints the rest is judged by the whole repository
	} else if strings.HasPrefix(name, ":") {
		name = gitStage.ReplaceAllString(strings.TrimLeft(name, ":/!^"), "")
	}
	if name != "" {
		f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: name, Tree: content, Former: content})
	}
}

// gitFormats are the named formats of git log, which no repository can redefine.
var gitFormats = lazyregexp.New(`^(oneline|short|medium|full|fuller|reference|email|raw|mboxrd)$`)

// gitSignature is a placeholder for what gpg says of a signature, with what may stand
// between its sign and its letter (git-log(1), "PRETTY FORMATS").
var gitSignature = lazyregexp.New(`%[-+ ]*G`)

// safeGitFormat reports whether a format only shows what is in the repository:
// no signatures, which gpg checks, and no trailers, which have commands of their
// own.
func safeGitFormat(flag string, a Arg) bool {
	if !a.Literal {
		return false
	}
	text := a.Text
	if (flag == "--pretty" || flag == "--format") && !strings.ContainsAny(text, "%:") {
		return gitFormats.MatchString(text) || text == ""
	}
	return !gitSignature.MatchString(text) && !strings.Contains(text, "signature") && !strings.Contains(text, "trailers")
}

// judgeGitConfig judges git config, which sets a name where it is given a value
// too.
func judgeGitConfig(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	get := l.has("--get", "--get-all", "--get-regexp", "--list", "-l")
	if f.ReadOnly && !get && len(l.operands()) != 1 {
		f.refuse("git config without --get or --list may set a value")
	}
	if set := l.operands(); len(set) > 1 && !get {
		f = f.with(gitSetting(set[0].Text, set[1])) // for what comes behind
	}
	f.Effects = append(f.Effects,
		Effect{Kind: permissions.AccessRead, Name: "."}, Effect{Kind: permissions.AccessRead, Name: ".", Git: true})
	return f
}
