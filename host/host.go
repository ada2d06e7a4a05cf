package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/builtin"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/ambient"
	"github.com/toolquay/toolquay/host/internal/capability/fs"
	"github.com/toolquay/toolquay/host/internal/capability/search"
	"github.com/toolquay/toolquay/host/internal/capability/task"
	"github.com/toolquay/toolquay/host/internal/capability/tools"
	"github.com/toolquay/toolquay/host/internal/commands"
	"github.com/toolquay/toolquay/host/internal/documents"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/regexp"
)

// Host holds what sessions share. It is safe for concurrent use.
type Host struct {
	options      Options
	native       []*tool.Native
	tools        map[string]*tool.Native // by name and alias
	capabilities map[string]capability.Capability

	documents   *documents.Viewer
	commands    *commands.Runner
	expressions *regexp.Engine // what search.contents matches with

	shared shared         // what the turns of all sessions have in common
	calls  *pipeline.Host // and what their calls have

	reloads chan struct{} // holds the one token of the reload that runs

	// live ends with the host, and with it those who follow the plugins.
	live      context.Context //nolint:containedctx // as a session's
	end       context.CancelFunc
	followers sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	settings *rules.Settings
	plugins  *plugins.Set // the newest
	sessions map[*Session]struct{}
}

// maxLines bounds the text of one fs.read by lines, in code points. A guest may
// have 32 answers unread, and reads longer files in pieces.
const maxLines = 4 << 20

// ErrClosed is returned by calls to a host or session that was closed.
var ErrClosed = errors.New("it is closed")

// Open makes a host, which then owns the runners of its options. It reads manifests, and
// neither compiles nor runs any plugin or command. What is wrong with one plugin is that
// plugin's problem (see [Host.Plugins]); an error means that the options cannot be met. It
// lists all their faults, including those that would only show at the first command or
// plugin. Whether an installed sandbox works, only the first command finds out.
func Open(ctx context.Context, o Options) (*Host, error) {
	if err := o.check(&thisMachine); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Workers {
		o.addWorkers()
	}
	h := &Host{
		options:      o,
		tools:        make(map[string]*tool.Native),
		capabilities: make(map[string]capability.Capability),
		reloads:      make(chan struct{}, 1),
		commands:     commands.NewRunner(o.commands()),
		sessions:     make(map[*Session]struct{}),
		settings:     o.settings(),
	}
	h.documents = documents.New(documents.Options{PassPDF: o.Documents, CacheDir: o.CacheDir, Compiler: o.Compiler, Logger: o.Logger})
	h.expressions = regexp.New(regexp.Options{CacheDir: o.CacheDir, Logger: o.Logger})
	h.live, h.end = context.WithCancel(context.Background()) // it outlives the one it is opened under
	if err := h.offerCapabilities(); err != nil {
		return nil, err
	}
	h.calls = h.sharedByCalls()
	if err := h.offerNative(); err != nil {
		return nil, err
	}
	if err := h.openPlugins(ctx); err != nil {
		return nil, err
	}
	if o.Sessions != "" {
		h.followers.Go(func() { storage.Sweep(h.live, o.Sessions, o.KeepSessions, o.Logger) })
	}
	return h, nil
}

// sharedByCalls is what the calls of all sessions share.
func (h *Host) sharedByCalls() *pipeline.Host {
	o := &h.options
	shared := &pipeline.Host{
		Capabilities: h.capabilities, Commands: h.commands, Shell: o.Shell != nil,
		Past: &searches.Past{}, MaxSearched: searches.MaxNames, Rehearsals: pipeline.NewRehearsals(),
		LogRequired: o.LogRequired, Logger: o.Logger, CallTimeout: o.CallTimeout, NoLocks: o.PlainBatches,
	}
	if o.Shell != nil {
		shared.Writable = o.Shell.Writable
	}
	if o.Log != nil {
		shared.Log = o.Log
	}
	return shared
}

func (h *Host) offerCapabilities() error {
	limit := h.options.ScanTimeout
	own := []capability.Capability{
		fs.New(fs.Options{MaxChars: maxLines, Time: limit}), search.New(search.Options{Engine: h.expressions, Time: limit}),
		tools.New(), h.documents.Capability(),
		ambient.New(ambient.Options{Clock: h.options.Clock, Random: h.options.Random}),
	}
	if h.options.Shell != nil {
		own = append(own, h.commands, task.New())
	}
	for _, c := range append(own, h.options.Capabilities...) {
		for _, name := range c.Names() {
			if _, taken := h.capabilities[name]; taken {
				return fmt.Errorf("two capabilities answer to %q", name)
			}
			h.capabilities[name] = c
		}
	}
	return nil
}

