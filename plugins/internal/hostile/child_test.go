package hostile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// task is what a child process is told to do.
type task struct {
	Runner, Fixture string
	Hurried         bool
	// Dir holds the plugins.
	Dir string
}

// report is what a child process saw.
type report struct {
	Load  outcome
	Calls []outcome
	// Sound is how often the sound plugin answered meanwhile, Slow how long all
	// but the slowest tenth took at most, and Slowest how long the slowest took.
	// SoundErr is its first failure.
	Sound         int
	Slow, Slowest time.Duration
	SoundErr      string
	// Before is the resident memory before the hostile module was loaded, and
	// Peak the most it was from then on, in bytes. Below is the most that other
	// processes took for it.
	Before, Peak, Below int64
	// Collections is how often garbage collection was forced. Pause is the median
	// of the times for which each stopped the world, and WorstPause the longest.
	Collections       int
	Pause, WorstPause time.Duration
	// Waited is how long the threads of all these processes, together, were kept from
	// running by others: the machine's doing, which no time is judged by.
	Waited time.Duration
	// Left is how many goroutines there are more than before, at the end.
	Left int
}

type outcome struct {
	Code    abi.Code
	Message string
	Took    time.Duration
}

const (
	soundTool, toolName = "Sound", "Hostile"
	capabilityName      = "test.a"
)

// child runs a task and prints a report. What it is at goes to standard error,
// for whoever has to say where it hung.
func child(text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	r := runners[slices.IndexFunc(runners, func(r runner) bool { return r.name == t.Runner })]
	all := fixtures()
	f := all[slices.IndexFunc(all, func(f fixture) bool { return f.name == t.Fixture })]
	if t.Hurried {
		f = f.hurried()
	}
	ctx := context.Background()
	options, err := r.options(t.Dir, f.compile)
	if err != nil {
		return err
	}
	set, err := plugins.Open(options)
	if err != nil {
		return err
	}
	seen, err := f.run(ctx, set)
	if err == nil {
		stage("closing")
		err = errors.Join(json.NewEncoder(os.Stdout).Encode(seen), set.Close(ctx))
	}
	return err
}

func stage(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (f *fixture) run(ctx context.Context, set *plugins.Set) (report, error) {
	sound, err := find(set, soundTool)
	if err != nil {
		return report{}, err
	}
	if o := new(fixture).call(ctx, sound, nil); o.Code != "" {
		return report{}, errors.New("the sound plugin: " + o.Message)
	}
	tool, ok := set.Tool(toolName)
	if !ok {
		// What is seen when plugins are looked for needs no code: nobody called.
		p, _ := set.Plugin("hostile")
		return report{Load: outcome{Code: abi.CodeLoad, Message: p.Problem().Error()}}, nil
	}
	r := report{Before: settle()}
	goroutines := runtime.NumGoroutine()
	waited := waiting("self")
	stopSound, stopBelow := answerMeanwhile(ctx, sound, &r), watchBelow()

	stage("loading")
	began := time.Now()
	_, err = tool.Assess(ctx, plugins.Question{Input: json.RawMessage("{}")})
	r.Load = outcomeOf(err, began)
	if err == nil {
		stage("calling, after a load of %v", r.Load.Took)
		f.callAll(ctx, tool, &r)
	}
	stage("ended")
	r.Waited = max(waiting("self")-waited, 0)
	stopSound()
	r.Below, r.Peak = stopBelow(), status("self", "VmHWM")
	r.Left = left(goroutines)
	return r, nil
}

func find(set *plugins.Set, name string) (*plugins.Tool, error) {
	if tool, ok := set.Tool(name); ok {
		return tool, tool.Available()
	}
	var problems []error
	for _, p := range set.Plugins() {
		problems = append(problems, p.Problem())
	}
	return nil, fmt.Errorf("no tool %s: %w", name, errors.Join(problems...))
}

// callAll makes the fixture's calls.
func (f *fixture) callAll(ctx context.Context, tool *plugins.Tool, r *report) {
	r.Calls = make([]outcome, max(f.calls, 1))
	if f.kept {
		session := new(plugins.Session)
		for i := range r.Calls {
			r.Calls[i] = f.call(ctx, tool, session)
		}
		_ = session.Close(ctx)
		return
	}
	var calls sync.WaitGroup
	for i := range r.Calls {
		calls.Go(func() { r.Calls[i] = f.call(ctx, tool, nil) })
	}
	if f.collect {
		r.collect(f.time())
	}
	calls.Wait()
}

func (f *fixture) call(ctx context.Context, tool *plugins.Tool, session *plugins.Session) outcome {
	if f.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.deadline)
		defer cancel()
	}
	began := time.Now()
	result, err := tool.Call(ctx, plugins.Invocation{
		ID: "1", Cwd: "/", Input: json.RawMessage("{}"), Session: session,
		Capability: func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
			if f.answer == nil {
				return abi.Answer{OK: struct{}{}}, nil
			}
			return f.answer(ctx)
		},
	})
	if err == nil && result.IsError {
		err = errors.New("a failed result: " + result.Text())
	}
	return outcomeOf(err, began)
}

func outcomeOf(err error, began time.Time) outcome {
	o := outcome{Took: time.Since(began)}
	if err != nil {
		o.Code, o.Message = abi.CodeOf(err), err.Error()
	}
	return o
}

// answerMeanwhile calls the sound plugin again and again until it is told to
// stop.
func answerMeanwhile(ctx context.Context, sound *plugins.Tool, r *report) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		plain := new(fixture)
		var took []time.Duration
		for {
			select {
			case <-quit:
				slices.Sort(took)
				r.Sound = len(took)
				if len(took) > 0 {
					r.Slow, r.Slowest = took[(len(took)-1)*9/10], took[len(took)-1]
				}
				return
			default:
			}
			// From before the pause on: what keeps the pause from ending counts.
			began := time.Now()
			time.Sleep(time.Millisecond)
			o := plain.call(ctx, sound, nil)
			took = append(took, time.Since(began)-time.Millisecond)
			if o.Code != "" && r.SoundErr == "" {
				r.SoundErr = o.Message
			}
		}
	}()
	return func() { close(quit); <-done }
}

// collect forces collections for most of a time, one at least.
func (r *report) collect(during time.Duration) {
	var pauses []time.Duration
	for end := time.Now().Add(during * 8 / 10); len(pauses) == 0 || time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		before, waited := stops(), waiting("self")
		runtime.GC()
		pauses = append(pauses, longestStop(before, stops())-max(waiting("self")-waited, 0))
	}
	slices.Sort(pauses)
	r.Collections = len(pauses)
	r.Pause, r.WorstPause = pauses[(len(pauses)-1)/2], pauses[len(pauses)-1]
}

// stops is how long the world was stopped for collections, from the decision on.
func stops() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: h.Buckets}
}

// longestStop is the longest one that is only in the later histogram, to the
// upper end of its bucket.
func longestStop(before, after *metrics.Float64Histogram) time.Duration {
	for i, n := range slices.Backward(after.Counts) {
		if high := after.Buckets[i+1]; n > before.Counts[i] && !math.IsInf(high, 1) {
			return time.Duration(high * float64(time.Second))
		}
	}
	return 0
}

// left is how many goroutines there are more than before, once those that are
// about to end had time to: the longest known sleeps a second in a capability.
func left(before int) int {
	for range 1000 {
		if runtime.NumGoroutine() <= before+maxLeft {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return max(runtime.NumGoroutine()-before, 0)
}
