package fs

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// The bounds that hold where [Options] set no others.
const (
	// DefaultMaxChars is the most text a read by lines returns, in code points.
	DefaultMaxChars = 32 << 20
	// DefaultMaxEntries is the most entries a directory is listed with.
	DefaultMaxEntries = 10_000
	// DefaultTime is how long one read by lines goes on, as one search does.
	DefaultTime = 20 * time.Second
)

// Options are bounds of the host's own, over what requests ask for; zero values
// mean the defaults.
type Options struct {
	// MaxChars bounds the text of one read by lines, in code points.
	MaxChars int64
	// MaxEntries bounds the entries of one list.
	MaxEntries int
	// Time is how long one read by lines goes on. Then it answers with the lines it has.
	Time time.Duration
}

// Capability answers the fs operations. It is safe for concurrent use.
type Capability struct {
	opts Options
}

var _ capability.Capability = (*Capability)(nil)

// New returns the capability.
func New(opts Options) *Capability {
	if opts.MaxChars <= 0 {
		opts.MaxChars = DefaultMaxChars
	}
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
	return []string{abi.CapFSRead, abi.CapFSStat, abi.CapFSList, abi.CapFSWrite, abi.CapFSReplace}
}

// Plan resolves the path of a request; see [capability.Capability].
func (c *Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	switch req.Name {
	case abi.CapFSRead:
		return c.planRead(scope, req)
	case abi.CapFSStat:
		return planStat(scope, req)
	case abi.CapFSList:
		return c.planList(scope, req)
	case abi.CapFSWrite:
		return c.planWrite(scope, req)
	case abi.CapFSReplace:
		return c.planReplace(scope, req)
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
}
