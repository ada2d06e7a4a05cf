package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// Plugin is one plugin that was found, whether or not it can be used.
type Plugin struct {
	// Name is the manifest's, or the file's where the manifest cannot be read.
	Name   string
	Origin Origin
	// Path is where it was found, for people.
	Path string
	// Problem says why the plugin offers nothing; nil where it does.
	Problem error
	// Manifest is nil where it could not be read.
	Manifest *abi.Manifest
	// Limits are the ones in force.
	Limits Limits
	// Notes are worth knowing and no problem, such as limits that were cut.
	Notes []string

	found    candidate
	raw      []byte
	runner   Runner
	consents *Consents
	granted  bool // for this run, by the operator
	logger   *slog.Logger
	config   map[string]json.RawMessage

	mu      sync.Mutex
	module  []byte
	hash    [sha256.Size]byte
	pin     string // the fingerprint, once the module was read
	loading *loading
	closed  bool
}

// loading is a module's way from bytes to an instance. Calls wait for it; none
// of them owns it.
type loading struct {
	done     chan struct{}
	instance Instance // these are set when done is closed
	err      error
}

// Standing is where a plugin stands with the person it works for.
type Standing string

// The standings.
const (
	// StandingUnneeded: the plugin is built in, or declares no capability.
	StandingUnneeded Standing = "not needed"
	StandingGranted  Standing = "granted"
	// StandingMissing: nobody consented yet.
	StandingMissing Standing = "missing"
	// StandingChanged: somebody consented, and the plugin changed since.
	StandingChanged Standing = "changed"
)

// Standing tells whether the capabilities that the plugin declares are granted.
func (p *Plugin) Standing() Standing {
	if p.Origin == OriginBuiltin || p.Manifest == nil || len(p.Manifest.Capabilities) == 0 {
		return StandingUnneeded
	}
	if p.granted {
		return StandingGranted
	}
	consent, ok := p.consents.Of(p.Name)
	if !ok {
		return StandingMissing
	}
	if fingerprint, err := p.Fingerprint(); err != nil || consent.Fingerprint != fingerprint {
		return StandingChanged
	}
	return StandingGranted
}

// refusal is the error for a call to a plugin without a grant.
func (p *Plugin) refusal() error {
	switch p.Standing() {
	case StandingMissing:
		return abi.Errorf(abi.CodeNotGranted, "plugin %s asks for capabilities (%s) that nobody has granted; to see them and grant them run: toolquay plugins trust %s",
			p.Name, p.claims(), p.Name)
	case StandingChanged:
		if _, err := p.Fingerprint(); err != nil {
			return err
		}
		return abi.Errorf(abi.CodeNotGranted, "plugin %s changed since its capabilities (%s) were granted; to see and grant them again run: toolquay plugins trust %s",
			p.Name, p.claims(), p.Name)
	}
	return nil
}

func (p *Plugin) claims() string {
	names := make([]string, len(p.Manifest.Capabilities))
	for i, c := range p.Manifest.Capabilities {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// Fingerprint is what consent is pinned to: the SHA-256, in hexadecimal, of the
// SHA-256 of the module followed by that of the manifest.
func (p *Plugin) Fingerprint() (string, error) {
	if p.Manifest == nil {
		return "", fmt.Errorf("plugin %s has no readable manifest: %w", p.Name, p.Problem)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pin == "" {
		if err := p.read(); err != nil {
			return "", err
		}
	}
	return p.pin, nil
}

// sameAs reports whether two plugins are the same, byte for byte.
func (p *Plugin) sameAs(q *Plugin) bool {
	a, errA := p.Fingerprint()
	b, errB := q.Fingerprint()
	return errA == nil && errB == nil && a == b
}

// read reads the module, once: what is judged is what runs. p.mu is held.
func (p *Plugin) read() error {
	if p.module != nil {
		return nil
	}
	module, err := p.found.readModule(p.Manifest)
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "reading the module of plugin %s: %w", p.Name, err)
	}
	if known := p.found.carried; known != [sha256.Size]byte{} && known != carried(module) {
		return abi.Errorf(abi.CodeChanged, "the module of plugin %s changed while the host was running; start again to use it as it is now", p.Name)
	}
	p.module, p.hash = module, sha256.Sum256(module)
	manifest := sha256.Sum256(p.raw)
	sum := sha256.Sum256(append(p.hash[:], manifest[:]...))
	p.pin = hex.EncodeToString(sum[:])
	return nil
}

// instance loads the plugin at its first call. Compiling cannot be interrupted,
// so the call that starts it and those that find it under way wait no longer
// than their own contexts do. A load that failed is tried again at the next
// call: a missing runner or a full disk may have been put right.
func (p *Plugin) instance(ctx context.Context) (Instance, error) {
	l, err := p.load(ctx)
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
		return nil, &abi.Error{Code: abi.CodeOf(cause), Message: fmt.Sprintf("the call ended while plugin %s was being loaded: %v", p.Name, cause), Err: cause}
	}
}

