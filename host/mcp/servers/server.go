package servers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers/internal/oauth"
	"github.com/toolquay/toolquay/internal/visible"
)

// The times between the tries to connect: the first one, which doubles up to the last. A
// connection that stood for steady begins with the first one again.
const (
	firstWait = time.Second
	lastWait  = 5 * time.Minute
	steady    = time.Minute
)

// relistWait is the shortest time between two listings of tools that a server asks for.
const relistWait = time.Second

// server is one server, whose connections come and go.
type server struct {
	set    *Set
	config Config
	log    *slog.Logger
	ctx    context.Context //nolint:containedctx // the server's own life
	end    context.CancelFunc
	over   chan struct{}  // closed when it has ended
	wanted chan struct{}  // holds a token when a call wants a connection
	oauth  *oauth.Handler // nil where no login is possible

	// late says that it answered the first question after probeTime, and patient that it is
	// waited for since, as long as a start may take. Only run uses patient.
	late    atomic.Bool
	patient bool

	mu      sync.Mutex
	status  Status
	live    *connection
	tools   map[string]*definition // by the name by which they are offered
	waiting int                    // calls that wait for a connection
	stepUp  bool                   // a person can log in for more than was granted
	// resources says that the server has some, and is connected or was until nobody used it.
	resources bool
	prompts   []host.Skill  // as they were listed last
	changed   chan struct{} // closed when any of it changes, and replaced
}

func newServer(s *Set, c Config) *server {
	one := &server{
		set: s, config: c, log: s.options.Logger.With("server", c.Name), over: make(chan struct{}), wanted: make(chan struct{}, 1), changed: make(chan struct{}),
		status: Status{Name: c.Name, State: Pending, Since: time.Now()},
	}
	one.ctx, one.end = context.WithCancel(s.ctx)
	if c.noLogin() == "" && s.options.Credentials != nil {
		one.oauth = c.logins(one.httpClient(), s.options.Credentials, s.options.Logger)
	}
	return one
}

// stop ends the server, and waits for that.
func (s *server) stop() {
	s.end()
	<-s.over
}

// Status is how it stands.
func (s *server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	if s.live != nil && s.live.program != nil {
		status.Refused, status.Stderr = s.live.program.Refused(), s.live.stderr.tail()
	}
	return status
}

// become changes the state, and tells who waits for it.
func (s *server) become(state State, problem error, change func(*Status)) {
	s.mu.Lock()
	if s.status.State != state {
		s.status.Since = time.Now()
	}
	s.status.State, s.status.Problem = state, problem
	s.resources = s.resources && (state == Connected || state == Idle)
	if change != nil {
		change(&s.status)
	}
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.set.offerResources()
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	s.set.tell()
}

var (
	// errIdle is how a connection ends that nobody uses.
	errIdle = errors.New("nobody called it for a while")
	// errEnded is how a connection ends when the server closes it.
	errEnded = errors.New("the server closed the connection")
)

// run connects and reconnects until the server is stopped.
func (s *server) run() {
	defer close(s.over)
	defer s.end()
	if err := s.config.check(); err != nil {
		s.fail(err)
		return
	}
	launched := s.awaitLaunch()
	for wait := firstWait; ; wait = max(firstWait, min(2*wait, lastWait)) {
		began := time.Now()
		err := s.serve(launched)
		if s.ctx.Err() != nil {
			return
		}
		if time.Since(began) > steady {
			wait = firstWait
		}
		switch {
		case errors.Is(err, errIdle), errors.Is(err, mcp.ErrSessionMissing):
			s.become(Idle, nil, nil)
			wait = 0
		case s.asksLogin(err):
			wait = 0
		default:
			s.fail(err)
		}
		least, most := min(wait, firstWait), wait
		if wait == 0 {
			most = forever
		}
		if !s.sleep(least, most) {
			return
		}
	}
}

