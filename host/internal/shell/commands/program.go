package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/caches"
	"github.com/toolquay/toolquay/internal/tempdir"
	"github.com/toolquay/toolquay/permissions"
)

// Program is a program with allowances of its own, which lives longer than a call.
type Program struct {
	// Name is for logs, and tells its caches from those of others.
	Name string
	// Command is the program, by its path or its name, and its arguments. A path that is not
	// absolute begins in Dir.
	Command []string
	// Env is added to the usual environment of commands.
	Env []string
	// Dir is where it starts, absolute, if it sees that; else it starts in its own directory
	// for temporary files.
	Dir string
	// Read and Write are the files and directories that it may read, and also write, absolute.
	Read, Write []string
	// Policies tells the policy of the host's settings.
	Policies protected.Policies
	// Hosts has as its only rules what the program may reach.
	Hosts *permissions.Policy
}

// starting is a program that is about to start.
type starting struct {
	*Program
	runner *Runner
	usual  []string // the environment of commands
	// path is the program's file.
	path string
	// roots are the directories that it may write in, and files the files, as they really lie.
	roots, files []string
	made         capability.SandboxPolicy
}

// Start starts a program. The context bounds the start alone.
func (r *Runner) Start(ctx context.Context, p *Program) (*shell.Running, error) {
	e, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	temp, err := tempdir.Make()
	if err != nil {
		return nil, abi.Errorf(abi.CodeIO, "a directory for the program's temporary files: %w", err)
	}
	running, err := r.startIn(ctx, e, p, temp.Path)
	if err != nil {
		return nil, errors.Join(err, temp.Close())
	}
	go func() {
		<-running.Done()
		log := r.options.Logger.With("program", p.Name)
		if made := running.End().Made; made != "" {
			log.Warn("a program made what programs may not", "what", made)
		}
		if err := temp.Close(); err != nil {
			log.Warn("the temporary files of a program were left behind", "error", err)
		}
	}()
	return running, nil
}

// startIn starts a program with a directory for temporary files.
func (r *Runner) startIn(ctx context.Context, e *engine, p *Program, temp string) (*shell.Running, error) {
	s := &starting{Program: p, runner: r, usual: r.Environment(false), made: capability.SandboxPolicy{Temp: temp}}
	if err := s.find(valueOf(slices.Concat(s.usual, p.Env), "PATH")); err != nil {
		return nil, err
	}
	if err := s.writable(); err != nil {
		return nil, err
	}
	if e.sandbox != nil {
		s.addLayer()
		if err := s.confine(ctx, e.confines()); err != nil {
			return nil, err
		}
	}
	dir, err := s.begin()
	if err != nil {
		return nil, err
	}
	return e.shell.Start(ctx, shell.Lasting{
		Path: s.path, Args: slices.Concat([]string{s.path}, p.Command[1:]), Usual: s.usual, Env: p.Env, Dir: dir, Policy: s.made,
	})
}

// valueOf is the last value of a variable.
func valueOf(environ []string, name string) string {
	for _, setting := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// find finds the program's file.
func (s *starting) find(path string) error {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return abi.Errorf(abi.CodeInvalidInput, "there is no command to start")
	}
	name, candidates := s.Command[0], []string(nil)
	switch {
	case filepath.IsAbs(name):
		candidates = []string{name}
	case strings.ContainsRune(name, filepath.Separator):
		candidates = []string{filepath.Join(s.Dir, name)}
	default:
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) {
				candidates = append(candidates, filepath.Join(dir, name))
			}
		}
	}
	for _, at := range candidates {
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			s.path = at
			return nil
		}
	}
	if len(candidates) == 1 {
		return abi.Errorf(abi.CodeNotFound, "%s is no program that can be run", candidates[0])
	}
	return abi.Errorf(abi.CodeNotFound, "there is no program %s in the directories of PATH (%s); install it, or give its path", name, path)
}

// writable looks at the paths that the program may read and write. A directory to write in that is
// missing is made.
func (s *starting) writable() error {
	for _, path := range slices.Concat(s.Read, s.Write) {
		if !filepath.IsAbs(path) {
			return abi.Errorf(abi.CodeInvalidInput, "the program may use %q, which is not an absolute path", path)
		}
	}
	for _, path := range s.Write {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			s.files = append(s.files, paths.Real(path))
			continue
		}
		if err := s.runner.openOne(path); err != nil {
			return abi.Errorf(abi.CodeDenied, "the program may write in %s: %w", path, err)
		}
		s.roots = append(s.roots, paths.Real(path))
	}
	return nil
}

// begin is where the program starts.
func (s *starting) begin() (string, error) {
	if s.Dir == "" {
		return s.made.Temp, nil
	}
	dir := paths.Real(s.Dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", abi.Errorf(abi.CodeNotFound, "the program is to start in %s, which is no directory", s.Dir)
	}
	seen := slices.Concat(s.made.Visible, s.made.Working, []string{s.made.Temp})
	if len(s.made.Visible) > 0 && !slices.ContainsFunc(seen, func(path string) bool { return paths.Below(dir, path) }) {
		return s.made.Temp, nil
	}
	return dir, nil
}