// load joins the load under way or done, or starts one.
func (p *Plugin) load(ctx context.Context) (*loading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", p.Name)
	}
	if p.loading != nil {
		return p.loading, nil
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	l := &loading{done: make(chan struct{})}
	p.loading = l
	m := Module{Manifest: p.Manifest, Hash: p.hash, Wasm: p.module, Limits: p.Limits, Logger: p.logger}
	go p.compile(context.WithoutCancel(ctx), l, m)
	return l, nil
}

// compile has the runner load a module.
func (p *Plugin) compile(ctx context.Context, l *loading, m Module) {
	defer close(l.done)
	defer func() {
		if r := recover(); r != nil {
			l.err = fmt.Errorf("the compiler failed: %v", r)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if l.err == nil {
			p.module = nil // the instance has what it needs
			return
		}
		l.err = &abi.Error{Code: abi.CodeLoad, Message: fmt.Sprintf("plugin %s (%s) cannot be loaded: %v", p.Name, p.Path, l.err), Err: l.err}
		p.loading = nil
	}()
	if l.err = checkModule(m.Wasm); l.err == nil {
		l.instance, l.err = p.runner.Load(ctx, m)
	}
}

// Declares reports whether the plugin's manifest asks for a capability for a
// tool, and returns its scope.
func (p *Plugin) Declares(tool *abi.Tool, capability string) (abi.CapabilityClaim, bool) {
	if len(tool.Capabilities) > 0 && !slices.Contains(tool.Capabilities, capability) {
		return abi.CapabilityClaim{}, false
	}
	i := slices.IndexFunc(p.Manifest.Capabilities, func(c abi.CapabilityClaim) bool { return c.Name == capability })
	if i < 0 {
		return abi.CapabilityClaim{}, false
	}
	return p.Manifest.Capabilities[i], true
}

// Config is the plugin's configuration: the operator's values over the
// manifest's defaults.
func (p *Plugin) Config() map[string]json.RawMessage { return p.config }

// close ends the plugin once its load and its calls have.
func (p *Plugin) close(ctx context.Context) error {
	p.mu.Lock()
	l := p.loading
	p.loading, p.closed = nil, true
	p.mu.Unlock()
	if l == nil {
		return nil
	}
	<-l.done
	if l.err != nil {
		return nil //nolint:nilerr // the calls that asked for it were told
	}
	return l.instance.Close(ctx)
}

// configure joins the manifest's defaults and the operator's values.
func (p *Plugin) configure(values map[string]json.RawMessage) error {
	if len(p.Manifest.Config) == 0 && len(values) == 0 {
		return nil
	}
	p.config = make(map[string]json.RawMessage, len(p.Manifest.Config))
	var missing []error
	for _, key := range p.Manifest.Config {
		value, ok := values[key.Name]
		switch {
		case ok:
			p.config[key.Name] = value
		case key.Default != "":
			p.config[key.Name], _ = json.Marshal(key.Default)
		case key.Required:
			missing = append(missing, fmt.Errorf("its configuration value %q (%s) is required and not set", key.Name, key.Description))
		}
	}
	for name := range values {
		if !slices.ContainsFunc(p.Manifest.Config, func(k abi.ConfigKey) bool { return k.Name == name }) {
			missing = append(missing, fmt.Errorf("it has no configuration value %q", name))
		}
	}
	return errors.Join(missing...)
}
