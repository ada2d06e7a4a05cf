package commands

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxHeld bounds how many protected paths below the working directories are held one by
	// one: each costs a sandbox a mount, and another one for every directory on the way.
	// Where there are more, the directories with most of them are protected as a whole.
	maxHeld = 512
	// maxUnwalked bounds how many directories are hidden or protected as a whole because a
	// walk did not come to them: each costs every sandbox a mount.
	maxUnwalked = 128
	// longestRecheck bounds the search for what a command created.
	longestRecheck = 5 * time.Second
)

// policyMaker finds out what the sandbox of one command hides and protects, by the rules
// and files as they are now.
type policyMaker struct {
	options  *Options
	call     *Call
	policy   *permissions.Policy
	rules    *permissions.SandboxPolicy
	files    *paths.Lookups
	tops     []string // the writable directories, as they really lie
	walk     *protected.Walk
	places   permissions.Places
	readable []string // shown because rules allow reading them
}

// sandboxPolicy completes the policy of a command's sandbox, of which the writable
// directories are known. Writes says that the command may write: otherwise protected paths
// are not looked for. Live are the copies of files that commands have, nil if the sandbox can
// show none.
func sandboxPolicy(ctx context.Context, o *Options, c *Call, policy *permissions.Policy, p *capability.SandboxPolicy, writes bool, live *liveCopies) error {
	m := &policyMaker{options: o, call: c, policy: policy, files: c.Memory.Lookups()}
	if p.Staged == nil { // else opened files would be changed on the disk
		p.Opened = opened(c.Gate.Approved(), p)
	}
	m.tops = m.files.All(slices.Concat(p.Working, p.Repositories, slices.DeleteFunc(slices.Clone(p.Opened), isFile)))
	m.rules = policy.SandboxPolicy(c.Gate.Approved()).Following(m.files.Follow).Reading(m.files.Beginning).Around(m.tops)
	m.places = c.Memory.Find(policy, m.rules)
	m.walk = c.Memory.NewWalk(ctx, policy, m.rules, protected.Bounds{})
	m.see(p, writes)
	if err := m.hide(ctx); err != nil {
		return err
	}
	if writes {
		var err error
		if p.Made, err = m.protect(ctx); err != nil {
			return err
		}
	}
	if trial, tried := c.Session.Staging().(Trial); tried {
		m.mask(ctx, trial, p)
	}
	m.walk.Remember()
	m.openHosts(p)
	if err := m.resolve(p); err != nil || live == nil || !writes {
		return err
	}
	m.give(ctx, p, live)
	return nil
}

// resolve writes down the paths that were found, as they really lie.
func (m *policyMaker) resolve(p *capability.SandboxPolicy) error {
	others, err := m.call.Links.OtherNames(m.tops)
	if err != nil {
		return err
	}
	// A rule may hold back only changing a file: then its other names can be read, too.
	hidden := slices.Concat(m.places.Hidden, m.walk.Hidden, slices.DeleteFunc(others, m.call.Gate.MayRead))
	if m.options.Layers != "" {
		hidden = append(hidden, m.options.Layers) // those of other projects
	}
	p.Hidden, p.Shown, p.Protected = m.files.Existing(hidden), m.files.Existing(slices.Concat(m.places.Shown, further(m.tops))), m.places.Protected
	for _, dir := range p.Working {
		holds := func(top string) bool { return paths.Below(dir, top) }
		if slices.ContainsFunc(p.Hidden, holds) && !slices.ContainsFunc(p.Shown, holds) {
			if len(m.files.Existing([]string{dir})) == 0 { // a worktree lies in a hidden place
				return abi.Errorf(abi.CodeNotFound, "the working directory %s is gone, so that no command can be run in it; ExitWorktree leaves a worktree", dir)
			}
			return abi.Errorf(abi.CodeDenied, "a rule hides the working directory %s, so that no command can be run in it", dir)
		}
	}
	return nil
}

