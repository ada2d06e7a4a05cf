package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// tempDir is the directory of the session's scratch that commands have as /tmp.
const tempDir = "tmp"

// openTemp lets tools read what commands write to their /tmp, by its own path. Where it
// cannot be made, the first command says so.
func (s *Session) openTemp() {
	if s.host.options.Shell == nil {
		return
	}
	if dir, err := s.scratch.dir(tempDir); err == nil {
		s.base.TempFolder = realDir(dir)
	}
}

// openWalls are those of a command that nothing confines.
func (g *gate) openWalls() (capability.Walls, error) {
	s := g.call.session()
	temp, err := s.scratch.dir(tempDir)
	if err != nil {
		return capability.Walls{}, abi.Errorf(abi.CodeIO, "a directory for the temporary files of commands: %w", err)
	}
	return capability.Walls{Working: slices.Concat(g.policy().WorkingDirs(), s.host.options.Shell.Writable), Temp: temp}, nil
}

// walls finds out what the sandbox of a command is to be made of, as rules and files
// are now.
func (g *gate) walls(ctx context.Context, w capability.Walls) (capability.Walls, error) {
	policy := g.policy()
	paths := make(realPaths)
	rules := policy.Walls(g.call.approved.all()).Following(paths.follow).Reading(beginningOf).Around(paths.all(w.Working))
	places := rules.Find(once(namesIn))
	if err := g.walk(ctx, policy, rules, &places); err != nil {
		return w, err
	}
	w.Hidden, w.Shown, w.Protected = paths.existing(places.Hidden), paths.existing(places.Shown), asFolders(places.Protected)
	for _, dir := range w.Working {
		if slices.ContainsFunc(w.Hidden, func(hidden string) bool { return below(dir, hidden) }) {
			return w, abi.Errorf(abi.CodeDenied, "a rule hides the working directory %s, so that no command can be run in it", dir)
		}
	}
	o := g.call.session().host.options.Shell
	w.Host = func(_ context.Context, host string) bool {
		g.renew() // a rule may have come while the command runs
		ok, _ := g.policy().ReachableHost(g.call.name(), host)
		return ok || o.reaches(g.policy(), g.call.name(), host)
	}
	w.Local = func(host string) bool { return g.policy().NamesHost(host) }
	return w, nil
}

// walk adds what rules of any depth hide or protect. Where there is too much to look at,
// the rest is hidden, and the model is told so.
func (g *gate) walk(ctx context.Context, policy *permissions.Policy, rules *permissions.Walls, found *permissions.Places) error {
	dirs := rules.Walks()
	if len(dirs) == 0 {
		return nil
	}
	s := g.call.session()
	search := newWallSearch(ctx, policy, rules, s.walked.Load(), found)
	if err := search.in(dirs); err != nil {
		return err
	}
	s.walked.Store(search.now)
	if len(search.unwalked) == 0 {
		return nil
	}
	rest := gathered(search.unwalked, maxShutDirs)
	for _, dir := range policy.WorkingDirs() {
		if slices.ContainsFunc(rest, func(hidden string) bool { return below(dir, hidden) }) {
			return abi.Errorf(abi.CodeTooLarge, "there are over %d files in %s to look through for those that rules such as Read(.env) hide from commands; name their paths, as in Read(./.env), or work in a smaller directory", maxWalled, dir)
		}
	}
	found.Hidden = append(found.Hidden, rest...)
	g.call.remark("Commands do not see what lies in " + listed(rest, 5) + ": there are too many files to look through for those that rules hide. Where the rules name paths, as in Read(./.env), nothing has to be looked through.")
	return nil
}

// listed names the first of several.
func listed(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// folders are names that are directories wherever there are any: what holds the place of
// one is to be a directory too, or who looks for something in it would take fright.
var folders = []string{"hooks", ".husky", ".vscode", ".idea", ".toolquay"}

// asFolders marks those with a slash at the end, which says so to the sandbox.
func asFolders(paths []string) []string {
	marked := slices.Clone(paths)
	for i, path := range marked {
		if slices.Contains(folders, filepath.Base(path)) {
			marked[i] = path + "/"
		}
	}
	return marked
}

// once is a list that looks at each directory once, for patterns name the same ones.
func once(list permissions.List) permissions.List {
	type listed struct {
		names []string
		err   error
	}
	seen := make(map[string]listed)
	return func(dir string) ([]string, error) {
		l, known := seen[dir]
		if !known {
			l.names, l.err = list(dir)
			seen[dir] = l
		}
		return l.names, l.err
	}
}

// namesIn lists a directory, for [permissions.Walls.Find].
func namesIn(dir string) ([]string, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO
	if err != nil {
		return nil, absent(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	return names, absent(err)
}

// absent makes one error of those that say that there is no such directory.
func absent(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ELOOP) {
		return fs.ErrNotExist
	}
	return err
}
