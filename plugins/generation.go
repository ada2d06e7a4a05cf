package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/plugins/internal/discovery"
	"github.com/toolquay/toolquay/plugins/internal/manifest"
)

// generation is one state of a plugin on disk, and what was made of it. Sets
// that are made from one another share it for as long as the files stay as they
// are. Once the last set releases it, it takes no more calls, and the last call under
// way frees it.
type generation struct {
	lineage *lineage
	source  Source
	found   discovery.Candidate
	finding *discovery.Finding // what was read; nil where the plugin is broken
	problem error              // why it offers nothing, whatever other plugins there are
	terms
	reading
	content

	calls calls
	free  sync.Once
	refs  int   // sets that have it; guarded by the lineage
	parts parts // of sessions
}

// terms are what this host gives a plugin of what it asks for.
type terms struct {
	runner  Runner
	limits  Limits
	notes   []string
	config  map[string]json.RawMessage
	given   map[string]json.RawMessage // what of config the operator set
	granted bool                       // for this run, by the operator
}

// reading is a plugin's manifest, or what its second reading found wrong.
type reading struct {
	parsed atomic.Pointer[abi.Manifest]
	fault  atomic.Pointer[error]
}

// content is what is known of a plugin's files, and what is loaded of its module.
type content struct {
	mu sync.Mutex
	// manifestAt and moduleAt are the newest stamps that are known to be of this
	// state; settled says whether a changed file would have other ones.
	manifestAt, moduleAt discovery.Stamp
	settled              bool
	module               []byte
	hash                 [sha256.Size]byte
	pin                  string // the fingerprint, once the module was read
	loading              *loading
	closed               bool
}

// forget frees a module that was read for its fingerprint alone. The runner gets
// the same bytes: reading it again compares them.
func (c *content) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.module = nil
}

// loading is a module's way from bytes to an instance. Calls wait for it; none
// of them owns it.
type loading struct {
	done     chan struct{}
	cancel   context.CancelCauseFunc
	instance Instance // these are set when done is closed
	err      error
}

func (g *generation) name() string {
	if g.finding == nil {
		return baseName(g.found.Path)
	}
	return g.finding.Summary.Name
}

