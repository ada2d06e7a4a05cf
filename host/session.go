package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/host/internal/toolset"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// SessionOptions configure a [Session].
type SessionOptions struct {
	// ID names the session, in approvals, grants and logs; empty makes one up.
	ID string
	// Cwd is the working directory: an existing directory, absolute.
	Cwd string
	// AdditionalDirs are further directories to work in, absolute.
	AdditionalDirs []string
	// Mode is the permission mode; empty is the settings', else the default.
	Mode permissions.Mode
	// PlanFile is the one file that may be written in the mode plan, absolute.
	PlanFile string
	// Asker asks the person; nil makes the session headless.
	Asker Asker
	// Audience is whom the tools are for; some are not for every one.
	Audience Audience
	// Stage has what tools write staged, in the session's folder: they see it, and
	// nothing on the disk changes until it is applied (see [Session.Stage]). Tools of
	// the embedder's own that are not read-only are refused, and so is what plugins
	// would change or run by capabilities that know nothing of a stage. A session that
	// has staged files does not start without it ([ErrStaged]).
	Stage bool
	// Ephemeral gives the session no folder, though the host has a directory for
	// them: what is too large for a model is cut.
	Ephemeral bool
}

// Session is one conversation's state. It is safe for concurrent use; turns run
// one after the other.
type Session struct {
	host    *Host
	options SessionOptions
	start   string // the working directory it began in
	// base are the places that its policies are about.
	base  permissions.Setup
	id    string
	asker Asker
	judge *judge.Judge
	kept  plugins.Session
	rest  sync.WaitGroup
	// stored is what is kept beyond a turn, and files the read state of files.
	stored stored
	files  filestate.Files
	// scratch is what does not outlive the session.
	scratch scratch
	// walked keeps what walks of its directories for hidden and protected paths found.
	walked protected.Memory
	// news tells the embedder what is of no turn; nil where nobody observes.
	news *turn.Observer[Event]
	// known is what the model was told of its tools.
	known toolset.Known
	// over is done when nothing of the session may go on.
	over    context.Context //nolint:containedctx // as ctx
	endOver context.CancelFunc

	ctx    context.Context //nolint:containedctx // ends with the session, whoever's context a turn runs under
	cancel context.CancelCauseFunc
	turns  chan struct{} // holds the one token of the turn that runs
	queue  turn.Queue    // of the streams that wait for it

	// distrust are tools whose claims about themselves were found false.
	distrust traits.Distrust

	mu      sync.Mutex
	current *view
	// newest is current, for those who only want to know whether theirs still is it.
	newest atomic.Pointer[view]
	// changed is closed when the policy changes, and another takes its place.
	changed chan struct{}
	// before is the mode that plan was entered from.
	before permissions.Mode
	given  []given
}

// view is the session's state at one moment. It is immutable: one decision uses
// one view.
type view struct {
	gate.View
	cwd string
	// bare is the policy of the settings alone.
	bare  *permissions.Policy
	hooks *hooks.Set
	// plugins are those whose names the policy's rules are understood by: while a
	// turn runs, those it began with.
	plugins *plugins.Set
}

// NewSession starts a session.
func (h *Host) NewSession(o SessionOptions) (*Session, error) {
	cwd, err := directory(o.Cwd)
	if err != nil {
		return nil, fmt.Errorf("the working directory: %w", err)
	}
	s := &Session{
		host: h, options: o, start: cwd, id: cmp.Or(o.ID, rand.Text()), asker: o.Asker,
		turns:   make(chan struct{}, 1),
		changed: make(chan struct{}),
	}
	if s.base, err = h.places(cwd, &s.options); err != nil {
		return nil, err
	}
	if h.options.Judge.Model != nil {
		if s.judge, err = judge.New(h.options.Judge); err != nil {
			return nil, fmt.Errorf("the judge: %w", err)
		}
	}
	if h.options.Observe != nil {
		s.news = turn.NewObserver(h.observe)
	}
	if err := s.openStored(); err != nil {
		return nil, err
	}
	s.openTemp()
	s.loadKnown()
	s.loadReadState()
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.over, s.endOver = context.WithCancel(context.Background())
	if err := h.admitSession(s); err != nil {
		s.cancel(err)
		return nil, errors.Join(err, s.stored.close(), s.scratch.close())
	}
	return s, nil
}

