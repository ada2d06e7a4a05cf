package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/host/capability"
)

// editor is the command that the person edits texts with, as words: of VISUAL or EDITOR, or
// else one that is usually there. It goes through no shell.
func editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}
	}
	for _, name := range []string{"editor", "nano", "vi"} {
		if _, err := exec.LookPath(name); err == nil {
			return []string{name}
		}
	}
	return nil
}

// editorName is how the editor is called.
func editorName() string { return filepath.Base(editor()[0]) }

// edits reports whether there is an editor, and a terminal for it.
func (a *Asker) edits() bool { return a.keys.single() && a.out.Terminal && len(editor()) > 0 }

// editorEnds is how long an editor may take to end that is told to.
const editorEnds = 2 * time.Second

// edit has the person change a text, in a file that nobody else can read and that is gone
// afterwards. The editor has the terminal meanwhile. It ends with ctx.
func (a *Asker) edit(ctx context.Context, text string) (edited string, err error) {
	dir, err := os.MkdirTemp("", "toolquay-plan-*") // for this user alone
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "plan.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	words := editor()
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], path)...) //nolint:gosec // it is what the person set
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out.w, a.out.w
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that it tidies the terminal up
	cmd.WaitDelay = editorEnds
	defer a.keys.keep()()
	if err = cmd.Start(); err == nil {
		release := a.hold()
		err = cmd.Wait()
		release()
	}
	if err != nil {
		return "", fmt.Errorf("the editor %q failed: %w", strings.Join(words, " "), err)
	}
	return readEdited(path)
}

// readEdited reads what an editor left.
func readEdited(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the editor left no plan: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, capability.MaxPlan+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the plan that was edited: %w", err)
	case !utf8.Valid(text):
		return "", errors.New("the plan that was edited is not UTF-8 text")
	}
	return string(text), nil
}
