package runnertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// spills are the places for long texts that a call was given.
type spills struct {
	// to is where texts go; failing is what writing fails with from the first MiB on.
	to      io.Writer
	failing error
	// ending is what Done fails with.
	ending error

	made, done, discarded, written atomic.Int64
}

// open makes one more.
func (s *spills) open() (abi.Spill, error) {
	s.made.Add(1)
	return &countedSpill{spills: s, text: abi.NewSpillWriter(s.to)}, nil
}

type countedSpill struct {
	spills *spills
	text   *abi.SpillWriter
}

// Write writes to where texts go.
func (c *countedSpill) Write(p []byte) (int, error) {
	if c.spills.failing != nil && c.spills.written.Load() >= 1<<20 {
		return 0, c.spills.failing
	}
	n, err := c.text.Write(p)
	c.spills.written.Add(int64(n))
	return n, err
}

// Done is counted.
func (c *countedSpill) Done() (*abi.Spilled, error) {
	if c.spills.ending != nil {
		return nil, c.spills.ending
	}
	c.spills.done.Add(1)
	return c.text.Spilled("/spilled"), nil
}

// Discard is counted.
func (c *countedSpill) Discard() { c.spills.discarded.Add(1) }

// spilling is a call whose long texts are spilled.
func (g *guest) spilling(s *spills, do plugins.CapabilityFunc) plugins.Invocation {
	inv := g.asking(do)
	inv.Spill = s.open
	return inv
}

// testSpilled has texts of which the middle is a capability's answer: what is too
// long to hold is spilled as it is, whatever the limit of the output; the rest of
// the result is held.
func testSpilled(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_mixed", patient)
	long := strings.Repeat("0123456789\nä\xff", 300_000) // 4 MiB, of which some is no UTF-8
	for name, test := range map[string]struct {
		body    string
		spilled bool
	}{
		"empty":          {"", false},
		"short":          {digits(100_000), false},
		"just fits":      {strings.Repeat("x", 1<<20-3), false}, // with a bracket three times
		"does not fit":   {strings.Repeat("x", 1<<20-1), true},
		"long, no UTF-8": {long, true},
	} {
		for way, size := range map[string]int64{"size known": int64(len(test.body)), "size unknown": -1} {
			t.Run(name+", "+way, func(t *testing.T) {
				var file bytes.Buffer
				places := &spills{to: &file}
				inv := g.spilling(places, Answering(answer(test.body, size)))
				result, err := g.Call(t.Context(), inv)
				if err != nil {
					t.Fatal(err)
				}
				if len(result.Content) != 2 || result.Content[1].Text != ">" {
					t.Fatalf("the result has %d blocks", len(result.Content))
				}
				got, want := result.Content[0], "<"+test.body+">"
				if n := places.made.Load(); n != places.done.Load() || n > 1 || (n == 1) != test.spilled || places.discarded.Load() != 0 {
					t.Fatalf("%d spills were made, %d done, %d discarded", n, places.done.Load(), places.discarded.Load())
				}
				if !test.spilled {
					if got.Spilled != nil || got.Text != want {
						t.Errorf("got %d bytes, want %d", len(got.Text), len(want))
					}
					return
				}
				if got.Text != "" || got.Spilled.Path != "/spilled" || got.Spilled.Bytes != int64(len(want)) || file.String() != want {
					t.Errorf("got %d bytes of text and %+v", len(got.Text), got.Spilled.Bytes)
				}
			})
		}
	}
}

