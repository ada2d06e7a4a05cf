package servers

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host"
)

// Options configure a [Set].
type Options struct {
	Servers []Config
	// Credentials keep what logins to servers over HTTP give; nil offers no logins.
	Credentials Credentials
	// Pins is the file that keeps what definitions of tools were seen; empty keeps them for the
	// life of the set.
	Pins string
	// Dir is where programs start that name no directory, such as the project's.
	Dir string
	// Version is the program's own, told to servers.
	Version string
	// Proxy is the HTTP proxy for servers over HTTP; nil is none.
	Proxy *url.URL
	// Logger takes what an operator should know, and what programs write to standard error;
	// nil discards it.
	Logger *slog.Logger
}

// Set is the MCP servers of a host. It is safe for concurrent use.
type Set struct {
	host      *host.Host
	options   Options
	pins      *pins
	resources resourceTools
	ctx       context.Context //nolint:containedctx // ends with the set, which outlives the call that opens it
	end       context.CancelFunc
	running   sync.WaitGroup
	launches  launches

	mu      sync.Mutex
	servers map[string]*server
	leaving map[string]chan struct{} // closed when nothing of a server that was taken out is left
	changed chan struct{}            // closed when the status of a server changes, and replaced
}

// Open makes the set of a host's servers, and begins to connect to them. It returns at once:
// what is wrong with a server is that server's [Status].
func Open(h *host.Host, o Options) *Set {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{host: h, options: o, launches: newLaunches(), pins: openPins(o.Pins, o.Logger), servers: make(map[string]*server), leaving: make(map[string]chan struct{}), changed: make(chan struct{})}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.Configure(o.Servers)
	return s
}

// Configure has other servers take the place of those there are. One whose configuration is
// the same goes on as it is. Of two with one name the first counts.
func (s *Set) Configure(list []Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	keep := make(map[string]bool)
	for i := range list {
		c := &list[i]
		if keep[c.Name] {
			continue
		}
		keep[c.Name] = true
		old := s.servers[c.Name]
		if old != nil && old.config.sum() == c.sum() {
			continue
		}
		next, left := newServer(s, *c), s.leaving[c.Name]
		s.servers[c.Name] = next
		s.running.Go(func() {
			switch {
			case old != nil:
				old.stop()
			case left != nil:
				<-left
			}
			next.run()
		})
	}
	for name, old := range s.servers {
		if !keep[name] {
			delete(s.servers, name)
			left := make(chan struct{})
			s.leaving[name] = left
			s.running.Go(func() {
				old.stop()
				old.provide(host.Provided{})
				s.offerResources()
				close(left)
			})
		}
	}
	s.tell()
}

// tell wakes who waits for changes. The mutex is held.
func (s *Set) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// State is how a server stands.
type State string

// The states.
const (
	Pending   State = "pending"    // it is being connected for the first time
	Connected State = "connected"  // its tools can be called
	Idle      State = "idle"       // nobody uses it: the next call starts its program, or a session
	NeedsAuth State = "needs_auth" // a person must log in
	Failed    State = "failed"     // see Problem; it is tried again
)

// Status is how a server stands at a moment.
type Status struct {
	Name  string
	State State
	// Tools are the names by which its tools are offered, in order.
	Tools []string
	// Problem is why it is not connected, or what else is wrong with it; nil is nothing.
	Problem error
	// Server is what it calls itself, and Revision the one of the protocol that it speaks.
	Server, Revision string
	// Refused are hosts that its program was kept from, and Stderr is the end of what it wrote
	// to standard error, at most 4 KiB.
	Refused []string
	Stderr  string
	// Since is when the state began.
	Since time.Time
}

// Status lists how the servers stand, by name.
func (s *Set) Status() []Status {
	var all []Status
	for _, one := range s.list() {
		all = append(all, one.Status())
	}
	return all
}

// list are the servers, by name.
func (s *Set) list() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*server, 0, len(s.servers))
	for _, one := range s.servers {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *server) int { return strings.Compare(a.config.Name, b.config.Name) })
	return list
}

// Wait waits until none of the named servers is pending, or ctx ends; no names are all. Those
// that are named start before others.
func (s *Set) Wait(ctx context.Context, names ...string) error {
	for {
		s.mu.Lock()
		changed, waits := s.changed, false
		for name, one := range s.servers {
			named := slices.Contains(names, name)
			if (len(names) == 0 || named) && one.Status().State == Pending {
				waits = true
				if named {
					one.want()
				}
			}
		}
		s.mu.Unlock()
		if !waits {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends all connections and programs, and waits for that, or for ctx.
func (s *Set) Close(ctx context.Context) error {
	s.end()
	s.mu.Lock()
	all := s.servers
	s.servers = nil
	s.tell()
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, one := range all {
			one.stop()
		}
		s.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// dir is where a server starts.
func (s *Set) dir(c *Config) string { return cmp.Or(c.Dir, s.options.Dir) }
