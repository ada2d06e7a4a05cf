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
	// limit is the plugin's time. 0 is standardTime where that ends the calls, and
	// ampleTime where something else does.
	limit time.Duration
	// within is how long a call may take that its time does not end; 0 is prompt.
	within time.Duration
	// memory is the plugin's memory in bytes; 0 is standardMemory.
	memory int64
	// compile is what a compiler gets for the module; 0 is the default of workers,
	// which no fixture but the one that sets it comes near.
	compile time.Duration
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
	// or permits another end, where both are right at any speed.
	or abi.Code
	// collect forces garbage collections while the calls are under way.
	collect bool
}

const (
	// standardTime is the limit of calls that it is to end. The others get ampleTime:
	// they must come to their own end, also on a machine that stalls.
	standardTime   = 200 * time.Millisecond
	ampleTime      = 10 * time.Second
	standardMemory = 64 << 20
	// late is how much longer than its limit a call may take. 100 ms are promised;
	// the rest is for a machine that does other things too. Ten at once wait for
	// each other besides: quiet, two cores are up to 85 ms late with them.
	late      = 250 * time.Millisecond
	lateAmong = 500 * time.Millisecond
	// prompt is the longest that a call takes which comes to its own end: on a
	// quiet machine of two cores it does in 250 ms.
	prompt = 2 * time.Second
	// loading is the longest that a load takes, compiling included: on a quiet
	// machine 600 ms.
	loading = 5 * time.Second
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
	switch {
	case f.limit > 0:
		return f.limit
	case f.code == abi.CodeTimeout:
		return standardTime
	}
	return ampleTime
}

// longest is how long a call may take.
func (f *fixture) longest() time.Duration {
	switch {
	case f.code == abi.CodeTimeout:
		return f.ends() + f.late()
	case f.within > 0:
		return f.within
	}
	return prompt
}

// ends is when the first limit on time ends a call.
func (f *fixture) ends() time.Duration {
	if f.deadline > 0 {
		return min(f.deadline, f.time())
	}
	return f.time()
}

func (f *fixture) late() time.Duration {
	if f.calls > 1 && !f.kept {
		return lateAmong
	}
	return late
}

func (f *fixture) memoryLimit() int64 {
	if f.memory == 0 {
		return standardMemory
	}
	return f.memory
}

// outOfTime is how a call ends that would go on.
func outOfTime(f fixture) fixture {
	f.code = abi.CodeTimeout
	f.says = []string{"limit time", f.time().String()}
	return f
}

// hurried is the same with an eighth of the time to spend.
func (f fixture) hurried() fixture {
	f.deadline /= 8
	if f.code == abi.CodeTimeout && f.deadline == 0 {
		f.limit = f.time() / 8
		return outOfTime(f)
	}
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
