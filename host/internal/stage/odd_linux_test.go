package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/testenv"
)

// refusals returns the conflicts of applying everything, one per line.
func (r *room) refusals() string {
	r.tb.Helper()
	before := modes(r.tb, r.work)
	_, err := r.Apply(r.tb.Context(), everything)
	conflicts, ok := errors.AsType[*stage.ConflictError](err)
	if !ok || modes(r.tb, r.work) != before {
		r.tb.Fatalf("%v\n%s", err, modes(r.tb, r.work))
	}
	var out []string
	for _, c := range conflicts.Conflicts {
		rel, _ := filepath.Rel(r.work, c.Path)
		why, _, _ := strings.Cut(c.Why, ":")
		out = append(out, rel+": "+why)
	}
	return strings.Join(out, "\n")
}

// TestSocketsAndDevices checks that sockets and devices are not applied, and that nothing
// replaces one on the disk.
func TestSocketsAndDevices(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	want := "a: it is a socket on the disk, which is never replaced\nsocket: it is a socket, which cannot be applied; discard it"
	u.write("a", "A", 0o644)
	socket(t, u.at("socket"))
	if unix.Mknod(u.at("device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) == nil { // only root may
		want = strings.Replace(want, "\n", "\ndevice: it is a device, which cannot be applied; discard it\n", 1)
	}
	r.ran()
	u.must(os.Remove(r.path("a")))
	socket(t, r.path("a"))
	if got := r.refusals(); got != want {
		t.Errorf("refused:\n%s\nwant:\n%s", got, want)
	}
	if notes, err := r.Patch(t.Context(), io.Discard, everything, changes.PatchOptions{Dir: r.work}); err != nil || len(notes) < 2 {
		t.Errorf("%+v, %v", notes, err)
	}
	if _, err := r.Discard(t.Context(), everything); err != nil {
		t.Error(err)
	}
	r.emptied()
}

// socket creates a socket at a path, which may be longer than the address of a socket can be.
func socket(t *testing.T, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // its path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s")})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Rename(filepath.Join(dir, "s"), path), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestHoles checks that the holes of a file are kept.
func TestHoles(t *testing.T) {
	t.Parallel()
	const size, room = 64 << 20, 1 << 20
	r, u := layered(t)
	for _, name := range []string{"new", "a", "ro"} { // created, changed, and in place of a read-only file
		u.write(name, "begins", 0o644)
		u.must(os.Truncate(u.at(name), size))
		f, err := os.OpenFile(u.at(name), os.O_WRONLY, 0)
		u.must(err)
		_, err = f.WriteAt([]byte("middle"), size/2+1)
		u.must(errors.Join(err, f.Close()))
	}
	r.ran()
	list, err := r.List(everything)
	if _, e := r.Apply(t.Context(), everything); e != nil || err != nil {
		t.Fatal(e, err)
	}
	for _, e := range list {
		var st unix.Stat_t
		u.must(unix.Stat(e.Path, &st))
		found, err := changes.Look(t.Context(), e.Path)
		if err != nil || !found.Node.Same(e.Content) || st.Size != size || st.Blocks*512 > room {
			t.Errorf("%s: %s takes %d bytes, %v", e.Path, found.Node, st.Blocks*512, err)
		}
		u.must(found.Close())
	}
}

// TestLinkedOnDisk applies changes to the hard links of one file: each change alters the times of
// the other links, and one link is removed.
func TestLinkedOnDisk(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	for _, name := range []string{"b", "c", "e"} {
		u.must(os.Link(r.path("a"), r.path(name)))
	}
	u.must(os.Link(r.path("d/x"), r.path("d/sub/x")))
	before := modes(t, r.work)
	u.remove("d")
	u.write("a", "A", 0o644)
	u.write("b", "B", 0o644)
	u.write("c", "a", 0o755)
	u.remove("e")
	r.ran()
	done, err := r.Apply(t.Context(), everything)
	if err != nil || r.said(done) != "wrote a, wrote b, wrote c, removed d, removed d/sub, removed d/sub/x, removed d/sub/y, removed d/x, removed e" {
		t.Fatalf("%s, %v", r.said(done), err)
	}
	if got := modes(t, r.work); !strings.HasPrefix(got, "-rw-r--r-- \"a\": A\n-rw-r--r-- \"b\": B\n-rwxr-xr-x \"c\": a\nL") {
		t.Errorf("applied:\n%s", got)
	}
	if _, err := r.history.Restore(t.Context(), history.Selection{}, history.RestoreOptions{}); err != nil || modes(t, r.work) != before {
		t.Errorf("undone: %v\n%s", err, modes(t, r.work))
	}
}

// TestMadeWhileApplied checks that a file survives if something else creates it in a directory
// that is being removed. The removal stays staged.
func TestMadeWhileApplied(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	u.remove("d")
	u.write("new", "made", 0o644)
	r.ran()
	m := &meddler{History: r.history}
	m.do = func() { u.must(write(r.work, "d/sub/mine", "mine", 0o644)) }
	_, err := r.open(m).Apply(t.Context(), everything)
	if abi.CodeOf(err) != abi.CodeChanged {
		t.Error(err)
	}
	if text, err := os.ReadFile(r.path("d/sub/mine")); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if got := r.kinds(); !strings.HasPrefix(got, "d: a directory > nothing, ") {
		t.Errorf("staged still: %s", got)
	}
}

// TestOrdinaryUser applies read-only directories with their contents. Staged entries that their
// modes make unreadable for the host are conflicts.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if testenv.AsOrdinaryUser(t) {
		return
	}
	r, u := layered(t)
	u.mkdir("n")
	u.mkdir("n/m")
	u.write("n/m/f", "f", 0o444)
	u.must(errors.Join(os.Chmod(u.at("n/m"), 0o555), os.Chmod(u.at("n"), 0o500)))
	u.write("secret", "secret", 0)
	u.mkdir("closed")
	u.write("closed/f", "f", 0o644)
	u.must(os.Chmod(u.at("closed"), 0))
	t.Cleanup(func() { _ = errors.Join(os.Chmod(r.path("n"), 0o700), os.Chmod(r.path("n/m"), 0o700)) }) // for its removal
	r.ran()
	if got, want := r.refusals(), "closed: its staged content cannot be read\nsecret: its staged content cannot be read"; got != want {
		t.Errorf("refused:\n%s\nwant:\n%s", got, want)
	}
	if notes, err := r.Patch(t.Context(), io.Discard, everything, changes.PatchOptions{Dir: r.work}); err != nil || len(notes) < 2 || !notes[0].Left {
		t.Errorf("%+v, %v", notes, err)
	}
	if _, err := r.Below(r.work); err != nil {
		t.Error(err)
	}
	if _, err := r.Apply(t.Context(), stage.Selection{Paths: []string{r.path("n")}}); err != nil {
		t.Fatal(err)
	}
	if got := modes(t, r.work); !strings.Contains(got, "dr-x------ \"n\"\ndr-xr-xr-x \"n/m\"\n-r--r--r-- \"n/m/f\": f\n") {
		t.Errorf("applied:\n%s", got)
	}
	if _, err := r.Discard(t.Context(), everything); err != nil {
		t.Error(err)
	}
	r.emptied()
}

