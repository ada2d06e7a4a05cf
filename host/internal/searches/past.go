package searches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// longestListing bounds how long git lists a repository. Where that is not enough, it is
	// not asked again for the time of relisting.
	longestListing = 3 * time.Second
	relisting      = 10 * time.Minute
	// maxTrees bounds the repositories that are remembered, and maxStates the files of one
	// that show whether its references changed.
	maxTrees  = 64
	maxStates = 20_000
)

// Past knows which paths the indexes and histories of work trees hold: git can print those,
// whatever the files are now. The zero value is ready for use, and it is safe for
// concurrent use.
type Past struct {
	longest time.Duration // 0 is longestListing

	mu    sync.Mutex
	trees map[string]*workTree
}

// workTree is what git told about one work tree.
type workTree struct {
	mu      sync.Mutex
	git     repository
	history listing
	index   listing
	// rest are the commits beside the history, which nothing leads to. It is not asked for
	// again before restRetry.
	rest      listing
	unled     map[string]bool
	restRetry time.Time
	commits   map[string]bool // of the history
	retry     time.Time       // git is not asked again before
	// withheld are those of the paths that the policy withholds.
	policy   *permissions.Policy
	withheld []string
}

// listing is a list of paths, and the state of the files that it was made of. An empty state
// does not show every change.
type listing struct {
	state string
	paths []string
}

// Clear reports whether neither the index nor the history of an access's repository has a path in the
// tree of the access that rules withhold, and whether the objects that the access names are commits of
// that history. whole adds to the history all commits that the repository holds, reachable or not. disk
// is how commands find files.
func (p *Past) Clear(ctx context.Context, policy *permissions.Policy, a permissions.Access, whole bool, disk paths.Disk) bool {
	t := p.tree(disk.Place(a.Former))
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(p.longest, longestListing))
	defer cancel()
	if !t.list(ctx, policy, a.Former, disk) || whole && !t.listRest(ctx) {
		return false
	}
	in := func(name string) bool { return paths.Below(name, a.Target) || paths.Below(name, a.Real) }
	if slices.ContainsFunc(t.withheld, in) || whole && slices.ContainsFunc(withheld(policy, a.Former, t.rest.paths), in) {
		return false
	}
	return a.Objects == "" || t.holds(ctx, strings.Split(a.Objects, "\x00"), whole)
}

func (p *Past) tree(top string) *workTree {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.trees[top]
	if t == nil {
		if p.trees == nil || len(p.trees) >= maxTrees {
			p.trees = make(map[string]*workTree)
		}
		t = &workTree{}
		p.trees[top] = t
	}
	return t
}

// list brings the lists up to date, and reports whether they are complete.
func (t *workTree) list(ctx context.Context, policy *permissions.Policy, top string, disk paths.Disk) bool {
	git := gitDirOf(top, disk)
	dir := git.place
	if dir == "" || time.Now().Before(t.retry) {
		return false
	}
	if git.place != t.git.place {
		t.history, t.index = listing{}, listing{}
	}
	t.git = git
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
		out, ok := t.run(ctx, nil, "ls-files", "-z", "--cached", "--full-name")
		if !ok {
			t.index = listing{}
			return false
		}
		t.index, changed = listing{index, fields(out)}, true
	}
	if changed {
		t.policy, t.withheld = policy, withheld(policy, top, slices.Concat(t.history.paths, t.index.paths))
	}
	return true
}

// withheld are those of the paths in a work tree that a policy withholds.
func withheld(policy *permissions.Policy, top string, names []string) []string {
	rules := policy.SandboxPolicy(nil)
	var out []string
	for _, name := range names {
		if name = filepath.Join(top, filepath.FromSlash(name)); rules.Withholds(name) {
			out = append(out, name)
		}
	}
	return out
}

// listRest brings the list of what nothing leads to up to date, and reports whether it is
// complete. The history is.
func (t *workTree) listRest(ctx context.Context) bool {
	if time.Now().Before(t.restRetry) {
		return false
	}
	objects := stateOfFiles(objectFiles(t.git.place))
	if state := objects + t.history.state; objects == "" || t.history.state == "" || state != t.rest.state {
		paths, unled, err := t.restOf(ctx)
		if errors.Is(err, errTooLong) {
			t.restRetry = time.Now().Add(relisting)
		}
		if err != nil {
			t.rest = listing{}
			return false
		}
		t.rest, t.unled = listing{state, paths}, unled
	}
	return true
}

// objectFiles lists the directories that show whether there are new objects.
func objectFiles(dir string) []string {
	files := []string{filepath.Join(dir, "objects"), filepath.Join(dir, "objects/pack")}
	for i := range 256 {
		files = append(files, filepath.Join(dir, "objects", fmt.Sprintf("%02x", i)))
	}
	return files
}