// hide adds the paths that rules of any depth hide or protect. Where there are too many
// names to look at, the rest is hidden, and the model is told so.
func (m *policyMaker) hide(ctx context.Context) error {
	dirs := m.rules.Walks()
	if len(dirs) == 0 {
		return nil
	}
	if err := m.walk.Ruled(append(dirs, m.readable...)); err != nil {
		return failed(ctx, err)
	}
	m.places.Protected = append(m.places.Protected, m.walk.Protected...)
	if len(m.walk.Unwalked) == 0 {
		return nil
	}
	rest := protected.Gather(m.walk.Unwalked, maxUnwalked)
	for _, dir := range m.policy.WorkingDirs() {
		if slices.ContainsFunc(rest, func(hidden string) bool { return paths.Below(dir, hidden) }) {
			return abi.Errorf(abi.CodeTooLarge, "there are over %d files in %s to look through for those that rules such as Read(.env) hide from commands; name their paths, as in Read(./.env), or work in a smaller directory", protected.MaxNames, dir)
		}
	}
	m.places.Hidden = append(m.places.Hidden, rest...)
	m.call.Audience.Remark("Commands do not see what lies in " + listed(rest, 5) + ": there are too many files to look through for those that rules hide. Where the rules name paths, as in Read(./.env), nothing has to be looked through.")
	return nil
}

// protect adds the existing paths that are guarded by their names, at any depth, and the
// settings of trusted projects, whether or not they exist. The function that it returns
// tells, when the command has ended, about protected paths that are new.
func (m *policyMaker) protect(ctx context.Context) (made func() string, err error) {
	known := len(m.walk.Protected)
	if err := m.walk.Guarded(); err != nil {
		return nil, failed(ctx, err)
	}
	before := m.walk.Existing(m.rules, m.files, m.tops)
	held, shut := protected.GatherAround(before.Paths(m.rules, m.files), m.tops, maxHeld)
	rest, _ := protected.GatherAround(m.walk.Unguarded, m.tops, maxUnwalked)
	m.places.Protected = slices.Concat(m.places.Protected, m.walk.Protected[known:], held, rest)
	if all := slices.Concat(shut, rest); len(all) > 0 {
		m.call.Audience.Remark("Commands cannot write in " + listed(all, 5) + ": more files lie there that are protected, such as .git or .vscode, or have to be looked through for such, than can be kept one by one. Work on these with other tools, in a smaller directory, or ask the user.")
	}
	if m.options.TrustedProjects != nil {
		for _, project := range m.options.TrustedProjects() {
			m.places.Protected = append(m.places.Protected, m.rules.Settings(project)...)
		}
	}
	if len(m.rules.Guarded()) == 0 {
		return nil, nil
	}
	return m.recheck(before, m.walk.Unguarded), nil //nolint:contextcheck // the call may be over by then
}

// cwd is the session's directory, from which the model sees paths.
func (m *policyMaker) cwd() string {
	return filepath.ToSlash(cmp.Or(m.policy.Cwd().Real, m.policy.Cwd().Path))
}

// recheck returns a function that tells which protected paths exist that did not before, and
// which directories can no longer be looked through.
func (m *policyMaker) recheck(before protected.Existing, unguarded []string) func() string {
	policy, rules, memory, tops := m.policy, m.rules, m.call.Memory, m.tops
	cwd := m.cwd()
	return func() string {
		ctx, cancel := context.WithTimeout(context.Background(), longestRecheck)
		defer cancel()
		walk := memory.NewWalk(ctx, policy, rules, protected.Bounds{})
		if walk.Guarded() != nil {
			return "Whether the command made protected files was not found out: looking for them takes too long here."
		}
		closed := slices.DeleteFunc(walk.Unguarded, func(dir string) bool { return slices.Contains(unguarded, dir) })
		files := memory.Lookups()
		now := walk.Existing(rules.Following(files.Follow).Reading(files.Beginning), files, tops)
		return madeNote(now.Since(before), closed, cwd)
	}
}

// failed is the error of a walk: if the call is over, that.
func failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return err
}