// TestManyChanges lists, shows and applies a hundred thousand changes. They are in memory, because
// most of the time would go into making and removing the files otherwise.
func TestManyChanges(t *testing.T) {
	testenv.SkipUnlessThorough(t)
	const files, inOne, room = 100_000, 1000, 4 << 30
	disk := testenv.SmallDisk(t, room)
	if disk == "" {
		return
	}
	t.Setenv("TMPDIR", disk)
	r, u := layered(t)
	for i := range files {
		dir := fmt.Sprintf("n%03d", i/inOne)
		if i%inOne == 0 {
			u.mkdir(dir)
		}
		u.write(fmt.Sprintf("%s/%d", dir, i), "all alike", 0o644)
	}
	r.ran()
	list, err := r.List(everything)
	if err != nil || len(list) != files {
		t.Fatal(len(list), err)
	}
	if _, err := r.Patch(t.Context(), io.Discard, everything, changes.PatchOptions{Dir: r.work}); err != nil {
		t.Error(err)
	}
	done, err := r.Apply(t.Context(), everything)
	if err != nil || len(done) != files {
		t.Error(len(done), err)
	}
	r.emptied()
}

// refusing is a history that fails after a number of calls.
type refusing struct {
	stage.History
	left int
}

func (h *refusing) KeepAll(ctx context.Context, by capability.Call, list []changes.Change, before []io.Reader) ([]string, error) {
	if h.left--; h.left < 0 {
		return nil, errors.New("no room")
	}
	return h.History.KeepAll(ctx, by, list, before)
}

// TestClosedDirectory applies a read-only directory, whose mode is set last, when another change
// fails before that.
func TestClosedDirectory(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	u.mkdir("closed")
	u.must(os.Chmod(u.at("closed"), 0o555))
	u.write("f", "f", 0o644)
	r.ran()
	r.Store = r.open(&refusing{r.history, 1})
	if done, err := r.Apply(t.Context(), everything); err == nil || len(done) != 1 {
		t.Fatal(done, err)
	}
	if _, err := r.Apply(t.Context(), everything); err == nil {
		t.Fatal("there was room")
	}
	r.Store = r.open(r.history)
	if _, err := r.Apply(t.Context(), everything); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(r.path("closed")); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("it is %v, %v", info, err)
	}
}

// TestModeOfDirectoryAbove applies or discards one file of a directory whose mode is also staged:
// the mode stays staged.
func TestModeOfDirectoryAbove(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(r *room, sel stage.Selection) error{
		"applied":   func(r *room, sel stage.Selection) error { _, err := r.Apply(t.Context(), sel); return err },
		"discarded": func(r *room, sel stage.Selection) error { _, err := r.Discard(t.Context(), sel); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, u := layered(t)
			u.mkdir("d")
			u.must(os.Chmod(u.at("d"), 0o700))
			u.write("d/x", "new", 0o644)
			r.ran()
			if err := act(r, stage.Selection{Paths: []string{r.path("d/x")}}); err != nil {
				t.Fatal(err)
			}
			if got := r.kinds(); got != "d: a directory > a directory" {
				t.Errorf("staged still: %s", got)
			}
		})
	}
}
