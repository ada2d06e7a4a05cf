package searches

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/shell"
	commands "github.com/toolquay/toolquay/internal/shell"
)

// maxListed bounds how many bytes git may print.
const maxListed = 64 << 20

// errTooLong means that git took too long, or printed too much.
var errTooLong = errors.New("git takes too long, or prints too much")

// repository is a git repository: dir is its .git directory, and place is the path under which this
// process finds that.
type repository struct {
	dir, place string
	disk       paths.Disk
}

// run runs the system's git in the repository and returns its output. Git starts no programs
// that the repository names.
func (r *repository) run(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	program, err := shell.Look("git", "")
	if err != nil {
		return nil, err
	}
	top := filepath.Dir(r.dir) // any directory will do
	args = slices.Concat([]string{program, "--git-dir=" + r.dir, "--work-tree=" + top, "--no-pager"}, args)
	if r.disk.View != nil {
		text, err := r.disk.Run(ctx, top, args, environment(), input, maxListed)
		return r.listed(ctx, text, err)
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(running, args[0], args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = top, bytes.NewReader(input), time.Second
	cmd.Env = environment()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, tooLong(ctx, err)
	}
	text, err := io.ReadAll(io.LimitReader(out, maxListed))
	if err != nil || len(text) == maxListed {
		cancel()
	}
	return r.listed(ctx, text, errors.Join(err, cmd.Wait()))
}

// listed returns git's output, with an error if git failed, took too long or printed too much.
func (*repository) listed(ctx context.Context, text []byte, err error) ([]byte, error) {
	if len(text) == maxListed {
		err = errTooLong
	}
	return text, tooLong(ctx, err)
}

// tooLong says that an error is due to the end of the time for git.
func tooLong(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.Join(errTooLong, err)
	}
	return err
}

// environment is what git runs with: the settings for commands that only read, and no
// configuration but the repository's. Names without a value are variables to be unset.
func environment() []string {
	env := slices.DeleteFunc(commands.Environment(), func(setting string) bool { return !strings.Contains(setting, "=") })
	return append(env, "HOME=/", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
}
