// Package ambient tells plugins the time (clock.now) and draws random numbers for them
// (random.bytes): what a process has without asking, and a bare WebAssembly module lacks.
package ambient

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Options say where time and random numbers come from. The zero value is the system.
type Options struct {
	// Clock returns the time; nil is [time.Now].
	Clock func() time.Time
	// Random is read for random bytes; nil is [rand.Reader]. It must be safe for
	// concurrent use.
	Random io.Reader
}

// Capability answers both operations. It is safe for concurrent use.
type Capability struct {
	options Options
	start   time.Time
}

var _ capability.Capability = (*Capability)(nil)

// New returns the capability.
func New(o Options) *Capability {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return &Capability{options: o, start: o.Clock()}
}

// Names lists the operations.
func (*Capability) Names() []string { return []string{abi.CapClockNow, abi.CapRandomBytes} }

// Plan reads the request; see [capability.Capability].
func (c *Capability) Plan(_ context.Context, _ capability.Scope, req abi.Request) (capability.Plan, error) {
	if req.Name == abi.CapClockNow {
		return plan{"clock", c.now}, nil
	}
	var args abi.RandomArgs
	if len(req.Args) > 0 {
		if err := abi.Unmarshal(req.Args, &args); err != nil {
			return nil, abi.Errorf(abi.CodeInvalidInput, "%s: %w", req.Name, err)
		}
	}
	if args.Length < 1 || args.Length > abi.MaxRandom {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s: length is %d; ask for 1 to %d bytes", req.Name, args.Length, abi.MaxRandom)
	}
	return plan{"random numbers", func() (abi.Answer, error) { return c.draw(args.Length) }}, nil
}

func (c *Capability) now() (abi.Answer, error) {
	now := c.options.Clock()
	return abi.Answer{OK: abi.ClockOK{Unix: now.UnixNano(), Monotonic: int64(now.Sub(c.start))}}, nil
}

func (c *Capability) draw(length int) (abi.Answer, error) {
	drawn := make([]byte, length)
	if _, err := io.ReadFull(c.options.Random, drawn); err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeIO, "drawing %d random bytes: %w", length, err)
	}
	return abi.Answer{OK: abi.RandomOK{Length: length}, Body: abi.Bytes(drawn), BodyType: abi.PartBytes, Size: int64(length)}, nil
}

// plan is one request.
type plan struct {
	capability.OfSession
	do func() (abi.Answer, error)
}

// Do answers.
func (p plan) Do(context.Context, capability.Judge) (abi.Answer, error) { return p.do() }