// restOf lists the commits that nothing leads to, and the paths in them.
func (t *workTree) restOf(ctx context.Context) (paths []string, unled map[string]bool, err error) {
	out, err := t.git.run(ctx, nil, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return nil, nil, err
	}
	unled = make(map[string]bool)
	var sums []string
	for line := range strings.Lines(string(out)) {
		if sum, ok := strings.CutPrefix(strings.TrimSpace(line), "commit "); ok && !t.commits[sum] {
			sums = append(sums, sum)
		}
	}
	if len(sums) == 0 {
		return nil, unled, nil
	}
	out, err = t.git.run(ctx, []byte(strings.Join(sums, "\n")+"\n"), slices.Concat(listed, []string{"--no-walk=unsorted", "--stdin"})...)
	if err != nil {
		return nil, nil, err
	}
	paths, unled = readLog(out)
	return paths, unled, nil
}

// gitDirOf finds the .git directory of a work tree. It returns none if some references or objects
// come from elsewhere.
func gitDirOf(top string, disk paths.Disk) (none repository) {
	dir := filepath.Join(top, ".git")
	if content, err := paths.Beginning(disk.Entry(dir)); err == nil {
		to, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir:")
		if dir = strings.TrimSpace(to); !ok {
			return none
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(top, dir)
		}
	}
	place := disk.Place(dir)
	for _, name := range []string{"commondir", "info/grafts", "objects/info/alternates"} {
		if _, err := os.Lstat(filepath.Join(place, name)); err == nil {
			return none
		}
	}
	if info, err := os.Stat(disk.Place(filepath.Join(dir, "objects"))); err != nil || !info.IsDir() {
		return none
	}
	return repository{dir, place, disk}
}

// referenceFiles lists the files and directories that show whether references changed. It
// returns nil where there are too many.
func referenceFiles(dir string) []string {
	var files []string
	for _, name := range []string{"HEAD", "packed-refs", "shallow", "refs", "logs", "reftable", "worktrees"} {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, entry fs.DirEntry, _ error) error {
			files = append(files, path)
			if len(files) > maxStates || entry != nil && entry.Type()&fs.ModeSymlink != 0 {
				return errNoState
			}
			return nil // a missing file is a state, too
		})
		if err != nil {
			return nil
		}
	}
	return files
}

var errNoState = errors.New("there are too many files, or links")

// stateOfFiles returns a text that differs once one of the files has changed. It returns ""
// where no such text can be relied on.
func stateOfFiles(files []string) string {
	var text strings.Builder
	for _, name := range files {
		state, lasts := paths.RestingText(name)
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

// listHistory lists the commits that references and their logs lead to, and the paths in
// them.
func (t *workTree) listHistory(ctx context.Context) (paths []string, commits map[string]bool, ok bool) {
	references, ok := t.run(ctx, nil, "for-each-ref", "--format=%(objecttype) %(*objecttype) %(refname)")
	if !ok {
		return nil, nil, false
	}
	for line := range strings.Lines(string(references)) {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " refs/")
		if kind != "commit" && kind != "commit " && kind != "tag commit" || strings.HasPrefix(name, "replace/") {
			return nil, nil, false // it may be a tag of a file, whose path no commit tells
		}
	}
	out, ok := t.run(ctx, nil, slices.Concat(listed, []string{"--all", "--reflog"})...)
	if !ok {
		return nil, nil, false
	}
	paths, commits = readLog(out)
	return paths, commits, true
}

// listed has git list commits, and the paths that differ from those before them.
var listed = []string{"log", "-m", "--root", "--no-renames", "--no-relative", "--name-only", "-z", "--format=%x00%H"}

// readLog reads what git prints for listed.
func readLog(out []byte) (paths []string, commits map[string]bool) {
	commits, first := make(map[string]bool), false
	seen := make(map[string]bool)
	for rest := string(out); rest != ""; {
		var field string
		field, rest, _ = strings.Cut(rest, "\x00")
		switch {
		case field == "": // a hash follows, as no path is empty
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
	return paths, commits
}

// gitMark matches the marks that git allows around a revision.
var gitMark = lazyregexp.New(`^\^|\^(?:[!@]|-[0-9]*)$`)

// holds reports whether each word for git names a commit of the history, something in such
// a commit, or no object at all: then it is a path. Whole adds the commits that nothing leads to.
func (t *workTree) holds(ctx context.Context, words []string, whole bool) bool {
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
	out, ok := t.run(ctx, []byte(strings.Join(asked, "\n")+"\n"), "cat-file", "--batch-check=%(objectname)")
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if !ok || len(answers) != len(asked) {
		return false
	}
	for i := 0; i+1 < len(asked); i += 2 {
		if answers[i] != asked[i]+" missing" && !t.commits[answers[i+1]] && (!whole || !t.unled[answers[i+1]]) {
			return false
		}
	}
	return true
}

// run runs git. Where that takes too long or prints too much, git is not asked again for a
// while.
func (t *workTree) run(ctx context.Context, input []byte, args ...string) ([]byte, bool) {
	out, err := t.git.run(ctx, input, args...)
	if errors.Is(err, errTooLong) {
		t.retry = time.Now().Add(relisting)
	}
	return out, err == nil
}

// fields splits texts that each end with a NUL.
func fields(out []byte) []string {
	all := strings.Split(string(out), "\x00")
	return all[:len(all)-1]
}
