package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

const isolated = `manifest = 1
name = "isolated"
version = "1.0.0"
isolation = "process"

[[capabilities]]
name = "fs.read"

[[tools]]
name = "Show"
input_schema = '{"type":"object"}'
`

// TestSetWaitsForCallsInWorkers closes a set of plugins with a call under way: it
// waits for that as long as it may, and then the call ends with its worker.
func TestSetWaitsForCallsInWorkers(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "isolated")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{abi.ManifestFile: []byte(isolated), "isolated.wasm": fixture(t, "pass_through")} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, patience := range map[string]time.Duration{"long enough": time.Minute, "too short": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			set, err := plugins.Open(plugins.Options{
				Sources:      []plugins.Source{plugins.Dir(plugins.OriginFlag, root)},
				Isolated:     []plugins.Runner{worker.New(abi.ABIDirect, options(t))},
				Capabilities: []string{"fs.read"},
				Granted:      []string{"isolated"},
			})
			if err != nil {
				t.Fatal(err)
			}
			show, ok := set.Tool("Show")
			if !ok {
				t.Fatalf("there is no tool Show: %v", set.Plugins())
			}
			entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			inv := invocation("{}")
			inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
				close(entered)
				<-release
				return abi.Answer{OK: struct{}{}}, nil
			}
			go func() {
				_, err := show.Call(context.Background(), inv)
				ended <- err
			}()
			<-entered
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- set.Close(ctx) }()
			if name == "too short" {
				runnertest.WantCode(t, <-closed, abi.CodeTimeout, "plugin isolated still has calls under way")
				runnertest.WantCode(t, <-ended, abi.CodeCancelled, "plugin isolated is being unloaded")
				close(release)
				return
			}
			select {
			case err := <-closed:
				t.Errorf("closed under a call: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			close(release)
			if err := <-ended; err != nil {
				t.Errorf("the call under way: %v", err)
			}
			if err := <-closed; err != nil {
				t.Errorf("closing: %v", err)
			}
		})
	}
}