// testSpillFails has all that can go wrong on the way to a spill: the call fails
// with it, and what was written is taken away.
func testSpillFails(t *testing.T, s *Suite) {
	t.Helper()
	noSpace := &fs.PathError{Op: "write", Path: "/spilled", Err: errors.New("no space left on the device")}
	refused := abi.Errorf(abi.CodeUnsupported, "the disk is away")
	broken := io.MultiReader(strings.NewReader(digits(3<<20)), &onceBody{fails: errors.New("the pipe broke")})
	for name, test := range map[string]struct {
		guest   string
		failing error
		open    func() (abi.Spill, error)
		ending  error
		second  error
		body    io.Reader
		code    abi.Code
		says    string
	}{
		"writing":         {guest: "pass_through", failing: noSpace, code: abi.CodeIO, says: "no space left"},
		"beginning":       {guest: "pass_through", open: func() (abi.Spill, error) { return nil, noSpace }, code: abi.CodeIO, says: "no space left"},
		"ending":          {guest: "pass_through", ending: noSpace, code: abi.CodeIO, says: "no space left"},
		"with a code":     {guest: "pass_through", failing: refused, code: abi.CodeUnsupported, says: "the disk is away"},
		"reading":         {guest: "pass_through", body: broken, code: abi.CodeInternal, says: "the pipe broke"},
		"the next answer": {guest: "pass_two", second: abi.Errorf(abi.CodeDenied, "not that one"), code: abi.CodeDenied, says: "not that one"},
	} {
		t.Run(name, func(t *testing.T) {
			g := s.load(t, test.guest, patient)
			places := &spills{to: io.Discard, failing: test.failing, ending: test.ending}
			var asked atomic.Int32
			inv := g.spilling(places, func(context.Context, abi.Request) (abi.Answer, error) {
				if asked.Add(1) == 2 {
					return abi.Answer{}, test.second
				}
				if test.body != nil {
					return abi.Answer{OK: struct{}{}, Body: io.NopCloser(test.body), Size: -1}, nil
				}
				return answer(digits(3<<20), -1), nil
			})
			if test.open != nil {
				inv.Spill = test.open
			}
			_, err := g.Call(t.Context(), inv)
			WantCode(t, err, test.code, test.says)
			eventually(t, "what was spilled is not discarded once", func() bool { return places.discarded.Load() == places.made.Load() })
		})
	}
}

// testSpillCancelled cancels a call in the middle of a text.
func testSpillCancelled(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", patient)
	testenv.InTime(t, gentle, func() time.Duration {
		body := newBlockedBody()
		places := &spills{to: io.Discard}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		rest := struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(digits(3<<20)), body), body}
		ended := background(ctx, g, g.spilling(places, Answering(abi.Answer{OK: struct{}{}, Body: rest, Size: -1})))
		select {
		case <-body.reading:
		case err := <-ended:
			t.Fatalf("it ended at once: %v", err)
		}
		began := time.Now()
		cancel(errors.New("the user went home"))
		err := <-ended
		took := time.Since(began)
		WantCode(t, err, abi.CodeCancelled, "the user went home")
		eventually(t, "what was spilled is not discarded", func() bool { return places.discarded.Load() == 1 && places.done.Load() == 0 })
		<-body.closed
		return took
	})
}

// spillAlone is set in the process that one measurement has for itself.
const spillAlone = "TOOLQUAY_TEST_SPILL_ALONE"

// spillSize is the length of a long text, in bytes.
var spillSize = max(int64(testenv.Sample(200_000_000)), 40_000_000)

// testSpillMemory passes spillSize bytes on to a file, in a process that does nothing else.
func testSpillMemory(t *testing.T, s *Suite) {
	t.Helper()
	if os.Getenv(spillAlone) == "" {
		alone(t, spillAlone)
		return
	}
	g := s.load(t, "pass_through", patient)
	for name, known := range map[string]int64{"size known": spillSize, "size unknown": -1} {
		t.Run(name, func(t *testing.T) {
			grown := testenv.HeapGrowth(func() { g.spillLong(t, known) })
			t.Logf("the heap grew by %.1f MiB", float64(grown)/(1<<20))
			if grown > 32<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
		})
	}
}

// spillLong passes a long answer on to a file.
func (g *guest) spillLong(t *testing.T, known int64) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "spilled"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var read, closed atomic.Int64
	body := &countedBody{spillSize, &read, &closed}
	inv := g.spilling(&spills{to: file}, Answering(abi.Answer{OK: struct{}{}, Body: body, Size: known}))
	result, err := g.Call(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Content[0].Spilled; got == nil || got.Bytes != spillSize {
		t.Errorf("got %+v", got)
	}
	if info, err := file.Stat(); err != nil || info.Size() != spillSize {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// BenchmarkSpill passes answers of spillSize bytes on to a place that keeps nothing.
func BenchmarkSpill(b *testing.B, s Suite) {
	b.Helper()
	g := s.load(b, "pass_through", patient)
	places := &spills{to: io.Discard}
	var read, closed atomic.Int64
	b.SetBytes(spillSize)
	b.ReportAllocs()
	for b.Loop() {
		inv := g.spilling(places, Answering(abi.Answer{OK: struct{}{}, Body: &countedBody{spillSize, &read, &closed}, Size: -1}))
		if _, err := g.Call(b.Context(), inv); err != nil {
			b.Fatal(err)
		}
	}
}
