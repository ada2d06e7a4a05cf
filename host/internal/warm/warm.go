package warm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// The errors after which a command may be run in a sandbox of its own instead.
var (
	// ErrUnfit is that nothing was run: the command does not [Fit], there is no
	// shell to be had, or the pool is closed.
	ErrUnfit = errors.New("the command is not for a warm shell")
	// ErrAgain is that something was run, and that what came of it is not to be
	// trusted. What was written of its output is to be forgotten. As it was judged
	// to only read, it may be run once more.
	ErrAgain = errors.New("what the warm shell did is not certain")
)

// Process is a sandbox with the shell in it.
type Process interface {
	// Kill ends all of it, soon and without waiting. It may be called often.
	Kill()
	// Gone is closed when nothing is left of it.
	Gone() <-chan struct{}
}

// Launch is a shell that is to be started in a sandbox with its own PID namespace
// and /proc, where nothing can be written and no network reached.
type Launch struct {
	// Spec and Env are the request's.
	Spec sandbox.Spec
	Env  []string
	// Files are the first three descriptors, nil for /dev/null, and those that the
	// shell needs beside. The latter come behind the sandbox's own.
	Std, Extra []*os.File

	bash string
}

// Argv is what to run in the sandbox, where the first of Extra is the descriptor
// with this number.
func (l *Launch) Argv(first int) []string {
	return []string{l.bash, "-c", scriptFor(first, first+1)}
}

// Options are for a [Pool].
type Options struct {
	// Start starts shells. It need not heed the context once it returned.
	Start func(ctx context.Context, l *Launch) (Process, error)
	// Bash is what the shells are run as; it is their $0 and stands in front of
	// their messages. Empty is bash.
	Bash string
	// Max is how many shells there may be at once; 0 is 4.
	Max int
	// Idle is for how long one is kept that nobody uses; 0 is a minute.
	Idle time.Duration
	// Logger is told why shells are thrown away; nil is nobody.
	Logger *slog.Logger
}

// Request is a command that was judged read-only.
type Request struct {
	// Key says who may share a shell: those with the same key and environment. It
	// stands for the Spec, which is handed on to Start.
	Key  string
	Spec sandbox.Spec
	// Env is the whole environment. It must hold what internal/shell.Environment
	// asks for.
	Env []string
	// Dir is absolute.
	Dir, Command string
	// Stdout and Stderr are written to while the command runs, from this goroutine.
	// No Stderr merges the two as they come.
	Stdout, Stderr io.Writer
}

// Result is how a command ended.
type Result struct {
	Exit int
	// Dir is where the shell was at the end.
	Dir string
	// Left says that processes were left over, which are killed.
	Left bool
}