// admitSession compiles a new session's policy, by the settings as they are when
// it becomes one of the host's.
func (h *Host) admitSession(s *Session) error {
	set := h.Plugins()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("starting a session of a host: %w", ErrClosed)
	}
	st := h.settings.Load()
	s.current = &view{cwd: s.start, plugins: set, hooks: st.Hooks}
	s.newest.Store(s.current)
	if err := s.compile(s.current, st); err != nil {
		return err
	}
	h.sessions[s] = struct{}{}
	return nil
}

// directory checks that a path is an absolute one of a directory.
func directory(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", path)
	}
	return filepath.Clean(path), nil
}

// Cwd is the session's working directory now.
func (s *Session) Cwd() string { return s.view().cwd }

func (s *Session) view() *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// chdir moves the session to a directory inside its working directories.
func (s *Session) chdir(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moveTo(path)
}

// comeBack moves a session whose directory is gone to the nearest one above that is
// there and one to work in, or else to where it began. It reports where it was and is
// now, or that nothing has changed.
func (s *Session) comeBack() (from, to string, moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from = s.current.cwd
	if _, err := os.Stat(from); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return from, from, false
	}
	for dir := filepath.Dir(from); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if s.moveTo(dir) == nil {
			return from, s.current.cwd, true
		}
	}
	err := s.moveTo(s.start)
	return from, s.current.cwd, err == nil
}

// moveTo is chdir for who holds the mutex.
func (s *Session) moveTo(path string) error {
	to, err := s.destination(path)
	if err != nil {
		return err
	}
	newer := *s.current
	newer.cwd = to.Path
	newer.Policy = newer.Policy.WithCwd(to)
	s.set(&newer)
	return nil
}

// tryMove says why chdir would fail now.
func (s *Session) tryMove(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.destination(path)
	return err
}

// destination is the directory that the session would move to. The mutex is held.
func (s *Session) destination(path string) (permissions.Dir, error) {
	node, err := workspace.Resolve(s.current.cwd, path)
	if err != nil {
		return permissions.Dir{}, err
	}
	defer node.Close()
	if err := node.Err(); err != nil {
		return permissions.Dir{}, err
	}
	if node.Info.Kind != abi.KindDirectory {
		return permissions.Dir{}, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", node.Target)
	}
	if !s.current.Policy.Inside(node.Real) {
		return permissions.Dir{}, abi.Errorf(abi.CodeDenied, "%s is outside the working directories", node.Target)
	}
	return permissions.Dir{Path: node.Target, Real: node.Real}, nil
}

// Close cancels the turn that runs, waits for it to end, or for ctx, ends what runs in
// the background, and lets go of what plugins kept. When it returns, observers were told
// of all that.
func (s *Session) Close(ctx context.Context) error {
	s.cancel(fmt.Errorf("the session: %w", ErrClosed))
	s.host.mu.Lock()
	delete(s.host.sessions, s)
	s.host.mu.Unlock()
	if s.host.options.Grants != nil {
		s.host.options.Grants.EndSession(s.id)
	}
	var err error
	select {
	case s.turns <- struct{}{}:
		<-s.turns
	case <-ctx.Done():
		err = fmt.Errorf("closing a session whose turn goes on: %w", context.Cause(ctx))
	}
	s.endRest(ctx)
	s.saveReadState()
	err = errors.Join(err, s.closeTasks(ctx), s.kept.Close(ctx)) // what runs goes before what it writes in
	if s.news != nil {
		s.news.Flush()
	}
	return errors.Join(err, s.stored.close(), s.scratch.close())
}

// behind runs what a call leaves behind, whose own context is over. The session's
// end ends it, after a while.
func (s *Session) behind(ctx context.Context, do func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(s.over, cancel) //nolint:contextcheck // it is the end of another one that counts
	s.rest.Go(func() {
		defer cancel()
		defer unlink()
		do(ctx)
	})
}

// maxRest is how long what calls leave behind may go on after the session's end.
const maxRest = 5 * time.Second

// endRest waits for what calls left behind, but no longer than maxRest or for ctx.
func (s *Session) endRest(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.rest.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(maxRest):
	}
	s.endOver()
	<-done
}

// consult begins what a judge is asked about one call; nil where there is no judge.
func (s *Session) consult() *gate.Consultation {
	if s.judge == nil {
		return nil // not a nil pointer in an interface
	}
	return gate.NewConsultation(s.judge)
}