// addLayer gives the program caches of its own: others run what lies in theirs.
func (s *starting) addLayer() {
	o := &s.runner.options
	if o.Layers == "" {
		return
	}
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{o.Project, s.Name}, s.Command), "\x00")))
	layer, err := caches.Options{Root: o.Layers, Home: o.Sandbox.Home, Environ: o.Environ}.Open(caches.Request{
		Project: "/programs/" + hex.EncodeToString(sum[:]), Open: s.roots, Environment: s.usual, Offline: !s.opens(),
	})
	if err != nil {
		o.Logger.Warn("a program cannot fill caches", "program", s.Name, "directory", o.Layers, "error", err)
		return
	}
	s.made.Layer, s.made.Environment = layer.Dir, layer.Environment
}

// confine settles what a sandbox shows the program, hides from it and, unless it is partial, protects.
func (s *starting) confine(ctx context.Context, protects bool) error {
	p, policy, memory := &s.made, s.Policies.Policy(), &protected.Memory{}
	links := &protected.HardLinks{}
	links.Begin(ctx, s.Policies, memory)
	files := memory.Lookups()
	approved := s.approved(policy.SandboxPolicy(nil).Following(files.Follow).Reading(files.Beginning))
	maker := func(roots []string) *policyMaker {
		m := &policyMaker{
			options: &s.runner.options, call: &Call{Memory: memory, Links: links, Audience: unheard{s}, Gate: unasked{}},
			policy: policy, files: files, tops: roots,
		}
		m.rules = policy.SandboxPolicy(approved).Within(roots).Following(files.Follow).Reading(files.Beginning)
		m.places, m.walk = memory.Find(policy, m.rules), memory.NewWalk(ctx, policy, m.rules, protected.Bounds{})
		return m
	}
	p.Working, p.Opened = s.roots, s.files
	p.Repositories = repositories(p, files.Follow)
	writes := maker(slices.Concat(p.Working, p.Repositories))
	for _, path := range slices.Concat(s.roots, s.files) {
		if writes.rules.Protects(path) {
			return abi.Errorf(abi.CodeDenied, "the program may write to %s, which is protected: programs outside of the sandbox run or believe what is in it", path)
		}
	}
	p.Visible = slices.Concat(s.runner.options.base(true), s.own(writes.rules), s.Read, repositories(&capability.SandboxPolicy{Working: s.Read}, files.Follow))
	reads := maker(files.All(slices.Concat(writes.tops, s.files, s.Read)))
	if err := reads.hideVisible(ctx, p.Visible); err != nil {
		return err
	}
	if err := reads.resolve(p); err != nil {
		return err
	}
	s.openHosts()
	if p.Protected = nil; !protects {
		return nil
	}
	var err error
	p.Made, err = writes.protect(ctx)
	p.Protected = writes.places.Protected
	return err
}

// approved are accesses that stand for naming a path which is hidden unless somebody names it.
func (s *starting) approved(rules *permissions.SandboxPolicy) (named []permissions.Access) {
	for _, path := range slices.Concat(s.Read, s.Write) {
		if at := paths.Real(path); rules.Hides(at) {
			named = append(named, permissions.Access{Kind: permissions.AccessRead, Target: path, Real: at, Tree: true})
		}
	}
	return named
}

// hideVisible adds what rules of any depth hide of what the program sees.
func (m *policyMaker) hideVisible(ctx context.Context, visible []string) error {
	walks := m.rules.Walks()
	if len(walks) == 0 {
		return nil
	}
	dirs := slices.DeleteFunc(walks, func(dir string) bool {
		return !slices.ContainsFunc(visible, func(seen string) bool { return paths.Below(dir, seen) })
	})
	if err := m.walk.Ruled(append(dirs, m.tops...)); err != nil {
		return failed(ctx, err)
	}
	rest := protected.Gather(m.walk.Unwalked, maxUnwalked)
	for _, dir := range m.tops {
		if slices.ContainsFunc(rest, func(hidden string) bool { return paths.Below(dir, hidden) }) {
			return abi.Errorf(abi.CodeTooLarge, "there are over %d files in %s to look through for those that rules such as Read(.env) hide; let the program use smaller directories", protected.MaxNames, dir)
		}
	}
	if len(rest) > 0 {
		m.places.Hidden = append(m.places.Hidden, rest...)
		m.call.Audience.Remark("what lies in " + listed(rest, 5) + " is hidden: there are too many files to look through")
	}
	return nil
}

// webFetch is the tool whose rules are about hosts.
const webFetch = "WebFetch"

// opens reports whether the program may reach any host.
func (s *starting) opens() bool { return s.Hosts.ReachesHosts(webFetch) }

// openHosts says which hosts the program may reach. A rule that denies one counts first.
func (s *starting) openHosts() {
	p, policies, own := &s.made, s.Policies, s.Hosts
	p.HostsOpened = s.opens()
	p.Denies = func(host string) bool { return policies.Policy().DeniesHost(webFetch, host) }
	p.Host = func(_ context.Context, host string) bool {
		ok, _ := own.ReachableHost(webFetch, host)
		return ok && !p.Denies(host)
	}
	p.Local = func(host string) bool { return own.NamesHost(host) || policies.Policy().NamesHost(host) }
}

// unheard logs what a model would be told about a command.
type unheard struct{ *starting }

// Offers implements [Audience].
func (unheard) Offers(string) bool { return false }

// Tell implements [Audience].
func (unheard) Tell(capability.GitEvent) {}

// Remark implements [Audience].
func (u unheard) Remark(text string) {
	u.runner.options.Logger.Warn("a program sees or changes less than it may", "program", u.Name, "why", text)
}

// unasked is the gate of what nobody is asked for.
type unasked struct{ Gate }

// MayRead reports false: another name of a file that a rule names is hidden.
func (unasked) MayRead(string) bool { return false }