// BuiltinTools returns the contracts of the tools that come with this package, those
// that run commands included.
func BuiltinTools() ([]*abi.Tool, error) {
	set, err := plugins.Open(plugins.Options{Sources: []plugins.Source{
		plugins.Program(plugins.OriginBuiltin, "builtin", builtin.FS()),
		plugins.Program(plugins.OriginBuiltin, "commands", builtin.Commands()),
	}})
	if err != nil {
		return nil, err
	}
	var out []*abi.Tool
	for _, p := range set.Plugins() {
		m := p.Manifest()
		if m == nil {
			return nil, fmt.Errorf("the built-in plugin %s: %w", p.Name, p.Problem())
		}
		for i := range m.Tools {
			out = append(out, &m.Tools[i])
		}
	}
	return out, nil
}

func (h *Host) openPlugins(ctx context.Context) error {
	var sources []plugins.Source
	if h.options.Builtins {
		sources = append(sources, plugins.Program(plugins.OriginBuiltin, "builtin", builtin.FS()))
		if h.options.Shell != nil {
			sources = append(sources, plugins.Program(plugins.OriginBuiltin, "commands", builtin.Commands()))
		}
	}
	var grants *plugins.Grants
	if h.options.ConsentFile != "" {
		var err error
		if grants, err = plugins.OpenGrants(h.options.ConsentFile); err != nil {
			return err
		}
	}
	names := []string{abi.CapSessionCwd}
	for name := range h.capabilities {
		names = append(names, name)
	}
	slices.Sort(names)
	runners := append(slices.Clone(h.options.Runners), direct.New(direct.Options{
		CacheDir: h.options.CacheDir, Compiler: h.options.Compiler, Logger: h.options.Logger,
	}))
	set, err := plugins.Open(plugins.Options{
		Sources:      append(sources, h.options.Plugins...),
		Runners:      runners,
		Isolated:     h.options.Isolated,
		Isolate:      h.options.Isolate,
		Grants:       grants,
		Granted:      h.options.Granted,
		Ceilings:     h.options.Ceilings,
		Capabilities: names,
		Reserved:     slices.Collect(maps.Keys(h.tools)),
		CacheDir:     h.options.CacheDir,
		Config:       h.options.PluginConfig,
		Logger:       h.options.Logger,
	})
	if err != nil {
		for _, r := range slices.Concat(runners, h.options.Isolated) {
			err = errors.Join(err, r.Close(ctx))
		}
		return err
	}
	h.plugins = set
	if err := h.clash(set); err != nil {
		return errors.Join(err, set.Close(ctx))
	}
	return nil
}

func (h *Host) offerNative() error {
	for _, n := range h.options.Tools {
		t, err := n.compile()
		if err != nil {
			return err
		}
		for _, name := range append([]string{n.Contract.Name}, n.Contract.Aliases...) {
			if _, taken := h.tools[name]; taken {
				return fmt.Errorf("the native tool %q: the name %q is taken", n.Contract.Name, name)
			}
			h.tools[name] = t
		}
		h.native = append(h.native, t)
	}
	slices.SortFunc(h.native, func(a, b *tool.Native) int { return strings.Compare(a.Contract().Name, b.Contract().Name) })
	return nil
}

// Plugins is what was found, with what is wrong with it. After a [Host.Reload]
// that found changes it is another set, and the older one's plugins are freed.
func (h *Host) Plugins() *plugins.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plugins
}

// lookup finds a tool by name or alias.
func (h *Host) lookup(set *plugins.Set, name string) (tool.Tool, bool) {
	if t, ok := h.tools[name]; ok {
		return t, true
	}
	if t, ok := set.Tool(name); ok {
		return tool.Plugin{Tool: t}, true
	}
	return nil, false
}

// Close ends every session and waits for calls under way, or for ctx. Then it
// frees the plugins. The host cannot be used after it.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	sessions, set := h.sessions, h.plugins
	h.sessions = nil
	h.mu.Unlock()
	h.end()
	h.followers.Wait()
	return errors.Join(closeAll(ctx, sessions), set.Close(ctx), h.documents.Close(ctx), h.commands.Close(ErrClosed), h.expressions.Close(ctx)) //nolint:contextcheck // commands end in a time of their own
}

// closeAll closes sessions side by side: each may have calls that take their time to
// end.
func closeAll(ctx context.Context, sessions map[*Session]struct{}) error {
	errs := make(chan error, len(sessions))
	for s := range sessions {
		go func() { errs <- s.Close(ctx) }()
	}
	var all error
	for range sessions {
		all = errors.Join(all, <-errs)
	}
	return all
}
