package plugins_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// TestCloseWaitsNoLongerThanItsContext closes a set for which a call is under way.
// The call comes to its end; no other begins.
func TestCloseWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top := "[[capabilities]]\nname = \"fs.read\"\n"
	folder(t, dir, "one", manifest("one", top, "Show"), fixture(t, "pass_through"))
	set := open(t, plugins.Options{Granted: []string{"one"}}, user(dir))
	show := tool(t, set, "Show")
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := show.Call(context.Background(), plugins.Invocation{
			ID: "toolu_1", Cwd: "/", Input: json.RawMessage("{}"),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) {
				close(entered)
				<-release
				return abi.Answer{OK: struct{}{}}, nil
			},
		})
		ended <- err
	}()
	<-entered
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no more time"))
	err := set.Close(ctx)
	wantProblem(t, err, abi.CodeTimeout, "plugin one still has calls under way: no more time")
	_, err = call(t, show, "{}")
	wantProblem(t, err, abi.CodeCancelled, "plugin one is being unloaded")
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the call under way: %v", err)
	}
}
