package gitevents

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxDeeds bounds what one command can be said to have done, and maxText each
	// name and title, in bytes.
	maxEvents = 64
	maxText   = 512
	// maxDirs bounds the directories that are looked at, maxLogs the logs of one
	// repository, and maxRead what is read of a file.
	maxDirs = 8
	maxLogs = 10_000
	maxRead = 1 << 20
	// shortHash is how many characters of a hash are told.
	shortHash = 7
)

// Watch is a command that is watched from before it runs.
type Watch struct {
	files
	command permissions.Command
	began   time.Time
	// dirs are where it may run git, and logs how long the reference logs there were.
	dirs []string
	logs map[string]int64
	// known are the folders of logs that were there and not too many.
	known  []string
	events []capability.GitEvent
}

// Begin looks at the repositories before a command that begins in a directory, so that its changes
// show. tree is the file tree that the command sees.
func Begin(command permissions.Command, dir string, tree capability.StagedTree) *Watch {
	w := &Watch{files: files{tree}, command: command, began: time.Now(), logs: make(map[string]int64)}
	if !command.ReadOnly {
		w.dirs = directories(command, dir)
	}
	for _, dir := range w.dirs {
		if r, ok := w.repositoryOf(dir); ok {
			logs, all := w.lengths(r)
			maps.Copy(w.logs, logs)
			w.known = append(w.known, r.own)
			if all {
				w.known = append(w.known, r.common)
			}
		}
	}
	return w
}

// directories are those in which a command may run git; none where it runs none.
func directories(command permissions.Command, dir string) []string {
	dirs, runs := []string{dir, cmp.Or(command.Cwd, dir)}, false
	for _, part := range command.Parts {
		if len(part.Words) == 0 {
			continue
		}
		switch program := path.Base(part.Words[0].Text); program {
		case "cd", "pushd":
			if len(part.Words) > 1 && part.Words[1].Literal {
				dir = from(dir, part.Words[1].Text)
				dirs = append(dirs, dir)
			}
		case "git":
			runs = true
			for i, word := range part.Words[:len(part.Words)-1] {
				if next := part.Words[i+1]; word.Text == "-C" && next.Literal {
					dirs = append(dirs, from(dir, next.Text))
				}
			}
		}
	}
	if !runs {
		return nil
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return dirs[:min(len(dirs), maxDirs)]
}

// Events tells what the command did that ended with an exit status and printed an
// output, of which the beginning and the end suffice. An exit status that is not known
// is negative. The events' Call is the caller's to set.
func (w *Watch) Events(exit int, output []byte) []capability.GitEvent {
	w.events = nil
	text := colours.ReplaceAllString(strings.ReplaceAll(string(output), "\r", "\n"), "")
	var own, common []string
	for _, dir := range w.dirs {
		if r, ok := w.repositoryOf(dir); ok && !slices.Contains(own, r.own) {
			w.references(r, slices.Contains(common, r.common), text)
			own, common = append(own, r.own), append(common, r.common)
		}
	}
	for _, d := range pulls(&w.command, exit, text, maxEvents-len(w.events)) {
		w.tell(d)
	}
	return w.events
}

// references tells of what was written to the logs of a repository: its branches, what
// moved its HEAD, in order, and what was pushed. Those of a further worktree have the
// references in common with the first.
func (w *Watch) references(r repository, again bool, output string) {
	logs, _ := w.lengths(r)
	var pushed []capability.GitEvent
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		lines := w.appended(name, logs[name], r.common)
		if again || len(lines) == 0 || name == r.own+headLog {
			continue
		}
		last := lines[len(lines)-1]
		if branch, ok := strings.CutPrefix(name, r.common+heads); ok {
			if _, old := w.logs[name]; !old && strings.HasPrefix(lines[0].text, "branch: Created ") && !strings.HasPrefix(last.text, "Branch: renamed ") {
				w.reflog(capability.GitEvent{Kind: capability.GitBranch, Branch: branch}, "branch", "checkout", "switch", "worktree")
			}
		} else if ref, ok := strings.CutPrefix(name, r.common+remotes); ok && last.text == "update by push" {
			remote, branch, _ := strings.Cut(ref, "/")
			pushed = append(pushed, capability.GitEvent{
				Kind: capability.GitPush, Remote: remote, Branch: branch, Commit: last.now[:shortHash],
				Forced: strings.Contains(output, last.was[:shortHash]) && strings.Contains(output, "..."+last.now[:shortHash]),
			})
		}
	}
	w.head(r, w.appended(r.own+headLog, logs[r.own+headLog], r.own))
	for _, d := range pushed {
		w.reflog(d, "push")
	}
}

