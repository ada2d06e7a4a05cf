package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/capability/shell"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// longestListing and maxListed bound what git is let tell of a repository, in time and
	// bytes; where that is not all, it is asked again after relisting.
	longestListing = 3 * time.Second
	maxListed      = 64 << 20
	relisting      = 10 * time.Minute
	// maxTrees bounds the repositories that are remembered, and maxStates the files of one
	// by which a change of its references shows.
	maxTrees  = 64
	maxStates = 20_000
)

// formerPaths tells of work trees which paths their indexes and histories hold: git prints
// those whatever the files are now.
type formerPaths struct {
	mu    sync.Mutex
	trees map[string]*formerTree
}

// formerTree is what git told of one work tree.
type formerTree struct {
	mu      sync.Mutex
	dir     string // git's own
	history listing
	index   listing
	commits map[string]bool // of the history
	retry   time.Time       // not to be asked before
	// withheld are the paths that the policy withholds.
	policy   *permissions.Policy
	withheld []string
}

// listing is a list of paths, and the state of the files that it comes from: empty is none
// that shows every change.
type listing struct {
	state string
	paths []string
}

// clear reports whether the history and the index of the repository that an access is to hold
// no path in its tree that rules withhold, and the objects that it names are commits of that
// history. What cannot be found out may be anything.
func (f *formerPaths) clear(ctx context.Context, policy *permissions.Policy, a permissions.Access) bool {
	t := f.tree(a.Former)
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, longestListing)
	defer cancel()
	if !t.list(ctx, policy, a.Former) {
		return false
	}
	if slices.ContainsFunc(t.withheld, func(name string) bool { return below(name, a.Target) || below(name, a.Real) }) {
		return false
	}
	return a.Objects == "" || t.holds(ctx, strings.Split(a.Objects, "\x00"))
}

func (f *formerPaths) tree(top string) *formerTree {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trees[top]
	if t == nil {
		if f.trees == nil || len(f.trees) >= maxTrees {
			f.trees = make(map[string]*formerTree)
		}
		t = &formerTree{}
		f.trees[top] = t
	}
	return t
}

// list has git tell of what has changed since it was asked last.
func (t *formerTree) list(ctx context.Context, policy *permissions.Policy, top string) bool {
	dir := gitDirOf(top)
	if dir == "" || time.Now().Before(t.retry) {
		return false
	}
	if dir != t.dir {
		t.dir, t.history, t.index = dir, listing{}, listing{}
	}
	references, index := stateOfFiles(referenceFiles(dir)), stateOfFiles([]string{filepath.Join(dir, "index")})
	changed := policy != t.policy
	if references == "" || references != t.history.state {
		paths, commits, ok := t.listHistory(ctx)
		if !ok {
			t.history = listing{}
			return false
		}
		t.history, t.commits, changed = listing{references, paths}, commits, true
	}
	if index == "" || index != t.index.state {
		out, ok := t.git(ctx, nil, "ls-files", "-z", "--cached", "--full-name")
		if !ok {
			t.index = listing{}
			return false
		}
		t.index, changed = listing{index, fields(out)}, true
	}
	if changed {
		rules := policy.Walls(nil)
		t.policy, t.withheld = policy, nil
		for _, name := range slices.Concat(t.history.paths, t.index.paths) {
			if name = filepath.Join(top, filepath.FromSlash(name)); rules.Withholds(name) {
				t.withheld = append(t.withheld, name)
			}
		}
	}
	return true
}

// gitDirOf is git's own directory of a work tree; empty where it is not one whose references
// and objects are all its own.
func gitDirOf(top string) string {
	dir := filepath.Join(top, gitName)
	if content, err := beginningOf(dir); err == nil {
		to, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir:")
		if dir = strings.TrimSpace(to); !ok {
			return ""
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(top, dir)
		}
	}
	for _, name := range []string{"commondir", "info/grafts", "objects/info/alternates"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return ""
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "objects")); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// referenceFiles are the files and directories in which a change of what is reachable shows;
// nil where there are too many.
func referenceFiles(dir string) []string {
	var files []string
	for _, name := range []string{"HEAD", "packed-refs", "shallow", "refs", "logs", "reftable", "worktrees"} {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, entry fs.DirEntry, _ error) error {
			files = append(files, path)
			if len(files) > maxStates || entry != nil && entry.Type()&fs.ModeSymlink != 0 {
				return errNoState
			}
			return nil // what is not there has that for its state
		})
		if err != nil {
			return nil
		}
	}
	return files
}

