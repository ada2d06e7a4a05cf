package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

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
func (g *callGate) openWalls() (capability.Walls, error) {
	s := g.call.session()
	temp, err := s.scratch.dir(tempDir)
	if err != nil {
		return capability.Walls{}, abi.Errorf(abi.CodeIO, "a directory for the temporary files of commands: %w", err)
	}
	return capability.Walls{Working: slices.Concat(g.policy().WorkingDirs(), s.host.options.Shell.Writable), Temp: temp}, nil
}

// walls finds out what the sandbox of a command is to be made of, as rules and files
// are now. Writes says that it may write, so that what is protected counts.
func (g *callGate) walls(ctx context.Context, w capability.Walls, writes bool) (capability.Walls, error) {
	policy := g.policy()
	paths := make(realPaths)
	tops := paths.all(w.Working)
	rules := policy.Walls(g.Approvals.Allowed()).Following(paths.follow).Reading(onceRead()).Around(tops)
	places := rules.Find(once(namesIn))
	search, err := g.walk(ctx, policy, rules, &places)
	if err != nil {
		return w, err
	}
	if writes {
		if w.Made, err = g.keep(ctx, search, tops, paths, &places); err != nil {
			return w, err
		}
	}
	g.call.session().walked.Store(search.remembered())
	others, err := g.heldFiles().otherNames(tops)
	if err != nil {
		return w, err
	}
	places.Hidden = append(places.Hidden, slices.DeleteFunc(others, g.mayRead)...)
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

// mayRead reports whether a file with a name that a rule holds may be read by another one
// all the same: the rule holds back changing it alone.
func (g *callGate) mayRead(name string) bool {
	a := permissions.Access{Kind: permissions.AccessRead, Target: name, Real: name}
	return g.mayTouch(a)
}

// walk adds what rules of any depth hide or protect. Where there is too much to look at,
// the rest is hidden, and the model is told so.
func (g *callGate) walk(ctx context.Context, policy *permissions.Policy, rules *permissions.Walls, found *permissions.Places) (*wallSearch, error) {
	s := g.call.session()
	search := newWallSearch(ctx, policy, rules, s.walked.Load(), found)
	dirs := rules.Walks()
	if len(dirs) == 0 {
		return search, nil
	}
	search.whole = true
	if err := search.in(dirs); err != nil {
		return nil, err
	}
	if len(search.unwalked) == 0 {
		return search, nil
	}
	rest := gathered(search.unwalked, maxShutDirs)
	for _, dir := range policy.WorkingDirs() {
		if slices.ContainsFunc(rest, func(hidden string) bool { return below(dir, hidden) }) {
			return nil, abi.Errorf(abi.CodeTooLarge, "there are over %d files in %s to look through for those that rules such as Read(.env) hide from commands; name their paths, as in Read(./.env), or work in a smaller directory", maxWalled, dir)
		}
	}
	found.Hidden = append(found.Hidden, rest...)
	g.call.remark("Commands do not see what lies in " + listed(rest, 5) + ": there are too many files to look through for those that rules hide. Where the rules name paths, as in Read(./.env), nothing has to be looked through.")
	return search, nil
}

// keep adds what is there and guarded by its name, at any depth, and what a trusted project
// has for settings, there or not. It returns what tells, when the command has ended, of
// protected names that are new.
func (g *callGate) keep(ctx context.Context, search *wallSearch, tops []string, paths realPaths, found *permissions.Places) (func() string, error) {
	rules, s := search.rules, g.call.session()
	if err := search.guarded(); err != nil {
		return nil, err
	}
	before := search.kept.existing(rules, tops)
	held, shut := gatheredAround(before.paths(rules, paths), tops, maxKept)
	rest, _ := gatheredAround(search.unguarded, tops, maxShutDirs)
	found.Protected = slices.Concat(found.Protected, held, rest)
	if all := slices.Concat(shut, rest); len(all) > 0 {
		g.call.remark("Commands cannot write in " + listed(all, 5) + ": more files lie there that are protected, such as .git or .vscode, or have to be looked through for such, than can be kept one by one. Work on these with other tools, in a smaller directory, or ask the user.")
	}
	if trusted := s.host.options.TrustedProjects; trusted != nil {
		for _, project := range trusted() {
			found.Protected = append(found.Protected, rules.Settings(project)...)
		}
	}
	if len(rules.Guarded()) == 0 {
		return nil, nil
	}
	cwd := really(search.now.policy.Cwd())
	return func() string { //nolint:contextcheck // the call may be over by then
		ctx, cancel := context.WithTimeout(context.Background(), lookingBack)
		defer cancel()
		again := newWallSearch(ctx, search.now.policy, rules, s.walked.Load(), &permissions.Places{})
		if again.guarded() != nil {
			return "Whether the command made protected files was not found out: looking for them takes too long here."
		}
		closed := slices.DeleteFunc(again.unguarded, func(dir string) bool { return slices.Contains(search.unguarded, dir) })
		return madeNote(again.kept.existing(rules.Following(realPath).Reading(onceRead()), tops).since(before), closed, cwd)
	}, nil
}

// lookingBack bounds the search for what a command made.
const lookingBack = 5 * time.Second

// listed names the first of several, which commands may have chosen.
func listed(names []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, plainly(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// plainly is a path as it can stand in a sentence: quoted where it has line breaks and the
// like, and cut where it is long.
func plainly(name string) string {
	const longest = 300
	if len(name) > longest {
		name = name[:longest/2] + "..." + name[len(name)-longest/2:]
	}
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
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

// linksIn lists the names in a directory that are links.
func linksIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink != 0 {
			names = append(names, entry.Name())
		}
	}
	return names, absent(err)
}

// absent makes one error of those that say that there is no such directory.
func absent(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ELOOP) {
		return fs.ErrNotExist
	}
	return err
}
