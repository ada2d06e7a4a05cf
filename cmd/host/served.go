package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// servedFlags are the flags of commands that serve clients of MCP.
type servedFlags struct {
	roots    []string
	maxMode  string
	remember string
}

func (f *servedFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.roots, "root", nil, "a directory in which clients may choose where to work, by the roots that they offer (repeatable)")
	cmd.Flags().StringVar(&f.maxMode, "max-mode", "", "the loosest permission mode that a client may choose (default: the one that sessions begin in)")
	cmd.Flags().StringVar(&f.remember, "remember", "", "offer to remember answers: session, or user (in the user's settings too); by default each is for once, as no protocol shows that a person gave it")
}

// The values of --remember.
const (
	rememberSession = "session"
	rememberUser    = "user"
)

// scope is what the clients of one principal may do.
type scope struct {
	// roots are where they may work, besides cwd: absolute, without links.
	roots []string
	// cwd is where they work if they offer no root that counts.
	cwd string
	// max is the loosest mode that they may choose; empty is the one that sessions begin in.
	max permissions.Mode
	// token is the name of their token, which their sessions' ids begin with; empty for none.
	token string
	// sessions and calls are how many they may have at once; 0 is the default.
	sessions, calls int
}

// scope is what the flags allow. The directories must be there.
func (f *servedFlags) scope(cwd string) (scope, error) {
	s := scope{cwd: cwd}
	for _, root := range f.roots {
		dir, err := realDir(root)
		if err != nil {
			return s, usageError("--root: %w", err)
		}
		s.roots = append(s.roots, dir)
	}
	if f.maxMode != "" {
		mode, err := permissions.ParseMode(f.maxMode)
		if err != nil {
			return s, usageError("--max-mode: %w", err)
		}
		s.max = mode
	}
	return s, nil
}

// realDir is an existing directory as an absolute path without links.
func realDir(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", path)
	}
	return dir, nil
}

// checkRemember checks the flag --remember.
func (f *servedFlags) checkRemember() error {
	switch f.remember {
	case "", rememberSession, rememberUser:
		return nil
	}
	return usageError("--remember %q: write %s or %s", f.remember, rememberSession, rememberUser)
}

// remembering offers people to remember their answers only where the operator said so.
func (f *servedFlags) remembering(p *host.PermissionOptions) {
	switch f.remember {
	case "":
		p.OnceOnly = true
	case rememberSession:
		p.RuleTargets, p.Remember = nil, nil
	case rememberUser:
		p.RuleTargets = map[host.RuleTarget]string{host.TargetUser: p.RuleTargets[host.TargetUser]}
	}
}

// served is the host of a project, which clients of MCP use, each in sessions of its own.
type served struct {
	*opened
	app *app
	// unfollow ends following the plugins.
	unfollow func()
}

// session opens a session for a client, in its directories.
func (s *served) session(of scope, c *mcp.Client, dirs []string) (*host.Session, error) {
	o := s.setup.session
	o.Unheard = true // a client shows its person results alone
	o.Prompts = true
	if of.token != "" {
		o.ID = of.token + "-" + rand.Text()
	}
	o.Cwd, o.AdditionalDirs = dirs[0], append(slices.Clip(o.AdditionalDirs), dirs[1:]...)
	o.Asker = s.asker(c, approvals.Resume{Began: o.Cwd, AdditionalDirs: o.AdditionalDirs})
	session, err := s.host.NewSession(o)
	if err != nil {
		return nil, err
	}
	if err := choose(session, of.max, c.Mode); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		return nil, errors.Join(err, session.Close(ctx))
	}
	s.options.Observe.Logger.Info("a client has a session", "token", of.token, "session", session.ID(), "client", visible.Short(c.Name, maxClaim), "version", visible.Short(c.Version, maxClaim),
		"revision", c.Revision, "cwd", session.Cwd(), "mode", session.Mode())
	return session, nil
}

// asker is who is asked what the rules leave open.
func (s *served) asker(c *mcp.Client, resume approvals.Resume) host.Asker {
	switch s.app.flags.approval {
	case approveNever:
		return nil
	case approveLater:
		return s.app.later(&s.setup, resume)
	}
	return s.app.limited(&s.setup, c.Asker)
}

// maxClaim bounds what the log tells of a client's own words, in bytes.
const maxClaim = 200

// choose puts a session into the mode that its client wishes for, if it may.
func choose(session *host.Session, most, wish permissions.Mode) error {
	mode := session.Mode()
	if most == "" {
		most = mode
	}
	session.LimitPlans(most)
	if _, err := permissions.ParseMode(string(cmp.Or(wish, mode))); err != nil {
		return err
	}
	limited, noAsk := most.Stricter(cmp.Or(wish, mode))
	switch {
	case noAsk: // neither is the stricter
		return fmt.Errorf("of the modes %s and %s neither is the stricter one: choose %s, or start with another --max-mode", cmp.Or(wish, mode), most, most)
	case wish != "" && limited != wish:
		return fmt.Errorf("the mode %s is not open to clients: the loosest that they may choose is %s (--max-mode)", wish, most)
	}
	mode = limited
	if mode == session.Mode() {
		return nil
	}
	return session.SetMode(mode)
}

// directories are where a client works: first the working directory, then the others.
func (s *served) directories(of scope, c *mcp.Client) []string {
	if roots := s.accepted(of, c); len(roots) > 0 {
		return roots
	}
	return []string{of.cwd}
}

// accepted are the roots of a client that count: directories inside those that it may work in,
// and neither the home nor one above it.
func (s *served) accepted(of scope, c *mcp.Client) []string {
	var out []string
	for _, root := range c.Roots {
		dir, err := realDir(root)
		if err == nil && !insideAny(dir, of.within()) {
			err = errors.New("it lies in none of the directories that clients may work in (--cwd, --root)")
		}
		if err == nil && holds(dir, s.dirs.Home) {
			err = errors.New("it is the home, or holds it")
		}
		if err != nil {
			s.options.Observe.Logger.Warn("a client's root does not count", "root", visible.Short(root, maxClaim), "client", visible.Short(c.Name, maxClaim), "error", err)
			continue
		}
		out = append(out, dir)
	}
	return out
}

// within are the directories inside which roots count.
func (s *scope) within() []string {
	list := slices.Clone(s.roots)
	if dir, err := realDir(s.cwd); err == nil {
		list = append(list, dir)
	}
	return list
}

// holds reports whether a directory is the home, or holds it, however either is written.
func holds(dir, home string) bool {
	if home == "" {
		return false
	}
	of, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if dir, err := realDir(home); err == nil {
		home = dir
	}
	for ; ; home = filepath.Dir(home) {
		if info, err := os.Stat(home); err == nil && os.SameFile(info, of) {
			return true
		}
		if home == filepath.Dir(home) {
			return false
		}
	}
}

// insideAny reports whether a path is one of some directories, or lies in one.
func insideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return inside(path, dir) })
}

// inside reports whether a path is a directory, or lies in it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
