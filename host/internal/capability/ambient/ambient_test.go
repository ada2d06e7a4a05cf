package ambient_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/ambient"
)

func do(t *testing.T, c *ambient.Capability, name, args string) abi.Answer {
	t.Helper()
	p, err := c.Plan(t.Context(), capability.Scope{}, abi.Request{Name: name, Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, err := p.Do(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSystem has time and random numbers come from the system.
func TestSystem(t *testing.T) {
	t.Parallel()
	c := ambient.New(ambient.Options{})
	before := time.Now().UnixNano()
	first, _ := do(t, c, abi.CapClockNow, `{}`).OK.(abi.ClockOK)
	second, _ := do(t, c, abi.CapClockNow, ``).OK.(abi.ClockOK)
	if first.Unix < before || second.Unix > time.Now().UnixNano() || first.Monotonic < 0 || second.Monotonic < first.Monotonic {
		t.Errorf("it is %+v, then %+v", first, second)
	}
	draw := func() []byte {
		drawn, err := io.ReadAll(do(t, c, abi.CapRandomBytes, `{"length":32}`).Body)
		if err != nil || len(drawn) != 32 {
			t.Fatalf("drew %x, %v", drawn, err)
		}
		return drawn
	}
	if bytes.Equal(draw(), draw()) {
		t.Error("the same numbers were drawn twice")
	}
}
