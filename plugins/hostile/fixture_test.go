package hostile_test

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// fixture is one way to do harm, and how it must end.
type fixture struct {
	name string
	// only is the ABI that it is for; empty: all.
	only string
	// build puts the harm into a module. file writes the module's file instead.
	build func(g *guest)
	file  func(path string) error

	// calls are made at once, one where 0. Those of a kept instance are made one
	// after the other in one session.
	calls int
	kept  bool
	// limit is the plugin's time, standardTime where 0, and memory its memory in
	// bytes, standardMemory where 0.
	limit  time.Duration
	memory int64
	// asks is the limit of its capability calls.
	asks int
	// deadline is the caller's own.
	deadline time.Duration
	// answer answers capability calls; nil answers at once.
	answer func(ctx context.Context) (abi.Answer, error)

	// code and says are how each call ends; an empty code is an answer. With
	// load it ends so while it is loaded.
	code abi.Code
	says []string
	load bool
	// or permits another end, where both are right.
	or abi.Code
	// collect forces garbage collections while the calls are under way.
	collect bool
}

const (
	standardTime   = 200 * time.Millisecond
	standardMemory = 64 << 20
	// late is how much longer than its limit a call may take. 100 ms are promised;
	// the rest is for a machine that does other things too.
	late = 500 * time.Millisecond
	// lateLoad is how much longer than compileTime a load may take: what is read,
	// rewritten and sent to the compiler comes on top.
	lateLoad = 2 * time.Second
	// compileTime is what a compiler gets for one module.
	compileTime = 5 * time.Second
	// slow is the longest that nine of ten calls to the sound plugin may take
	// meanwhile, and stuck the longest for all of them.
	slow  = 250 * time.Millisecond
	stuck = 2 * time.Second
	// extra is what the process may take beyond the limits on memory.
	extra = 64 << 20
	// pause is the longest stop of the world for a collection, in the middle of
	// all: one of them may meet a moment in which the machine does something else.
	pause = 50 * time.Millisecond
)

func (f *fixture) time() time.Duration {
	if f.limit == 0 {
		return standardTime
	}
	return f.limit
}

func (f *fixture) memoryLimit() int64 {
	if f.memory == 0 {
		return standardMemory
	}
	return f.memory
}

// outOfTime is how a call ends that would go on.
func outOfTime(f fixture) fixture {
	f.code, f.says = abi.CodeTimeout, []string{"limit time", f.time().String()}
	return f
}

// refused is how a module ends that is too much to compile.
func refused(f fixture, says ...string) fixture {
	f.code, f.says, f.load = abi.CodeLoad, says, true
	return f
}

func fixtures() []fixture {
	var all []fixture
	for _, group := range [][]fixture{computing(), filling(), recursing(), bloated(), starting(), trapping(), asking(), flooding(), collecting()} {
		all = append(all, group...)
	}
	return all
}
