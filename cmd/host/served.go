package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/propagation"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/mcp"
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

// served is a host that clients of MCP use, each in sessions of its own.
type served struct {
	*opened
	app *app

	mu      sync.Mutex
	servers []*mcp.Server
}

// openServed opens the host, without a session.
func (a *app) openServed(ctx context.Context, f *servedFlags) (*served, error) {
	if a.flags.approval == approvePipe {
		return nil, usageError("--approval pipe: standard input belongs to the protocol; write auto (the client asks), later or never")
	}
	s := &served{app: a}
	var wrong error
	o, err := a.open(ctx, func(set *setup) {
		set.calls, set.sessionless = true, true
		set.options.Observe.Events = s.observe
		wrong = f.remembering(&set.options)
	})
	if err != nil {
		return nil, err
	}
	s.opened = o
	if wrong != nil {
		s.close()
		return nil, wrong
	}
	o.warnBroken()
	o.warnLacking()
	return s, nil
}

// remembering offers people to remember their answers only where the operator said so.
func (f *servedFlags) remembering(o *host.Options) error {
	p := &o.Permissions
	switch f.remember {
	case "":
		p.OnceOnly = true
	case rememberSession:
		p.RuleTargets, p.Remember = nil, nil
	case rememberUser:
		p.RuleTargets = map[host.RuleTarget]string{host.TargetUser: p.RuleTargets[host.TargetUser]}
	default:
		return usageError("--remember %q: write %s or %s", f.remember, rememberSession, rememberUser)
	}
	return nil
}

// observe passes on what happens in the host.
func (s *served) observe(e host.Event) {
	if e.Kind != host.EventTools {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range s.servers {
		server.Observe(e)
	}
}

const instructions = `These tools work on files and run commands of one machine, under rules that its user has set. Reads inside the working directory are mostly allowed; what changes something may need the user's permission, for which the client is asked. A call that is denied says why, and which rule would allow it: tell the user, and do not look for another way. Paths may be relative to the working directory. Results that are too long end in a preview that names the file with the whole text.`

// server serves the clients of one principal.
func (s *served) server(of scope) *mcp.Server {
	server := mcp.New(mcp.Options{
		Info:         &sdk.Implementation{Name: "toolquay", Title: "Toolquay", Version: readBuild().Version},
		Instructions: instructions,
		Open: func(_ context.Context, c mcp.Client) (*host.Session, error) {
			return s.session(of, &c) //nolint:contextcheck // a session outlives the request that begins it
		},
		Context: traced,
		Logger:  s.options.Observe.Logger,
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, server)
	return server
}

// traced puts a call below the span that its client names.
func traced(ctx context.Context, meta map[string]any) context.Context {
	carrier := propagation.MapCarrier{}
	for _, key := range []string{"traceparent", "tracestate"} {
		if value, ok := meta[key].(string); ok {
			carrier[key] = value
		}
	}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}

// session opens a session for a client.
func (s *served) session(of scope, c *mcp.Client) (*host.Session, error) {
	o := s.setup.session
	o.Cwd = of.cwd
	if roots := s.accepted(of, c); len(roots) > 0 {
		o.Cwd = roots[0]
		o.AdditionalDirs = append(slices.Clip(o.AdditionalDirs), roots[1:]...)
	}
	o.Asker = s.asker(c)
	session, err := s.host.NewSession(o)
	if err != nil {
		return nil, err
	}
	if err := choose(session, of.max, c.Mode); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		return nil, errors.Join(err, session.Close(ctx))
	}
	s.options.Observe.Logger.Info("a client has a session", "session", session.ID(), "client", c.Name, "version", c.Version,
		"revision", c.Revision, "cwd", session.Cwd(), "mode", session.Mode())
	return session, nil
}

// asker is who is asked what the rules leave open.
func (s *served) asker(c *mcp.Client) host.Asker {
	switch s.app.flags.approval {
	case approveNever:
		return nil
	case approveLater:
		return s.app.later(&s.setup, approvals.Resume{AdditionalDirs: s.setup.session.AdditionalDirs, Flags: s.app.flags.kept(nil)})
	}
	return s.app.limited(&s.setup, c.Asker)
}

// choose puts a session into the mode that its client wishes for, if it may.
func choose(session *host.Session, most, wish permissions.Mode) error {
	mode := session.Mode()
	if most == "" {
		most = mode
	}
	if wish == "" {
		mode, _ = most.Stricter(mode)
	} else {
		parsed, err := permissions.ParseMode(string(wish))
		if err != nil {
			return err
		}
		if mode, _ = most.Stricter(parsed); mode != parsed {
			return fmt.Errorf("the mode %s is not open to clients: the loosest that they may choose is %s (--max-mode)", parsed, most)
		}
	}
	if mode == session.Mode() {
		return nil
	}
	return session.SetMode(mode)
}

// accepted are the roots of a client that count: directories inside those that it may work in,
// and neither the home nor one above it.
func (s *served) accepted(of scope, c *mcp.Client) []string {
	var out []string
	for _, root := range c.Roots {
		dir, err := realDir(root)
		if err == nil && !slices.ContainsFunc(of.within(), func(base string) bool { return inside(dir, base) }) {
			err = errors.New("it lies in none of the directories that clients may work in (--cwd, --root)")
		}
		if err == nil && inside(s.dirs.Home, dir) {
			err = errors.New("it is the home, or holds it")
		}
		if err != nil {
			s.options.Observe.Logger.Warn("a client's root does not count", "root", root, "client", c.Name, "error", err)
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

// inside reports whether a path is a directory, or lies in it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
