package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// SessionOptions configure a [Session].
type SessionOptions struct {
	// Cwd is the working directory: an existing directory, absolute.
	Cwd string
	// AdditionalDirs are further directories to work in, absolute.
	AdditionalDirs []string
	// Mode is the permission mode; empty is the settings', else the default.
	Mode permissions.Mode
	// Asker asks the person; nil makes the session headless.
	Asker Asker
}

// Session is one conversation's state. It is safe for concurrent use; turns run
// one after the other.
type Session struct {
	host    *Host
	options SessionOptions
	start   string // the working directory it began in
	asker   Asker
	kept    plugins.Session

	ctx    context.Context //nolint:containedctx // ends with the session, whoever's context a turn runs under
	cancel context.CancelCauseFunc
	turns  chan struct{} // holds the one token of the turn that runs

	mu      sync.Mutex
	current *view
	// untrue are tools whose read_only claim was found false.
	untrue map[string]bool
}

// view is the session's state at one moment. It is immutable: one decision uses
// one view.
type view struct {
	cwd    string
	policy *permissions.Policy
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
	set := h.Plugins()
	policy, err := h.policy(cwd, o, set)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &Session{
		host:    h,
		options: o,
		start:   cwd,
		asker:   o.Asker,
		ctx:     ctx,
		cancel:  cancel,
		turns:   make(chan struct{}, 1),
		current: &view{cwd: cwd, policy: policy, plugins: set},
		untrue:  make(map[string]bool),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		cancel(ErrClosed)
		return nil, fmt.Errorf("starting a session of a host: %w", ErrClosed)
	}
	h.sessions[s] = struct{}{}
	return s, nil
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

// apply makes one change that a call asks for.
func (s *Session) apply(c *call, change abi.Change) error {
	if change.Kind != abi.ChangeCwd {
		return abi.Errorf(abi.CodeUnsupported, "no change of a session is called %q", change.Kind)
	}
	if _, ok := c.tool.declares(abi.CapSessionCwd); !ok {
		return abi.Errorf(abi.CodeUndeclared, "%s may not change the working directory: its manifest does not declare %s", c.tool.contract().Name, abi.CapSessionCwd)
	}
	var path string
	if err := json.Unmarshal(change.Value, &path); err != nil {
		return abi.Errorf(abi.CodeProtocol, "the new working directory is not a JSON string")
	}
	return s.chdir(path)
}

// chdir moves the session to a directory inside its working directories.
func (s *Session) chdir(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	node, err := workspace.Resolve(s.current.cwd, path)
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.Err(); err != nil {
		return err
	}
	if node.Info.Kind != abi.KindDirectory {
		return abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", node.Target)
	}
	if !s.current.policy.Inside(node.Real) {
		return abi.Errorf(abi.CodeDenied, "%s is outside the working directories", node.Target)
	}
	s.current = &view{
		cwd: node.Target, plugins: s.current.plugins,
		policy: s.current.policy.WithCwd(permissions.Dir{Path: node.Target, Real: node.Real}),
	}
	return nil
}

// demote records that a tool is not as read-only as it says.
func (s *Session) demote(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untrue[tool] = true
}

func (s *Session) demoted(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.untrue[tool]
}

// Close cancels the turn that runs, waits for it to end, or for ctx, and lets
// go of what plugins kept.
func (s *Session) Close(ctx context.Context) error {
	s.cancel(fmt.Errorf("the session: %w", ErrClosed))
	s.host.mu.Lock()
	delete(s.host.sessions, s)
	s.host.mu.Unlock()
	var err error
	select {
	case s.turns <- struct{}{}:
		<-s.turns
	case <-ctx.Done():
		err = fmt.Errorf("closing a session whose turn goes on: %w", context.Cause(ctx))
	}
	return errors.Join(err, s.kept.Close(ctx))
}

// offers reports whether the model is to be told of a tool.
func (v *view) offers(t *abi.Tool) bool { return v.policy.Offered(t.Name, t.Aliases...) }

// Mode is the session's permission mode now.
func (s *Session) Mode() permissions.Mode { return s.view().policy.Mode() }
