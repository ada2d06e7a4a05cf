package host_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// TestStreamHammer does to streams whatever can be done to them, in any order and from
// several goroutines: of each call that was taken there is one result, in call order,
// unless the stream was discarded; nothing is left running, and the session goes on.
func TestStreamHammer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails where a goroutine is left
				hammer(t, rand.New(rand.NewPCG(seed, 5)))
			})
		})
	}
}

func hammer(t *testing.T, r *rand.Rand) {
	t.Helper()
	h, err := host.Open(t.Context(), host.Options{Limits: host.LimitOptions{MaxConcurrent: 1 + r.IntN(3), MaxCalls: 1 + r.IntN(3), MaxHeldResults: int64(r.IntN(3))}, Tools: hammerTools()})
	must(t, err)
	s := session(t, h, host.SessionOptions{Cwd: "/"})
	played := []*play{newPlay(t, s, r), newPlay(t, s, r)} // the second waits for the first
	for _, p := range played {
		go p.act()
	}
	for _, p := range played {
		<-p.acted
		p.check(t)
	}
	closing := r.IntN(2) == 0
	if closing {
		must(t, s.Close(t.Context()))
	}
	if r, _ := one(t, s, "Quick", `{}`); r.IsError != closing {
		t.Errorf("the turn after them answers %q", r.Text())
	}
	must(t, h.Close(context.Background()))
}

// hammerTools are quick, slow, deaf, blocking, failing with their siblings, and alone.
func hammerTools() []host.NativeTool {
	takes := func(d time.Duration) func(context.Context, *host.Call) (string, error) {
		return func(ctx context.Context, _ *host.Call) (string, error) {
			select {
			case <-time.After(d):
				return "done", nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
	}
	deaf := func(context.Context, *host.Call) (string, error) {
		time.Sleep(300 * time.Millisecond)
		return "deaf", nil
	}
	fails := func(context.Context, *host.Call) (string, error) { return "", errors.New("it fails") }
	return []host.NativeTool{
		does("Quick", takes(0)), does("Slow", takes(50*time.Millisecond)), does("Deaf", deaf),
		does("Blocks", takes(80*time.Millisecond), func(c *abi.Tool) { c.Interrupt = abi.InterruptBlock }),
		does("Fails", fails, func(c *abi.Tool) { c.Cascade = true }),
		does("Cascades", takes(40*time.Millisecond), func(c *abi.Tool) { c.Cascade = true }),
		does("Alone", takes(10*time.Millisecond), alone),
	}
}

// play is what is done to one stream.
type play struct {
	stream *host.Stream
	cancel context.CancelFunc
	random *rand.Rand
	acted  chan struct{}
	read   *heard

	taken     []string
	discarded bool
}

func newPlay(t *testing.T, s *host.Session, r *rand.Rand) *play {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &play{stream: s.Stream(ctx), cancel: cancel, random: rand.New(rand.NewPCG(r.Uint64(), 6)), acted: make(chan struct{})}
	p.read = listen(t, p.stream.Events())
	return p
}

func (p *play) act() {
	defer close(p.acted)
	defer p.stream.Close()
	names := []string{"Quick", "Slow", "Deaf", "Blocks", "Fails", "Cascades", "Alone", "Nope"}
	for i := range 3 + p.random.IntN(12) {
		switch p.random.IntN(30) {
		case 0, 1:
			go p.stream.Interrupt()
		case 2:
			p.discarded = true
			p.stream.Discard()
		case 3:
			p.cancel()
		case 4:
			p.stream.Close()
		case 5:
			p.stream.Interruptible()
		default:
			id := strconv.Itoa(i)
			if p.stream.Add(use(id, names[p.random.IntN(len(names))], `{}`)) == nil {
				p.taken = append(p.taken, id)
			}
		}
		time.Sleep(time.Duration(p.random.IntN(30)) * time.Millisecond)
	}
}

func (p *play) check(t *testing.T) {
	t.Helper()
	events := p.read.all()
	p.stream.Interrupt() // it is too late for these
	p.stream.Discard()
	p.cancel()
	ended := make(map[string]int)
	last := -1
	for _, e := range events {
		if e.Kind != host.EventResult && e.Kind != host.EventDiscarded {
			continue
		}
		ended[e.CallID]++
		if e.Index <= last || e.CallID != p.taken[e.Index] {
			t.Errorf("call %s, at %d, left behind the one at %d", e.CallID, e.Index, last)
		}
		last = e.Index
		if e.Kind == host.EventDiscarded && !p.discarded {
			t.Errorf("call %s was discarded by nobody", e.CallID)
		}
	}
	for _, id := range p.taken {
		if ended[id] != 1 {
			t.Errorf("call %s had %d ends", id, ended[id])
		}
	}
	if kind := events[len(events)-1].Kind; kind != host.EventTurnEnded || len(ended) != len(p.taken) {
		t.Errorf("%d calls ended of %d, and the last event is %s", len(ended), len(p.taken), kind)
	}
}

// TestSessionClosesUnderAStream closes a session whose stream is open, with a call
// that runs and nobody who reads: Close does not wait for a reader, and who reads
// later has every result.
func TestSessionClosesUnderAStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, err := host.Open(t.Context(), host.Options{Tools: hammerTools(), Limits: host.LimitOptions{MaxHeldResults: 1}})
		must(t, err)
		s := session(t, h, host.SessionOptions{Cwd: "/"})
		open, waits := s.Stream(t.Context()), s.Stream(t.Context())
		must(t, open.Add(use("1", "Slow", `{}`)))
		must(t, open.Add(use("2", "Alone", `{}`)))
		must(t, waits.Add(use("3", "Quick", `{}`)))
		synctest.Wait()
		must(t, s.Close(t.Context()))
		for id, st := range map[string]*host.Stream{"1": open, "2": open, "3": waits} {
			if err := st.Add(use("x", "Quick", `{}`)); !errors.Is(err, host.ErrStreamClosed) {
				t.Errorf("after call %s another was taken: %v", id, err)
			}
		}
		results := resultsOf(listen(t, open.Events()).all())
		maps.Copy(results, resultsOf(listen(t, waits.Events()).all()))
		for _, id := range []string{"1", "2", "3"} {
			wantError(t, results[id], abi.CodeCancelled)
		}
		must(t, h.Close(context.Background()))
	})
}

// TestPartialInputIsNotExecuted adds calls whose input was cut off at any place.
func TestPartialInputIsNotExecuted(t *testing.T) {
	t.Parallel()
	const whole = `{"s":"a \"b\" é","n":[1,{"x":true}]}`
	var ran []string
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Note", func(_ context.Context, c *host.Call) (string, error) {
			ran = append(ran, string(c.Input))
			return "", nil
		}, alone),
	}}), host.SessionOptions{})
	st := s.Stream(t.Context())
	h := listen(t, st.Events())
	for i := 1; i <= len(whole); i++ {
		must(t, st.Add(use(strconv.Itoa(i), "Note", whole[:i])))
	}
	st.Close()
	results := resultsOf(h.all())
	for i := 1; i < len(whole); i++ {
		wantError(t, results[strconv.Itoa(i)], abi.CodeInvalidInput)
	}
	if len(ran) != 1 || results[strconv.Itoa(len(whole))].IsError {
		t.Errorf("run were %q", ran)
	}
}
