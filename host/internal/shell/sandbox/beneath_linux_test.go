//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"os"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// What is to be put into a folder that is not there is refused: nothing is made in its place,
// least of all at the root of the machine.
func TestNothingIsPutIntoAbsent(t *testing.T) {
	root := tree(t, "w/f", "o/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	for _, absent := range []string{"w/.vscode/", "w/.bashrc"} {
		spec := sandbox.Spec{
			Writable: under(root, "w"), Protected: []string{root + "/" + absent}, Cwd: root + "/w",
			Bind: []sandbox.Bind{{Source: root + "/o/f", Target: root + "/" + absent + "/toolquay-test/f"}},
		}
		w, err := s.Wrap(t.Context(), spec, []string{"true"})
		if err == nil {
			err = w.Close()
			t.Error("it is not refused", err)
		} else if !errors.Is(err, sandbox.ErrSpec) {
			t.Errorf("got %v", err)
		}
		if exists("/toolquay-test") {
			t.Error("a folder was made at the root")
			_ = os.RemoveAll("/toolquay-test")
		}
	}
	noLeftovers(t, root+"/w")
}
