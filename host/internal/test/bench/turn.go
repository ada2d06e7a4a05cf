package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// turnRows say what a turn of many calls costs, and what it gains.
func turnRows() []row {
	return []row{
		{
			name: "scheduling one of 10,000 jobs that wait", ours: schedule(10_000),
			baseline: "one of 1,000", theirs: schedule(1000),
			compare: ratio, limit: "at most 1.5x, under 2 µs", fine: true,
		},
		{
			name: "one of 10,000 calls in a turn, through host", ours: nativeTurn(10_000),
			baseline: "one of 1,000", theirs: nativeTurn(1000),
			compare: ratio, limit: "at most 1.5x",
		},
		{
			name: "the same", ours: nativeTurn(10_000),
			baseline: "one in a turn of its own", theirs: nativeTurn(1),
			compare: difference, limit: "at most +2 µs",
		},
		{
			name: "100 guest calls of 1 ms each, side by side", ours: guestTurn(host.Options{}),
			baseline: "one after the other", theirs: guestTurn(host.Options{Limits: host.LimitOptions{MaxConcurrent: 1}}),
			compare: times, limit: "at least 1.7 times as fast on 2 cores",
		},
		{
			name: "the first result of a streamed turn leaves", ours: streamed(firstResult),
			baseline: "its last call comes", theirs: streamed(lastCall),
			compare: ratio, limit: "below 1x",
		},
	}
}

// idleJob is a job that does nothing, and may do so beside others. What it inherits
// is not called.
type idleJob struct{ scheduler.Job }

func (idleJob) Traits() scheduler.Traits                               { return scheduler.Traits{Safe: true} }
func (idleJob) Admit(context.Context) bool                             { return true }
func (idleJob) Run(context.Context, *scheduler.Slot) scheduler.Outcome { return scheduler.Outcome{} }
func (idleJob) Settle()                                                {}
func (idleJob) Yield()                                                 {}

// schedule has so many jobs wait and run, and tells the time of one.
func schedule(jobs int) func(*testing.B, *lab) {
	return func(b *testing.B, _ *lab) {
		for b.Loop() {
			s := scheduler.New(context.Background(), scheduler.Options{})
			for range jobs {
				if err := s.Add(idleJob{}); err != nil {
					b.Fatal(err)
				}
			}
			s.Wait()
		}
		reportEach(b, jobs)
	}
}

// reportEach reports what one of n things took that were done together.
func reportEach(b *testing.B, n int) { reportTime(b, b.Elapsed()/time.Duration(b.N)/time.Duration(n)) }

// nothing is a tool that does nothing.
func nothing(name string) host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: name, Summary: "Does nothing", InputSchema: `{"type":"object"}`,
			ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue,
		},
		Run: func(context.Context, *host.Call) (abi.ToolResult, error) {
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock("ok")}}, nil
		},
	}
}

// session opens a host with a session.
func (l *lab) session(b *testing.B, o host.Options) (s *host.Session, end func()) {
	b.Helper()
	ctx := context.Background()
	h, err := host.Open(ctx, o)
	if err != nil {
		b.Fatal(err)
	}
	if s, err = h.NewSession(host.SessionOptions{Cwd: l.dir}); err != nil {
		b.Fatal(err)
	}
	return s, func() {
		if err := errors.Join(s.Close(ctx), h.Close(ctx)); err != nil {
			b.Error(err)
		}
	}
}

// uses are so many calls of a tool.
func uses(n int, tool string) []abi.ToolUse {
	list := make([]abi.ToolUse, n)
	for i := range list {
		list[i] = abi.ToolUse{ID: strconv.Itoa(i), Name: tool, Input: json.RawMessage("{}")}
	}
	return list
}

// runTurns makes the same calls in turn after turn.
func runTurns(b *testing.B, s *host.Session, calls []abi.ToolUse) {
	b.Helper()
	for b.Loop() {
		for _, r := range s.Results(context.Background(), calls) {
			if r.IsError {
				b.Fatal(r.Text())
			}
		}
	}
}

// nativeTurn makes so many calls of a tool that does nothing, and tells the time of
// one.
func nativeTurn(calls int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, end := l.session(b, host.Options{Tools: []host.NativeTool{nothing("Nothing")}})
		defer end()
		runTurns(b, s, uses(calls, "Nothing"))
		reportEach(b, calls)
	}
}

//go:embed testdata/count.wasm
var countWasm []byte

// countPlugin has a tool that works for about a millisecond.
func countPlugin() plugins.Source {
	return wasmPlugin("count", countWasm, "[[tools]]\nname = \"Count\"\nsummary = \"Counts\"\nread_only = true\nconcurrency_safe = true\ninput_schema = '{\"type\":\"object\"}'\n")
}

// wasmPlugin is a module as a plugin; the rest of its manifest is given.
func wasmPlugin(name string, wasm []byte, manifest string) plugins.Source {
	return plugins.Source{Origin: plugins.OriginFlag, Path: name, FS: fstest.MapFS{
		"plugin.toml":  {Data: []byte("manifest = 1\nname = \"" + name + "\"\nversion = \"1.0.0\"\n" + manifest)},
		name + ".wasm": {Data: wasm},
	}}
}

func guestTurn(o host.Options) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		o := o
		o.Plugins.Sources, o.Plugins.Granted = []plugins.Source{countPlugin()}, []string{"count"}
		s, end := l.session(b, o)
		defer end()
		calls := uses(100, "Count")
		for _, r := range s.Results(context.Background(), calls) { // instances are made
			if r.Text() != "ok" {
				b.Fatal(r.Text())
			}
		}
		runTurns(b, s, calls)
	}
}

// moment is one of a streamed turn.
type moment int

const (
	firstResult moment = iota
	lastCall
)

const (
	streamedCalls = 20
	// writingTime is how long a model writes at a call; real ones take longer.
	writingTime = 2 * time.Millisecond
)

// streamed tells when a moment of a turn comes, from its beginning on.
func streamed(of moment) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, end := l.session(b, host.Options{Tools: []host.NativeTool{nothing("Nothing")}})
		defer end()
		calls := uses(streamedCalls, "Nothing")
		var sum time.Duration
		for b.Loop() {
			sum += streamTurn(b, s, calls)[of]
		}
		reportTime(b, sum/time.Duration(b.N))
	}
}

// streamTurn has calls come one after the other and returns when the moments were.
func streamTurn(b *testing.B, s *host.Session, calls []abi.ToolUse) (at [2]time.Duration) {
	b.Helper()
	began := time.Now()
	st := s.Stream(context.Background())
	written := make(chan time.Duration)
	go func() {
		for _, use := range calls {
			time.Sleep(writingTime)
			if err := st.Add(use); err != nil {
				b.Error(err)
			}
		}
		last := time.Since(began)
		st.Close()
		written <- last
	}()
	for e := range st.Events() {
		if e.Kind == host.EventResult && at[firstResult] == 0 {
			at[firstResult] = time.Since(began)
		}
	}
	at[lastCall] = <-written
	return at
}
