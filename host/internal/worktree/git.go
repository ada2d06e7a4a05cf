package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// patience is how long git has to tidy up when it is to end.
	patience = 10 * time.Second
	// quickly bounds git where it only looks, and writing where it writes all files of a commit.
	quickly = time.Minute
	writing = 15 * time.Minute
	// maxPrinted bounds what git may print, in bytes, and maxSaid what of its errors is passed on.
	maxPrinted = 64 << 20
	maxSaid    = 1000
)

// git runs the system's git in one directory.
type git struct {
	program, dir string
	env          []string
}

// newGit prepares git for a directory: it finds out which programs the configuration that holds
// there names, and has git start none of them.
func newGit(ctx context.Context, program, dir string) (*git, error) {
	g := &git{program: program, dir: dir, env: environment(program, settings)}
	// Without a repository git lists the settings that were given.
	listed, err := g.run(ctx, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	further := against(strings.Split(listed, "\x00"))
	g.env = environment(program, append(slices.Clip(settings), further...))
	return g, nil
}

// environment is what git runs with: no configuration but the repository's, and these settings,
// which come before that.
func environment(program string, all []setting) []string {
	env := []string{
		"HOME=" + os.DevNull, "XDG_CONFIG_HOME=" + os.DevNull, "LC_ALL=C", "TZ=UTC",
		"PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + "/usr/bin" + string(filepath.ListSeparator) + "/bin",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=false", "GIT_PAGER=cat",
		"GIT_CONFIG_COUNT=" + strconv.Itoa(len(all)),
	}
	for i, s := range all {
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(i)+"="+s.key, "GIT_CONFIG_VALUE_"+strconv.Itoa(i)+"="+s.value)
	}
	return env
}

// run runs git and returns what it prints. The error has what git said.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	return g.within(ctx, quickly, args...)
}

// within is run with another bound of time.
func (g *git) within(ctx context.Context, most time.Duration, args ...string) (string, error) {
	limited, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("git takes longer than %v", most))
	defer cancel()
	cmd := exec.CommandContext(limited, g.program, append([]string{"--no-pager", "--no-optional-locks"}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, g.env, patience
	// Git removes its locks when it is asked to end, and not where it is killed.
	cmd.Cancel = func() error {
		if err := interrupt(cmd.Process); err == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
	out, said := &bounded{most: maxPrinted}, &bounded{most: maxSaid, cut: true}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	switch {
	case limited.Err() != nil:
		return "", abi.Errorf(abi.CodeCancelled, "git %s: %w", args[0], context.Cause(limited))
	case out.full:
		return "", abi.Errorf(abi.CodeTooLarge, "git %s prints more than %v", args[0], abi.Size(maxPrinted))
	case err != nil:
		return "", &gitError{args[0], strings.TrimSpace(said.String()), err}
	}
	return out.String(), nil
}

// gitError is a git that failed.
type gitError struct {
	command, said string
	err           error
}

func (e *gitError) Error() string {
	said := e.said
	for _, prefix := range []string{"fatal: ", "error: "} {
		said = strings.TrimPrefix(said, prefix)
	}
	return fmt.Sprintf("git %s: %s", e.command, visible.Line(cmp.Or(said, e.err.Error())))
}

func (e *gitError) Unwrap() error { return e.err }

// said reports whether git failed with one of these words.
func said(err error, words ...string) bool {
	failed, ok := errors.AsType[*gitError](err)
	for _, word := range words {
		if ok && strings.Contains(failed.said, word) {
			return true
		}
	}
	return false
}

// bounded takes so much output at most. With cut, the rest is dropped instead of ending git.
type bounded struct {
	bytes.Buffer
	most      int
	cut, full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.Len()
	if len(p) <= room {
		return b.Buffer.Write(p)
	}
	if b.cut {
		b.Buffer.Write(p[:room])
		return len(p), nil
	}
	b.full = true
	return 0, errors.New("it prints too much")
}
