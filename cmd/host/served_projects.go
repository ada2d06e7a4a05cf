package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/propagation"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/mcp"
)

// projects are the hosts that clients of MCP use: one for each project that they work in, as
// each has settings of its own.
type projects struct {
	ctx   context.Context //nolint:containedctx // hosts outlive the requests that they are opened for
	app   *app
	flags *servedFlags
	// apart says that clients share nothing that outlives their sessions.
	apart bool

	opening sync.Mutex
	hosts   map[string]*served // by the project's directory

	mu      sync.Mutex
	servers []*mcp.Server
}

// maxProjects is how many there may be: clients choose them, and each takes some megabytes.
const maxProjects = 64

func newProjects(ctx context.Context, a *app, f *servedFlags) *projects {
	return &projects{ctx: ctx, app: a, flags: f, hosts: make(map[string]*served)}
}

// host returns the host of the project that a directory belongs to.
func (p *projects) host(cwd string) (*served, error) {
	project, err := config.FindProject(cwd, nil)
	if err != nil {
		return nil, hostError(err)
	}
	p.opening.Lock()
	defer p.opening.Unlock()
	if h := p.hosts[project.Root]; h != nil {
		return h, nil
	}
	if len(p.hosts) >= maxProjects {
		return nil, fmt.Errorf("clients work in %d projects already, which is the most: restart the server, or work in one of them", maxProjects)
	}
	a := *p.app
	a.flags.cwd = cwd
	a.unattended = len(p.hosts) > 0 // a client waits
	h, err := p.open(&a)
	if err == nil {
		p.hosts[project.Root] = h
	}
	return h, err
}

// open opens a host, without a session.
func (p *projects) open(a *app) (*served, error) {
	if a.flags.approval == approvePipe {
		return nil, usageError("--approval pipe: standard input belongs to the protocol; write auto (the client asks), later or never")
	}
	if err := p.flags.checkRemember(); err != nil {
		return nil, err
	}
	o, err := a.open(p.ctx, func(s *setup) {
		s.calls, s.sessionless = true, true
		s.options.Observe.Events = p.observe
		p.flags.remembering(&s.options.Permissions)
		if p.apart {
			s.options.Storage.Cron = "" // a durable prompt comes in any session of its project
		}
	})
	if err != nil {
		return nil, err
	}
	o.warnBroken()
	o.warnLacking()
	return &served{opened: o, app: a, unfollow: o.host.Follow(p.ctx)}, nil
}

// close closes all hosts.
func (p *projects) close() {
	p.opening.Lock()
	defer p.opening.Unlock()
	var all sync.WaitGroup
	for _, h := range p.hosts {
		all.Go(func() {
			h.unfollow()
			h.close()
		})
	}
	all.Wait()
}

// observe passes on what happens in a host.
func (p *projects) observe(e host.Event) {
	if e.Kind != host.EventTools {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, server := range p.servers {
		server.Observe(e)
	}
}

const instructions = `These tools work on files and run commands of one machine, under rules that its user has set. Reads inside the working directory are mostly allowed; what changes something may need the user's permission, for which the client is asked. A call that is denied says why, and which rule would allow it: tell the user, and do not look for another way. Paths may be relative to the working directory. Results that are too long end in a preview that names the file with the whole text.`

// server serves the clients of one principal.
func (p *projects) server(of scope, base *served, logger *slog.Logger) *mcp.Server {
	server := mcp.New(mcp.Options{
		Info:         &sdk.Implementation{Name: "toolquay", Title: "Toolquay", Version: readBuild().Version},
		Instructions: instructions,
		Open: func(_ context.Context, c mcp.Client) (*host.Session, error) {
			dirs := base.directories(of, &c)
			h, err := p.host(dirs[0])
			if err != nil {
				return nil, err
			}
			return h.session(of, &c, dirs) //nolint:contextcheck // a session outlives the request that begins it
		},
		Context:     traced,
		MaxSessions: of.sessions,
		MaxCalls:    of.calls,
		Logger:      logger,
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers = append(p.servers, server)
	return server
}

// remove forgets a server that is closed.
func (p *projects) remove(server *mcp.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers = slices.DeleteFunc(p.servers, func(other *mcp.Server) bool { return other == server })
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
