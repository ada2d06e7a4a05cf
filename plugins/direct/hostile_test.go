package direct_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// answering is a gate that gives every capability call the same answer.
func answering(a abi.Answer) plugins.CapabilityFunc {
	return func(context.Context, abi.Request) (abi.Answer, error) { return a, nil }
}

// blockedBody is a body whose bytes never come; closing it ends a read.
type blockedBody struct {
	reading, closed chan struct{}
	read, close     sync.Once
}

func newBlockedBody() *blockedBody {
	return &blockedBody{reading: make(chan struct{}), closed: make(chan struct{})}
}

func (b *blockedBody) Read([]byte) (int, error) {
	b.read.Do(func() { close(b.reading) })
	<-b.closed
	return 0, io.ErrClosedPipe
}

func (b *blockedBody) Close() error {
	b.close.Do(func() { close(b.closed) })
	return nil
}

// TestBlockedBodyEndsWithTheCall cancels a call that waits for bytes of an
// answer: one that the guest reads, and one that it handed on.
func TestBlockedBodyEndsWithTheCall(t *testing.T) {
	for name, size := range map[string]int64{"size unknown": -1, "size known": 100} {
		for _, fixture := range []string{"read_answer", "pass_through"} {
			t.Run(fixture+", "+name, func(t *testing.T) {
				in := load(t, fixture)
				body := newBlockedBody()
				inv := invocation("{}")
				inv.Capability = answering(abi.Answer{OK: struct{}{}, Body: body, Size: size})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ended := make(chan error, 1)
				go func() {
					_, err := in.Call(ctx, inv)
					ended <- err
				}()
				<-body.reading
				cancel(errors.New("the user went home"))
				select {
				case err := <-ended:
					wantCode(t, err, abi.CodeCancelled, "the user went home")
				case <-time.After(5 * time.Second):
					_ = body.Close()
					t.Fatal("the call outlives its context")
				}
				<-body.closed
			})
		}
	}
}

// TestStartFunctionServesNoCall starts a module while another one's call is
// under way: its start function must not reach that call's gate.
func TestStartFunctionServesNoCall(t *testing.T) {
	parent, child := load(t, "pass_through"), load(t, "request_at_start")
	var served atomic.Int32
	var nested error
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if served.Add(1) == 1 {
			_, nested = child.Call(ctx, invocation("{}"))
		}
		return echoing("done")(ctx, r)
	}
	result, err := parent.Call(t.Context(), inv)
	if err != nil || result.Text() != "done" {
		t.Errorf("the call itself: %q, %v", result.Text(), err)
	}
	wantCode(t, nested, abi.CodeProtocol, "start function")
	if n := served.Load(); n != 1 {
		t.Errorf("the gate of one capability call served %d", n)
	}
}

// TestEndlessCapabilityCallsAreEnded has a guest that is refused and goes on.
// Long before its time is up it must be gone, and with it what it took.
func TestEndlessCapabilityCallsAreEnded(t *testing.T) {
	in := load(t, "submit_endless", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second; m.Limits.CapabilityCalls = 100 })
	inv := invocation("{}")
	inv.Capability = echoing("x")
	before := inUse()
	peak := before
	ended := make(chan error, 1)
	go func() {
		_, err := in.Call(t.Context(), inv)
		ended <- err
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(10 * time.Second)
	for {
		select {
		case err := <-ended:
			wantCode(t, err, abi.CodeLimit, "capability_calls = 100")
			if more := max(peak, inUse()) - before; more > 128<<20 {
				t.Errorf("the host took %d MiB for it", more>>20)
			}
			return
		case <-tick.C:
			peak = max(peak, inUse())
		case <-late:
			t.Fatal("the guest goes on")
		}
	}
}

// inUse is the memory that the process's heap and stacks take, in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// countedBody is an answer's body that counts how many like it are held.
type countedBody struct {
	io.Reader
	held *atomic.Int32
}

func (b countedBody) Close() error {
	b.held.Add(-1)
	return nil
}

// TestUnreadAnswersAreFew counts the answers that the host holds for a guest
// that makes calls and reads nothing.
func TestUnreadAnswersAreFew(t *testing.T) {
	in := load(t, "submit_flood", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second })
	var held, most atomic.Int32
	inv := invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		n := held.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		return abi.Answer{OK: struct{}{}, Body: countedBody{strings.NewReader("x"), &held}, Size: 1}, nil
	}
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit)
	if n := most.Load(); n == 0 || n > 32 {
		t.Errorf("%d answers were held at once", n)
	}
	for deadline := time.Now().Add(5 * time.Second); held.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := held.Load(); n != 0 {
		t.Errorf("%d answers are held after the call", n)
	}
}

type panickyOK struct{}

func (panickyOK) MarshalJSON() ([]byte, error) { panic("a defect in MarshalJSON") }

type panickyRead struct{ io.Closer }

func (panickyRead) Read([]byte) (int, error) { panic("a defect in Read") }