var errNoState = errors.New("there are too many files, or links")

// stateOfFiles is a text that is another one when one of the files has changed; empty where
// that cannot be relied on.
func stateOfFiles(files []string) string {
	var text strings.Builder
	for _, name := range files {
		state, lasts := restingState(name)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			state, lasts = name+" is not there\n", true
		}
		if !lasts {
			return ""
		}
		text.WriteString(state)
	}
	return text.String()
}

// listHistory lists the paths in all commits that references and their logs lead to, and
// these commits.
func (t *formerTree) listHistory(ctx context.Context) (paths []string, commits map[string]bool, ok bool) {
	references, ok := t.git(ctx, nil, "for-each-ref", "--format=%(objecttype) %(*objecttype) %(refname)")
	if !ok {
		return nil, nil, false
	}
	for line := range strings.Lines(string(references)) {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " refs/")
		if kind != "commit" && kind != "commit " && kind != "tag commit" || strings.HasPrefix(name, "replace/") {
			return nil, nil, false // a tag of a file, say, whose path no commit tells
		}
	}
	out, ok := t.git(ctx, nil, "log", "--all", "--reflog", "-m", "--root", "--no-renames", "--no-relative", "--name-only", "-z", "--format=%x00%H")
	if !ok {
		return nil, nil, false
	}
	commits, first := make(map[string]bool), false
	seen := make(map[string]bool)
	for rest := string(out); rest != ""; {
		var field string
		field, rest, _ = strings.Cut(rest, "\x00")
		switch {
		case field == "": // no path is
			field, rest, _ = strings.Cut(rest, "\x00")
			commits[field], first = true, true
			continue
		case first:
			field = strings.TrimPrefix(field, "\n")
		}
		if first = false; !seen[field] {
			seen[field] = true
			paths = append(paths, field)
		}
	}
	return paths, commits, true
}

// gitMark is what may stand around a revision.
var gitMark = lazyregexp.New(`^\^|\^(?:[!@]|-[0-9]*)$`)

// holds reports whether words for git that name an object name a commit of the history, or
// what such a commit holds. A word that names no object is a path.
func (t *formerTree) holds(ctx context.Context, words []string) bool {
	var asked []string
	for _, word := range words {
		if strings.ContainsAny(word, "\n\r") || strings.Contains(word, "^{") && strings.ContainsAny(word, ":.") {
			return false
		}
		word = strings.ReplaceAll(gitMark.ReplaceAllString(word, ""), "...", "..")
		for name := range strings.SplitSeq(word, "..") {
			if name, _, _ = strings.Cut(name, ":"); name != "" {
				asked = append(asked, name, name+"^{commit}")
			}
		}
	}
	if len(asked) == 0 {
		return true
	}
	out, ok := t.git(ctx, []byte(strings.Join(asked, "\n")+"\n"), "cat-file", "--batch-check=%(objectname)")
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if !ok || len(answers) != len(asked) {
		return false
	}
	for i := 0; i+1 < len(asked); i += 2 {
		if answers[i] != asked[i]+" missing" && !t.commits[answers[i+1]] {
			return false
		}
	}
	return true
}

// git runs the system's git in the repository, with what keeps it from starting programs that
// the repository names, and returns its output.
func (t *formerTree) git(ctx context.Context, input []byte, args ...string) ([]byte, bool) {
	program, err := shell.Look("git", "")
	if err != nil {
		return nil, false
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	top := filepath.Dir(t.dir) // any directory will do
	cmd := exec.CommandContext(running, program, slices.Concat([]string{"--git-dir=" + t.dir, "--work-tree=" + top, "--no-pager"}, args)...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = top, bytes.NewReader(input), time.Second
	cmd.Env = append(environment([]string{"HOME=/", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}, true), "LC_ALL=C")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false
	}
	if cmd.Start() != nil {
		t.ended(ctx, 0)
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(out, maxListed))
	if err != nil || len(text) == maxListed {
		cancel()
	}
	ok := cmd.Wait() == nil && err == nil && len(text) < maxListed
	t.ended(ctx, len(text))
	return text, ok
}

// ended has git not asked again for a while where that took too long, or there was too much.
func (t *formerTree) ended(ctx context.Context, size int) {
	if size == maxListed || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.retry = time.Now().Add(relisting)
	}
}

// fields are texts that each end with a NUL.
func fields(out []byte) []string {
	all := strings.Split(string(out), "\x00")
	return all[:len(all)-1]
}