// manifest returns the plugin's manifest, checked. Where the plugin was found by
// the discovery index alone, this is when it is read.
func (g *generation) manifest() (*abi.Manifest, error) {
	if m := g.parsed.Load(); m != nil {
		return m, nil
	}
	if g.finding == nil {
		return nil, g.problem
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.parsed.Load(); m != nil {
		return m, nil
	}
	if fault := g.fault.Load(); fault != nil {
		return nil, *fault
	}
	m, err := g.readAgain()
	if err != nil {
		g.fault.Store(&err)
		return nil, err
	}
	g.parsed.Store(m)
	return m, nil
}

// readAgain reads what the index told of, which is the truth of it.
func (g *generation) readAgain() (*abi.Manifest, error) {
	b, err := g.found.Read()
	if err == nil && g.finding.Says(&b.Finding) {
		return b.Parsed, nil
	}
	g.lineage.indexes.Purge(g.source.place().Lasting())
	if err != nil {
		return nil, abi.Errorf(abi.CodeChanged, "plugin %s cannot be read as it was found: %w", g.name(), err)
	}
	return nil, abi.Errorf(abi.CodeChanged, "plugin %s changed after it was found; %s", g.name(), reloadAdvice)
}

const reloadAdvice = "reload the plugins, or start again, to use it as it is now"

// fingerprint reads the module, unless it was read before.
func (g *generation) fingerprint() (string, error) {
	if _, err := g.manifest(); err != nil {
		return "", fmt.Errorf("plugin %s has no readable manifest: %w", g.name(), err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pin == "" {
		if err := g.read(); err != nil {
			return "", err
		}
	}
	return g.pin, nil
}

// read reads the module, once: what is judged is what runs. g.mu is held.
func (g *generation) read() error {
	if g.module != nil {
		return nil
	}
	now := time.Now()
	module, at, err := g.found.ReadModule(g.finding.Summary.Module)
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "reading the module of plugin %s: %w", g.name(), err)
	}
	if at != g.moduleAt || g.finding.Completed && g.finding.Carried != discovery.Carried(module) || g.pin != "" && g.hash != sha256.Sum256(module) {
		return abi.Errorf(abi.CodeChanged, "the module of plugin %s changed while the host was running; %s", g.name(), reloadAdvice)
	}
	g.settled = g.settled && at.Settled(now)
	g.module, g.hash = module, sha256.Sum256(module)
	sum := sha256.Sum256(append(g.hash[:], g.finding.Manifest[:]...))
	g.pin = hex.EncodeToString(sum[:])
	return nil
}

// instance loads the plugin at its first call. Compiling cannot be interrupted,
// so the call that starts it and those that find it under way wait no longer
// than their own contexts do. A load that failed is tried again at the next
// call: a missing runner or a full disk may have been put right.
func (g *generation) instance(ctx context.Context) (Instance, error) {
	l, err := g.load(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-l.done:
		return l.instance, l.err
	default:
	}
	select {
	case <-l.done:
		return l.instance, l.err
	case <-ctx.Done():
		cause := context.Cause(ctx)
		return nil, &abi.Error{Code: abi.CodeOfEnd(ctx), Message: fmt.Sprintf("the call ended while plugin %s was being loaded: %v", g.name(), cause), Err: cause}
	}
}

// load joins the load under way or done, or starts one.
func (g *generation) load(ctx context.Context) (*loading, error) {
	manifest, err := g.manifest()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", g.name())
	}
	if g.loading != nil {
		return g.loading, nil
	}
	if err := g.read(); err != nil {
		return nil, err
	}
	l := &loading{done: make(chan struct{})}
	ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	g.loading = l
	module := g.module
	g.module = nil // the runner frees it; another try reads it again
	go g.compile(ctx, l, Module{
		Manifest: manifest, Hash: g.hash, Wasm: module, Trusted: g.found.Origin == OriginBuiltin,
		Limits: g.limits, Logger: g.lineage.options.Logger,
	})
	return l, nil
}

// maxLoadError bounds what the error of a module that cannot be loaded says, in bytes.
const maxLoadError = 4 << 10

// compile has the runner load a module.
func (g *generation) compile(ctx context.Context, l *loading, m Module) {
	defer close(l.done)
	defer l.cancel(nil)
	defer func() {
		if r := recover(); r != nil {
			l.err = fmt.Errorf("the compiler failed: %v", r)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if l.err == nil {
			return
		}
		l.err = &abi.Error{Code: abi.CodeLoad, Message: fmt.Sprintf("plugin %s (%s) cannot be loaded: %s", g.name(), visible.Line(g.found.Path), visible.Short(l.err.Error(), maxLoadError)), Err: l.err}
		if g.loading == l {
			g.loading = nil
		}
	}()
	if l.err = manifest.CheckModule(m.Wasm); l.err == nil {
		l.instance, l.err = g.runner.Load(ctx, m)
	}
}

var errUnloaded = abi.Errorf(abi.CodeCancelled, "the plugin is being unloaded")

// close takes no more calls, waits for those under way, or for ctx, and frees
// what the plugin had. Every call of it waits until that is done.
func (g *generation) close(ctx context.Context) error {
	g.calls.shut()
	late := g.calls.wait(ctx, g.name())
	var err error
	g.free.Do(func() { err = g.release(ctx) })
	return errors.Join(late, err)
}

func (g *generation) release(ctx context.Context) error {
	g.mu.Lock()
	l := g.loading
	g.loading, g.module, g.closed = nil, nil, true
	g.mu.Unlock()
	ended := g.parts.close(ctx)
	if l == nil {
		return ended
	}
	l.cancel(errUnloaded)
	<-l.done
	if l.err != nil { // the calls that asked for it were told
		return ended
	}
	return errors.Join(ended, l.instance.Close(ctx))
}

func baseName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".wasm") }