type panickyClose struct{ io.Reader }

func (panickyClose) Close() error { panic("a defect in Close") }

// TestPanickingAnswers has defects of an embedder's in an answer rather than in
// the capability. Each is that call's failure and nothing else's.
func TestPanickingAnswers(t *testing.T) {
	closer := io.NopCloser(nil)
	tests := map[string]struct {
		answer abi.Answer
		says   string // empty: the answer is of use all the same
	}{
		"encoding":           {abi.Answer{OK: panickyOK{}}, "a defect in MarshalJSON"},
		"reading":            {abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: -1}, "a defect in Read"},
		"reading, size told": {abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: 3}, "a defect in Read"},
		"closing":            {abi.Answer{OK: struct{}{}, Body: panickyClose{strings.NewReader("abc")}, Size: 3}, ""},
		"closing, of no use": {abi.Answer{OK: panickyOK{}, Body: panickyClose{strings.NewReader("abc")}, Size: 3}, "a defect in"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := load(t, "pass_through")
			inv := invocation("{}")
			inv.Capability = answering(test.answer)
			result, err := in.Call(t.Context(), inv)
			if test.says != "" {
				wantCode(t, err, abi.CodeInternal, test.says)
			} else if err != nil || result.Text() != "abc" {
				t.Errorf("got %q, %v", result.Text(), err)
			}
			inv.Capability = echoing("fine")
			if result, err := in.Call(t.Context(), inv); err != nil || result.Text() != "fine" {
				t.Errorf("the next call: %q, %v", result.Text(), err)
			}
		})
	}
	t.Run("read by the guest", func(t *testing.T) {
		in := load(t, "read_answer")
		inv := invocation("{}")
		inv.Capability = answering(abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: -1})
		_, err := in.Call(t.Context(), inv)
		wantCode(t, err, abi.CodeTrap) // read told the guest, which gave up
		inv.Capability = echoing("fine")
		if _, err := in.Call(t.Context(), inv); err != nil {
			t.Error(err)
		}
	})
	t.Run("encoding lets go of the body", func(t *testing.T) {
		in, body := load(t, "pass_through"), newBlockedBody()
		inv := invocation("{}")
		inv.Capability = answering(abi.Answer{OK: panickyOK{}, Body: body, Size: -1})
		_, err := in.Call(t.Context(), inv)
		wantCode(t, err, abi.CodeInternal)
		select {
		case <-body.closed:
		case <-time.After(5 * time.Second):
			t.Error("the body is never closed")
		}
	})
	t.Run("closed for a call that is gone", func(t *testing.T) {
		in := load(t, "pass_through")
		answered := make(chan struct{})
		inv := invocation("{}")
		inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
			defer close(answered)
			<-ctx.Done()
			return abi.Answer{OK: struct{}{}, Body: panickyClose{strings.NewReader("abc")}, Size: 3}, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := in.Call(ctx, inv)
		wantCode(t, err, abi.CodeTimeout)
		<-answered
	})
}

// TestRecycledMemoryIsClean makes calls that end well and calls that are
// cancelled anywhere on the way. Each fills all its memory, which later ones
// get; the guest traps where it finds anything in it.
func TestRecycledMemoryIsClean(t *testing.T) {
	in := load(t, "dirty", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second })
	body := strings.Repeat("z", 70_000)
	inv := invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		time.Sleep(time.Millisecond)
		return abi.Answer{OK: struct{}{}, Body: io.NopCloser(strings.NewReader(body)), Size: -1}, nil
	}
	var wg sync.WaitGroup
	var sound atomic.Int32
	for range 4 {
		wg.Go(func() {
			for i := range 30 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 1 {
					time.AfterFunc(time.Duration(i)*200*time.Microsecond, cancel)
				}
				_, err := in.Call(ctx, inv)
				cancel()
				switch {
				case err == nil:
					sound.Add(1)
				case abi.CodeOf(err) != abi.CodeCancelled:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := sound.Load(); n < 60 {
		t.Errorf("only %d calls came to their end", n)
	}
}

// onceBody fails once, together with its last bytes, and then pretends to have
// ended well, as a reader may.
type onceBody struct{ reads int }

func (b *onceBody) Read(p []byte) (int, error) {
	if b.reads++; b.reads == 1 {
		return copy(p, "half"), errors.New("the disk is gone")
	}
	return 0, io.EOF
}

func (b *onceBody) Close() error { return nil }

// TestErrorWithTheLastBytesIsNotLost: half an answer must not pass for a whole
// one. The guest sees -1 and traps.
func TestErrorWithTheLastBytesIsNotLost(t *testing.T) {
	inv := invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: &onceBody{}, Size: -1}, nil
	}
	_, err := load(t, "read_answer").Call(t.Context(), inv)
	wantCode(t, err, abi.CodeTrap, "unreachable")
	_, err = load(t, "pass_through").Call(t.Context(), inv)
	wantCode(t, err, abi.CodeInternal, "the disk is gone")
}
