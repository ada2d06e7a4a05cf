package host_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// TestCallsDoNotOutliveTheirRights keeps what a call may do, and uses it afterwards.
func TestCallsDoNotOutliveTheirRights(t *testing.T) {
	t.Parallel()
	c := &testCapability{}
	var held *host.Call
	keeps := does("Keeps", func(ctx context.Context, c *host.Call) (string, error) {
		held = c
		_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
		return "kept", err
	})
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{keeps}, Capabilities: []capability.Capability{c}}), host.SessionOptions{})
	if r, _ := one(t, s, "Keeps", `{}`); r.Text() != "kept" {
		t.Fatal(r.Text())
	}
	_, err := held.Do(t.Context(), abi.Request{Name: "test.echo"})
	if abi.CodeOf(err) != abi.CodeCancelled || err.Error() != "the call that made it has ended" {
		t.Errorf("after its end the call got %v", err)
	}
	if c.done != 1 {
		t.Errorf("the capability was used %d times, want once", c.done)
	}
}

// TestCloseEndsSessionsTogether closes a host whose sessions have calls that do not
// heed their end: they are waited for side by side.
func TestCloseEndsSessionsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := newBarrier()
		h, err := host.Open(t.Context(), host.Options{Tools: []host.NativeTool{
			does("Deaf", func(context.Context, *host.Call) (string, error) { return "", deaf.wait(context.Background()) }),
		}})
		must(t, err)
		const sessions = 4
		results := make(chan []abi.ToolResult)
		for range sessions {
			s := session(t, h, host.SessionOptions{Cwd: "/"})
			go func() { results <- s.Results(context.Background(), []abi.ToolUse{use("1", "Deaf", `{}`)}) }()
		}
		synctest.Wait()
		began, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			if err := h.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		for range sessions {
			wantError(t, (<-results)[0], abi.CodeCancelled, "closed")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the last call was told after %v", took)
		}
		<-ended
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %v, and one session 5 s", took)
		}
		deaf.lift()
	})
}