// fail says why there is no connection.
func (s *server) fail(err error) {
	s.log.Warn("an MCP server is not connected", "problem", visible.Short(err.Error(), maxProblem))
	first := false
	s.become(Failed, shown{err}, func(st *Status) { first = st.Tools == nil })
	if first {
		s.provide(host.Provided{}) // it is not pending any more
	}
}

// maxProblem bounds what is told of a problem, in bytes.
const maxProblem = 1000

// forever is longer than any wait.
const forever = 365 * 24 * time.Hour

// sleep waits for a time at least, and then until a call wants a connection, or at most for
// another time. It reports false if the server is stopped.
func (s *server) sleep(least, most time.Duration) bool {
	for _, step := range []struct {
		time   time.Duration
		wanted <-chan struct{}
	}{{least, nil}, {most - least, s.wanted}} {
		timer := time.NewTimer(step.time)
		select {
		case <-step.wanted:
		case <-timer.C:
		case <-s.ctx.Done():
		}
		timer.Stop()
	}
	return s.ctx.Err() == nil
}

// serve connects, offers the tools, and returns why the connection ended.
func (s *server) serve(launched func()) error {
	defer launched()
	c, err := s.inTime()
	if err != nil {
		return err
	}
	defer s.drop(c)
	launched()
	info := c.session.InitializeResult()
	s.mu.Lock()
	s.live, s.resources = c, info.Capabilities != nil && info.Capabilities.Resources != nil
	s.mu.Unlock()
	s.set.offerResources() // before anybody learns that it is connected
	s.become(Connected, nil, func(st *Status) {
		st.Revision = visible.Short(info.ProtocolVersion, maxClaim)
		if info.ServerInfo != nil {
			st.Server = visible.Short(info.ServerInfo.Name+" "+info.ServerInfo.Version, maxClaim)
		}
	})
	select {
	case <-s.wanted: // they have it
	default:
	}
	return s.attend(c)
}

// lateTime is how long a program may take to answer when nobody waits for it any more. Npx and uvx
// fetch what is missing, and what is ended meanwhile can leave their caches broken for good.
const lateTime = 5 * time.Minute

// inTime connects and lists the tools. A program that is late counts as failed, and has some more
// time.
func (s *server) inTime() (c *connection, err error) {
	limit := s.config.startTimeout()
	late, most := fmt.Errorf("it did not answer within %s (start_timeout)", limit), limit
	if s.config.URL == "" {
		most = max(limit, lateTime)
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, most, late)
	defer cancel()
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		c, err = s.establish(ctx)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-begun:
	case <-timer.C:
		if most > limit {
			s.fail(fmt.Errorf("%w; it still has %s", late, most-limit))
		}
		<-begun
	}
	return c, reason(ctx, err)
}

// establish connects and lists the tools. A server that answers the first question of the newer
// revision late was taken for one of the older, whether or not it also speaks that: it is asked
// again, and waited for.
func (s *server) establish(ctx context.Context) (*connection, error) {
	s.patient = s.patient || s.late.Load() // its last answer may have come after that
	c, err := s.establishOnce(ctx)
	if s.patient || !s.late.Load() {
		return c, err
	}
	s.patient = true
	if err == nil {
		s.drop(c)
	}
	return s.establishOnce(ctx)
}

func (s *server) establishOnce(ctx context.Context) (*connection, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.list(ctx, c); err != nil {
		s.drop(c)
		return nil, err
	}
	s.listPrompts(ctx, c)
	return c, nil
}

// maxClaim bounds what a server calls itself, in bytes.
const maxClaim = 100