// head tells of what moved HEAD. The branch that was checked out is found from the
// last one backwards, as a log says what was left and not always what came; while a
// rebase went on there was none.
func (w *Watch) head(r repository, lines []line) {
	text, _ := w.readFrom(filepath.Join(filepath.Dir(r.own), "HEAD"), 0)
	branch, _ := strings.CutPrefix(strings.TrimSpace(text), "ref: refs/heads/")
	branches, rebased := make([]string, len(lines)), ""
	for i, l := range slices.Backward(lines) {
		branches[i] = branch
		if to, ok := strings.CutPrefix(l.text, "checkout: moving from "); ok {
			branch, _, _ = strings.Cut(to, " ")
		} else if _, to, ok := strings.Cut(l.text, ": returning to refs/heads/"); ok {
			branch, branches[i], rebased = "", to, to
		} else if strings.Contains(l.text, " (start): checkout ") {
			branch = rebased
		}
	}
	for i, l := range lines {
		if wholeHash.MatchString(branches[i]) {
			branches[i] = ""
		}
		w.move(l, branches[i])
	}
}

// move tells of one line of HEAD's log, whose beginning git does not translate: what
// was run, as in "commit (amend): subject" and "pull origin main: Fast-forward".
func (w *Watch) move(l line, branch string) {
	action, subject, _ := strings.Cut(l.text, ": ")
	words := strings.Fields(action)
	if len(words) == 0 {
		return
	}
	step := strings.Trim(words[len(words)-1], "()")
	d := capability.GitEvent{Branch: branch, Commit: l.now[:min(shortHash, len(l.now))], Subject: subject}
	switch words[0] {
	case "commit":
		d.Kind = map[string]capability.GitEventKind{
			"amend": capability.GitAmend, "merge": capability.GitMerge, "cherry-pick": capability.GitCherryPick,
			"initial": capability.GitCommit, "commit": capability.GitCommit,
		}[step]
	case "revert":
		d.Kind = capability.GitCommit
	case "cherry-pick":
		d.Kind = capability.GitCherryPick
	case "rebase", "merge", "pull":
		d.Subject = ""
		switch {
		case step == "finish" || step == "finished":
			d.Kind = capability.GitRebase
		case subject == "Fast-forward" || strings.HasPrefix(subject, "Merge made by"):
			d.Kind, d.Branch = capability.GitMerge, ""
			words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
			if from := words[1:]; words[0] == "pull" && len(from) > 0 {
				d.Remote, words = credentials.ReplaceAllString(from[0], "$1"), from
			}
			if len(words) == 2 {
				d.Branch = words[1]
			}
		}
	}
	if d.Kind != "" {
		w.reflog(d, words[0], step)
	}
}

// reflog tells of what git did, if the command has one of the words with which it does
// that: what another command did meanwhile is that one's.
func (w *Watch) reflog(d capability.GitEvent, words ...string) {
	if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(w.command.Text, word) }) {
		d.Program = "git"
		w.tell(d)
	}
}

func (w *Watch) tell(d capability.GitEvent) {
	if len(w.events) == maxEvents {
		return
	}
	for _, text := range []*string{&d.Commit, &d.Branch, &d.Remote, &d.Subject, &d.URL} {
		*text = clean(*text)
	}
	w.events = append(w.events, d)
}

// line is one of a reference log.
type line struct{ was, now, text string }

var (
	logLine   = lazyregexp.New(`^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> ([0-9]+) [-+][0-9]{4}\t(.*)$`)
	wholeHash = lazyregexp.New(`^[0-9a-f]{40,64}$`)
	// credentials are a name and a password in a URL, behind its scheme.
	credentials = lazyregexp.New(`^(\w[^:/]*://)[^/]*@`)
	colours     = lazyregexp.New("\x1b\\[[0-9;]*[A-Za-z]")
)

// appended are the lines of a log that are new. In a repository that was not known
// before, which may have been unpacked, a line's time has to say so.
func (w *Watch) appended(log string, size int64, logs string) (out []line) {
	was := w.logs[log]
	if size <= was {
		return nil // or cut by git gc
	}
	text, _ := w.readFrom(log, was)
	for l := range strings.Lines(text) {
		m := logLine.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		if m == nil {
			continue
		}
		if at, err := strconv.ParseInt(m[3], 10, 64); err != nil || at < w.began.Unix() && !slices.Contains(w.known, logs) {
			continue
		}
		out = append(out, line{m[1], m[2], m[4]})
	}
	return out
}

// clean takes out what would not be shown as it is, and bounds the rest.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return strings.TrimSpace(text)
}
