package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/host/serve"
	"github.com/toolquay/toolquay/permissions"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	servedFlags
	addr     string
	http     serve.Options
	sessions int
	calls    int
	// begin is the mode of --mode.
	begin permissions.Mode
}

func serveCommand(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --root DIR {--token-file FILE | --no-token}",
		Short: "Serve the tools to other agents, over MCP by HTTP",
		Long: `Serve serves the tools to clients of the Model Context Protocol, at /mcp, in the
revisions 2025-11-25 and 2026-07-28. As soon as it listens it prints one line of JSON
to standard output:

    {"type":"listening","url":"http://127.0.0.1:8484/mcp","version":"..."}

Clients work below --root alone: in the roots that they offer, or else in --cwd or the
first --root. Every call passes the rules, hooks and the sandbox as it does elsewhere;
what the rules leave open is asked through the client. See toolquay mcp for modes.

Each client sends a token of the token file, as Authorization: Bearer TOKEN. The file
has one line with a token, or tables; only its owner may be able to read it:

    [[token]]
    name = "ci"                  # for logs, and in the ids of sessions
    token = "..."                # openssl rand -hex 32; or token_sha256
    root = "/srv/projects/shop"  # below a --root; the rest may be left out, too
    max_mode = "acceptEdits"     # up to --max-mode
    sessions = 4                 # at once; up to --max-sessions
    calls = 8                    # of a session at once; up to --max-calls

Clients of one token share its sessions and what these keep, and nothing with others.
All of them act as the one user of the operating system that serve runs as. A change of
the file counts at once; while it cannot be used, nobody is let in.

On the loopback --no-token lets in every program of this machine. Elsewhere clients
need tokens, and TLS (--tls-cert, --tls-key) or --insecure-http. GET /healthz answers
without a token. The first SIGTERM lets calls end for five seconds.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveHTTP(cmd.Context(), a, &f) },
	}
	f.servedFlags.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8484", "the address to listen at; port 0 is any that is free")
	flags.StringVar(&f.http.TokenFile, "token-file", "", "the file of the tokens that clients may send")
	flags.BoolVar(&f.http.NoToken, "no-token", false, "let in every program of this machine (on the loopback only)")
	flags.StringVar(&f.http.CertFile, "tls-cert", "", "serve TLS with this certificate and its chain (PEM); it is read anew when it changes")
	flags.StringVar(&f.http.KeyFile, "tls-key", "", "the key of the certificate (PEM)")
	flags.BoolVar(&f.http.InsecureHTTP, "insecure-http", false, "allow to listen elsewhere than on the loopback without TLS: tokens and files cross the network in the clear")
	flags.StringArrayVar(&f.http.Hosts, "host", nil, "a further name, without port, by which clients reach the server (repeatable)")
	flags.StringArrayVar(&f.http.Origins, "origin", nil, "the origin of a web page that may use the server, such as https://app.example.com (repeatable)")
	flags.IntVar(&f.sessions, "max-sessions", mcp.DefaultMaxSessions, "how many sessions a token may have at once")
	flags.IntVar(&f.calls, "max-calls", mcp.DefaultMaxCalls, "how many calls of a session may be under way at once")
	return cmd
}

// listening is the line that serve prints when it listens.
type listening struct {
	Type    string `json:"type"`
	URL     string `json:"url"`
	Version string `json:"version"`
}

const mcpPath = "/mcp"

func serveHTTP(ctx context.Context, a *app, f *serveFlags) error {
	all, err := f.check(a)
	if err != nil {
		return err
	}
	p := newProjects(context.WithoutCancel(ctx), a, &f.servedFlags)
	p.apart = true
	defer p.close() //nolint:contextcheck // ctx may be over by then
	base, err := p.host(all.cwd)
	if err != nil {
		return err
	}
	o := f.http
	o.Logger = base.options.Observe.Logger
	o.CheckToken = func(t *serve.Token) error {
		_, err := f.scopeOf(all, t)
		return err
	}
	o.Mounts = map[string]serve.Mount{mcpPath: func(t *serve.Token) (http.Handler, error) {
		return f.mount(p, all, t)
	}}
	server, err := serve.New(o)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return usageError("--addr: %w", err)
	}
	return a.serveAt(ctx, server, l)
}

// mount serves the clients of a token.
func (f *serveFlags) mount(p *projects, all scope, t *serve.Token) (http.Handler, error) {
	of, err := f.scopeOf(all, t)
	if err != nil {
		return nil, err
	}
	base, err := p.host(of.cwd)
	if err != nil {
		return nil, err
	}
	server := p.server(of, base, base.options.Observe.Logger.With("token", t.Name))
	return &mounted{Handler: server.Handler(), server: server, projects: p}, nil
}

// mounted is what answers the requests of a token.
type mounted struct {
	http.Handler
	server   *mcp.Server
	projects *projects
}

// Close ends the sessions of the token's clients.
func (m *mounted) Close(ctx context.Context) error {
	m.projects.remove(m.server)
	return m.server.Close(ctx)
}

// serveAt serves until a signal ends ctx, and says first where.
func (a *app) serveAt(ctx context.Context, server *serve.Server, l net.Listener) error {
	if err := server.CheckAddress(l.Addr()); err != nil {
		return &exitError{exitUsage, errors.Join(err, l.Close())}
	}
	line := listening{"listening", server.URL(l.Addr()) + mcpPath, readBuild().Version}
	if err := printIndented(a.out, line, ""); err != nil {
		return errors.Join(err, l.Close())
	}
	if err := server.Serve(ctx, l); err != nil {
		return hostError(err)
	}
	return quiet(signalCode(ctx))
}

// check checks the flags, and returns what clients may do whose token says nothing else.
func (f *serveFlags) check(a *app) (scope, error) {
	switch {
	case len(f.roots) == 0:
		return scope{}, usageError("--root is missing: name the directory below which clients may work")
	case a.flags.session != "":
		return scope{}, usageError("--session: each client has sessions of its own; leave it out")
	case f.http.NoToken == (f.http.TokenFile != ""):
		return scope{}, usageError("write --token-file FILE, or --no-token to let in every program of this machine")
	case f.sessions < 1 || f.calls < 1:
		return scope{}, usageError("--max-sessions and --max-calls: write a number from 1 on")
	}
	all, err := f.scope(a.flags.cwd)
	if err != nil {
		return all, err
	}
	f.begin = permissions.Mode(a.flags.mode)
	all.sessions, all.calls = f.sessions, f.calls
	home := userDirs().Home
	for _, root := range all.roots {
		if holds(root, home) {
			return all, usageError("--root %s: it is the home, or holds it; name a directory of projects", root)
		}
	}
	if all.cwd == "" {
		all.cwd = all.roots[0]
		return all, nil
	}
	if all.cwd, err = realDir(all.cwd); err != nil {
		return all, usageError("--cwd: %w", err)
	}
	if !insideAny(all.cwd, all.roots) {
		return all, usageError("--cwd %s lies below no --root", all.cwd)
	}
	return all, nil
}

// scopeOf is what the clients of a token may do, within what all may.
func (f *serveFlags) scopeOf(all scope, t *serve.Token) (scope, error) {
	of := all
	of.token = t.Name
	if f.http.NoToken {
		return of, nil
	}
	if t.Root != "" {
		root, err := realDir(t.Root)
		if err != nil {
			return of, fmt.Errorf("root: %w", err)
		}
		if !insideAny(root, all.roots) {
			return of, fmt.Errorf("root: %s lies below no --root", t.Root)
		}
		of.roots, of.cwd = []string{root}, root
	}
	if t.MaxMode != "" {
		most := cmp.Or(all.max, f.begin, permissions.ModeDefault)
		if mode, _ := most.Stricter(t.MaxMode); mode != t.MaxMode {
			return of, fmt.Errorf("max_mode: %s is looser than %s; start with --max-mode %s if it should be open to this token", t.MaxMode, most, t.MaxMode)
		}
		of.max = t.MaxMode
	}
	if t.Sessions > all.sessions || t.Calls > all.calls {
		return of, fmt.Errorf("sessions and calls may be at most %d and %d; start with --max-sessions and --max-calls for more", all.sessions, all.calls)
	}
	of.sessions, of.calls = cmp.Or(t.Sessions, all.sessions), cmp.Or(t.Calls, all.calls)
	return of, nil
}
