package host

import (
	"context"
	"encoding/json"
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
	"github.com/toolquay/toolquay/host/capability/fs"
	"github.com/toolquay/toolquay/host/capability/search"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// Host holds what sessions share. It is safe for concurrent use.
type Host struct {
	options      Options
	plugins      *plugins.Set
	native       []*nativeTool
	tools        map[string]tool // by name and alias
	capabilities map[string]capability.Capability

	mu       sync.Mutex
	closed   bool
	sessions map[*Session]struct{}
}

// maxLines bounds the text of one fs.read by lines, in code points. A guest may
// have 32 answers unread, and reads longer files in pieces.
const maxLines = 4 << 20

// ErrClosed is returned by calls to a host or session that was closed.
var ErrClosed = errors.New("it is closed")

// Open makes a host, which then owns the runners of its options. It reads
// manifests, and neither compiles nor runs any plugin. What is wrong with one plugin is that plugin's problem (see
// [Host.Plugins]); an error means that the options themselves cannot be met.
func Open(ctx context.Context, o Options) (*Host, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{
		options:      o,
		tools:        make(map[string]tool),
		capabilities: make(map[string]capability.Capability),
		sessions:     make(map[*Session]struct{}),
	}
	if err := h.offerCapabilities(); err != nil {
		return nil, err
	}
	if err := h.offerNative(); err != nil {
		return nil, err
	}
	if err := h.openPlugins(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *Host) offerCapabilities() error {
	own := []capability.Capability{fs.New(fs.Options{MaxChars: maxLines}), search.New(search.Options{})}
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

func (h *Host) openPlugins(ctx context.Context) error {
	var sources []plugins.Source
	if h.options.Builtins {
		sources = append(sources, plugins.Source{Origin: plugins.OriginBuiltin, Path: "builtin", FS: builtin.FS()})
	}
	var consents *plugins.Consents
	if h.options.ConsentFile != "" {
		var err error
		if consents, err = plugins.OpenConsents(h.options.ConsentFile); err != nil {
			return err
		}
	}
	names := []string{abi.CapSessionCwd}
	for name := range h.capabilities {
		names = append(names, name)
	}
	slices.Sort(names)
	runners := []plugins.Runner{direct.New(direct.Options{CacheDir: h.options.CacheDir, Logger: h.options.Logger})}
	set, err := plugins.Open(plugins.Options{
		Sources:      append(sources, h.options.Plugins...),
		Runners:      append(runners, h.options.Runners...),
		Consents:     consents,
		Granted:      h.options.Granted,
		Ceilings:     h.options.Ceilings,
		Capabilities: names,
		Reserved:     slices.Collect(maps.Keys(h.tools)),
		Config:       h.options.PluginConfig,
		Logger:       h.options.Logger,
	})
	if err != nil {
		for _, r := range append(runners, h.options.Runners...) {
			err = errors.Join(err, r.Close(ctx))
		}
		return err
	}
	h.plugins = set
	for _, t := range set.Tools() {
		offered := newPluginTool(t)
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if _, taken := h.tools[name]; taken {
				return errors.Join(fmt.Errorf("the native tool %q: the name is taken by a built-in tool", name), set.Close(ctx))
			}
			h.tools[name] = offered
		}
	}
	return nil
}

func (h *Host) offerNative() error {
	for _, n := range h.options.Tools {
		t, err := newNativeTool(n)
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
	slices.SortFunc(h.native, func(a, b *nativeTool) int { return strings.Compare(a.Contract.Name, b.Contract.Name) })
	return nil
}

// Plugins is what was found, with what is wrong with it.
func (h *Host) Plugins() *plugins.Set { return h.plugins }

// lookup finds a tool by name or alias.
func (h *Host) lookup(name string) (tool, error) {
	if t, ok := h.tools[name]; ok {
		return t, nil
	}
	for _, p := range h.plugins.Plugins() {
		if p.Problem == nil || p.Manifest == nil {
			continue
		}
		for _, t := range p.Manifest.Tools {
			if t.Name == name {
				return nil, abi.Errorf(abi.CodeUnknownTool, "the tool %s is not available: its plugin %s could not be used: %w", name, p.Name, p.Problem)
			}
		}
	}
	return nil, abi.Errorf(abi.CodeUnknownTool, "there is no tool %q; %s", name, h.offer(name))
}

// offer names the tools there are, the one that may be meant first.
func (h *Host) offer(name string) string {
	var names []string
	for _, t := range h.contracts() {
		if strings.EqualFold(t.Name, name) {
			return fmt.Sprintf("did you mean %s?", t.Name)
		}
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return "no tool is offered"
	}
	return "there are " + strings.Join(names, ", ")
}

// contracts lists every tool: the built-in ones, the embedder's, then the
// plugins', each by name, so that what a model is shown stays the same from
// turn to turn.
func (h *Host) contracts() []*abi.Tool {
	var own, others []*abi.Tool
	for _, t := range h.plugins.Tools() {
		if t.Plugin.Origin == plugins.OriginBuiltin {
			own = append(own, t.Tool)
		} else {
			others = append(others, t.Tool)
		}
	}
	for _, t := range h.native {
		own = append(own, t.contract())
	}
	return append(own, others...)
}

// Definitions writes the tools that a model may be offered in a session, for an
// API: those that can be called now and are not denied as a whole.
func (s *Session) Definitions(format Format) (json.RawMessage, error) {
	var offered []*abi.Tool
	for _, t := range s.host.contracts() {
		if s.host.tools[t.Name].available() == nil && t.Enabled != abi.TraitFalse && s.offers(t) {
			offered = append(offered, t)
		}
	}
	return encodeDefinitions(offered, format)
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
	sessions := h.sessions
	h.sessions = nil
	h.mu.Unlock()
	var errs []error
	for s := range sessions {
		errs = append(errs, s.Close(ctx))
	}
	return errors.Join(append(errs, h.plugins.Close(ctx))...)
}
