package regexp

import (
	"context"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/internal/testenv"
)

// expressionOf compiles a pattern that the guest itself searches for.
func expressionOf(t *testing.T, with string, o pattern.Options) *expression {
	t.Helper()
	compiled, err := Shared.Compile(t.Context(), with, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(compiled.Close)
	x, ok := compiled.(*expression)
	if !ok || x.table != nil {
		t.Fatalf("%q is not searched for by the guest", with)
	}
	return x
}

// waits has a search of a size wait for another's end.
func waits(t *testing.T, x *expression, size int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if s, err := x.Search(ctx, size); err == nil {
		s.Close()
		t.Errorf("a search of %d bytes waits for nobody", size)
	} else if abi.CodeOf(err) != abi.CodeTimeout {
		t.Error(err)
	}
}

// begins has a search of a size wait for nobody.
func begins(t *testing.T, x *expression, size int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	s, err := x.Search(ctx, size)
	if err != nil {
		t.Fatalf("a search of %d bytes: %v", size, err)
	}
	s.Close()
}

// TestOneLargeSearch: one search at a time has much text, and its guest is the one that
// the next of those gets, so that there is no second one of that size.
func TestOneLargeSearch(t *testing.T) {
	t.Parallel()
	x := expressionOf(t, `a\s+b`, pattern.Options{Multiline: true})
	const much = 8 << 20
	s, err := x.Search(t.Context(), much)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Window(much); err != nil {
		t.Fatal(err)
	}
	waits(t, x, much)
	begins(t, x, muchText)
	s.Close()
	if x.big == nil || x.big.Host.size < much {
		t.Fatal("the guest with much room was not kept as such")
	}
	for range 3 {
		begins(t, x, much)
		begins(t, x, muchText)
	}
	for _, in := range x.free {
		if in.Host.size > muchText {
			t.Error("a guest with much room is there for little text")
		}
	}
}

// TestLargeExpressions: the more memory an expression takes, the fewer guests have it.
func TestLargeExpressions(t *testing.T) {
	t.Parallel()
	x := new(expression)
	for memory, want := range map[uint32]int{0: maxInstances, 1 << 20: maxInstances, 7 << 20: 9, 33 << 20: 1, MaxMemory: 1} {
		if x.share(memory); cap(x.slots) != want {
			t.Errorf("%d MiB: %d guests, want %d", memory>>20, cap(x.slots), want)
		}
	}
	small, large := expressionOf(t, `\Aa`, pattern.Options{}), expressionOf(t, `\A\w{100}`, pattern.Options{})
	if cap(small.slots) != maxInstances || cap(large.slots) >= maxInstances {
		t.Errorf("%d guests of a small one, %d of a large one", cap(small.slots), cap(large.slots))
	}
}

// TestWaitingEnds: who waits goes on once there is room.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	x := expressionOf(t, `\Aa`, pattern.Options{})
	x.share(MaxMemory)
	first, err := x.Search(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	waits(t, x, 0)
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	second := make(chan error, 1)
	go func() {
		s, err := x.Search(ctx, 0)
		if err == nil {
			s.Close()
		}
		second <- err
	}()
	first.Close()
	if err := <-second; err != nil {
		t.Error(err)
	}
}
