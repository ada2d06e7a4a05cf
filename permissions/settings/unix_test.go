//go:build unix

package settings_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestLoadNeverWaits: a FIFO without a writer blocks whoever opens it; the test's
// deadline is what would tell.
func TestLoadNeverWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{systemFile, userFile, projectFile, claudeFile} {
		p.write(t, name, "")
		if err := errors.Join(os.Remove(p.path(name)), syscall.Mkfifo(p.path(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p.write(t, userClaude, "")
	if err := errors.Join(os.Remove(p.path(userClaude)), os.Symlink("/dev/zero", p.path(userClaude))); err != nil {
		t.Fatal(err)
	}
	_, err := settings.Load(p.options)
	if err == nil || strings.Count(err.Error(), "it is not a regular file") != 5 {
		t.Errorf("%v", err)
	}
	if _, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "Bash"}); err == nil {
		t.Error("a rule went into a FIFO")
	}
}

func TestUnreadableFilesAreErrors(t *testing.T) {
	p := newPlace(t)
	testenv.BoundByPermissions(t)
	for _, name := range []string{systemFile, userFile, projectFile} {
		p.write(t, name, "")
		if err := os.Chmod(p.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := settings.Load(p.options); err == nil || strings.Count(err.Error(), "permission denied") != 3 {
		t.Errorf("%v", err)
	}
}

// TestPolicyBelongsToRoot has the usual check refuse what is not root's, or not
// root's alone.
func TestPolicyBelongsToRoot(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, systemFile, "")
	p.options.CheckOwner = nil
	// The directory for temporary files is everybody's, if nothing else is.
	_, err := settings.Load(p.options)
	if err == nil || !strings.Contains(err.Error(), "must belong to root") && !strings.Contains(err.Error(), "nobody but root may write") {
		t.Errorf("%v", err)
	}
}

func TestOwnerIsKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "")
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 { // root changes files of others
		uid, gid = 12345, 12346
		if err := os.Chown(p.path(userFile), uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "X"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p.path(userFile))
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid || int(st.Gid) != gid {
		t.Errorf("it belongs to %d:%d, no longer to %d:%d", st.Uid, st.Gid, uid, gid)
	}
}

// TestLock: the file that a process left when it died holds nobody up, and a
// process that lives does.
func TestLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "")
	p.write(t, userFile+".lock", "")
	held, err := os.Open(p.path(userFile + ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "X"})
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if p.read(t, userFile) != "" {
		t.Error("it did not wait")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.write(t, userFile+".lock", "left")
	if _, err := settings.AddRule(p.user(), allow, settings.Rule{Text: "Y"}); err != nil {
		t.Error(err)
	}
}

// TestLinkedDirectoryIsPinned: a directory that is a link is the place it leads to.
func TestLinkedDirectoryIsPinned(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, projectFile, "permissions.additional_directories = ['shared']\n")
	for _, dir := range []string{"one/a", "two/a"} {
		p.write(t, dir, "")
	}
	link := func(to string) {
		t.Helper()
		_ = os.Remove(p.path("proj/shared"))
		if err := os.Symlink(p.path(to), p.path("proj/shared")); err != nil {
			t.Fatal(err)
		}
	}
	link("one")
	p.trust(t)
	counts := func(want int) {
		t.Helper()
		if l := p.load(t); len(l.Rules[0].Directories) != want {
			t.Errorf("%d directories count, want %d: %v", len(l.Rules[0].Directories), want, l.Brings)
		}
	}
	counts(1)
	link("two")
	counts(0)
	link("missing")
	counts(0)
	link("one")
	counts(1)
}
