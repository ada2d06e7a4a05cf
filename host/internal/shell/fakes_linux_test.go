//go:build amd64 || arm64

package shell_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestFakesFailCalls: where bubblewrap does not do its work the call fails, whatever the
// command's end was.
func TestFakesFailCalls(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	for _, name := range escapes.Fakes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			root := filepath.Dir(s.dir)
			none := filepath.Join(root, "none")
			if err := os.WriteFile(none, []byte(`{"child-pid": 1}`), 0o600); err != nil {
				t.Fatal(err)
			}
			box, report := sandbox.Find(t.Context(), sandbox.Options{
				State: filepath.Join(root, "state"), Home: root, Program: escapes.Fake(t, root, name, true, none),
			})
			if !report.Available {
				testenv.Missing(t, "no sandbox: "+report.String())
			}

			c := newShell(t, func(o *shell.Options) { o.Mode, o.Sandbox, o.Network = sandbox.Required, box, sandbox.NetworkOff })
			for _, command := range []string{"ls", "touch made"} {
				ctx, cancel := context.WithTimeout(t.Context(), escapes.FakesHang())
				if r, err := s.try(ctx, c, abi.ShellArgs{Command: command}); err == nil {
					t.Errorf("%s: got %+v", command, r)
				}
				cancel()
			}
		})
	}
}