// attend keeps a connection until it ends, and lists tools again when they changed.
func (s *server) attend(c *connection) error {
	idle := newIdle(s.config.IdleTimeout)
	defer idle.Stop()
	for {
		select {
		case <-c.broken:
			return c.why
		case <-c.listChanged:
			if err := s.relist(c); err != nil {
				s.log.Warn("the tools of an MCP server changed, and could not be listed", "problem", visible.Short(err.Error(), maxProblem))
			}
		case <-idle.C:
			if s.rests(c) {
				return errIdle
			}
			idle.Reset(s.config.IdleTimeout)
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// newIdle is a timer, which never fires for 0.
func newIdle(d time.Duration) *time.Timer {
	if d <= 0 {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return t
	}
	return time.NewTimer(d)
}

// rests takes a connection that no call used since it was last asked out of use.
func (s *server) rests(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := c.used
	c.used = false
	if used || c.held+s.waiting > 0 {
		return false
	}
	s.live = nil
	return true
}

// relist lists the tools anew, not too often.
func (s *server) relist(c *connection) error {
	select {
	case <-time.After(time.Until(c.listed.Add(relistWait))):
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.config.startTimeout(), fmt.Errorf("it did not list its tools within %s (start_timeout)", s.config.startTimeout()))
	defer cancel()
	err := reason(ctx, s.list(ctx, c))
	s.listPrompts(ctx, c)
	return err
}

// heard keeps what a program said and asked for, for the status. The mutex is held.
func (s *server) heard(c *connection) {
	if c.program != nil {
		s.status.Stderr, s.status.Refused = c.stderr.tail(), c.program.Refused()
	}
}

// drop closes a connection.
func (s *server) drop(c *connection) {
	s.mu.Lock()
	if s.live == c {
		s.live = nil
	}
	s.heard(c)
	s.mu.Unlock()
	if c.program == nil && s.ctx.Err() == nil {
		s.set.running.Go(func() { s.drain(c) })
		return
	}
	c.close()
}

// drain closes a connection over HTTP when its other calls have their answers: one request that
// failed leaves those of others alone.
func (s *server) drain(c *connection) {
	defer c.close()
	for held := 1; held > 0; {
		select {
		case <-time.After(drainCheck):
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		held = c.held
		s.mu.Unlock()
	}
}

// drainCheck is the time between two looks at the calls of a connection that is given up.
const drainCheck = 100 * time.Millisecond

// provide offers tools in the host.
func (s *server) provide(p host.Provided) {
	if err := s.set.host.Provide("mcp server "+s.config.Name, p); err != nil && !errors.Is(err, host.ErrClosed) {
		s.log.Error("the tools of an MCP server cannot be offered", "problem", visible.Short(err.Error(), maxProblem))
	}
}

// connection is the live connection, or waits for one, which is not closed before it is released.
// Where that takes a login, it does not wait for another one.
func (s *server) connection(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.startTimeout())
	defer cancel()
	s.mu.Lock()
	s.waiting++
	before := s.status.Problem
	defer func() {
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
	}()
	for {
		c, changed, st := s.hold(), s.changed, s.status
		s.mu.Unlock()
		if c != nil {
			return c, nil
		}
		if st.State == NeedsAuth && st.Problem != before { //nolint:errorlint // each try has a problem of its own
			return nil, abi.Errorf(abi.CodeDenied, "%w", st.Problem)
		}
		s.want()
		select {
		case <-changed:
		case <-s.over:
			return nil, abi.Errorf(abi.CodeUnsupported, "the MCP server %s is not configured any more", s.config.Name)
		case <-ctx.Done():
			if st.Problem != nil {
				return nil, abi.Errorf(abi.CodeIO, "the MCP server %s is not connected: %w", s.config.Name, st.Problem)
			}
			return nil, abi.Errorf(abi.CodeIO, "the MCP server %s is not connected", s.config.Name)
		}
		s.mu.Lock()
	}
}

// hold is the live connection, which is not closed before it is released; nil where there is none.
// The mutex is held.
func (s *server) hold() *connection {
	if !s.live.works() {
		return nil
	}
	s.live.held++
	return s.live
}

// reason is why something failed under a context: the context's, if that ended.
func reason(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
