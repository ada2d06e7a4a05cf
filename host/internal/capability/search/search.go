package search

import (
	"context"
	"runtime"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/pattern"
)

// The bounds that hold where [Options] set no others.
const (
	// DefaultMaxEntries is the most names, lines or files in one answer.
	DefaultMaxEntries = 10_000
	// MaxWorkers is the most goroutines of one search: beyond four, measured,
	// the file system is what limits it.
	MaxWorkers = 4
	// DefaultTime is how long one search goes on: agents give ripgrep as long.
	DefaultTime = 20 * time.Second
)

// Options are bounds of the host's own; zero values mean the defaults.
type Options struct {
	// Workers is how many goroutines one search uses; default GOMAXPROCS, at
	// most [MaxWorkers].
	Workers int
	// MaxEntries bounds an answer for which a request sets no limit, and the
	// limit and offset that a request may set taken together, a hundredfold.
	MaxEntries int
	// Time is how long one search goes on. Then it answers with what it has found.
	Time time.Duration
	// Engine is for regular expressions. Without it plain text only is searched
	// for. It is the caller's to close, after all searches.
	Engine pattern.Engine
}

// Capability answers the search operations. It is safe for concurrent use.
type Capability struct {
	opts Options
}

var _ capability.Capability = (*Capability)(nil)

// New returns the capability.
func New(opts Options) *Capability {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	opts.Workers = min(opts.Workers, MaxWorkers)
	if opts.MaxEntries <= 0 {
		opts.MaxEntries = DefaultMaxEntries
	}
	if opts.Time <= 0 {
		opts.Time = DefaultTime
	}
	return &Capability{opts: opts}
}

// Names lists the operations.
func (c *Capability) Names() []string {
	return []string{abi.CapSearchNames, abi.CapSearchContents}
}

// Plan reads the patterns of a request and resolves where to search; see
// [capability.Capability].
func (c *Capability) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	switch req.Name {
	case abi.CapSearchNames:
		return c.planNames(scope, req)
	case abi.CapSearchContents:
		return c.planContents(ctx, scope, req)
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
}

var (
	_ capability.Walker = (*namesPlan)(nil)
	_ capability.Walker = (*contentsPlan)(nil)
)
