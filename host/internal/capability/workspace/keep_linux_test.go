package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// rewrite writes a file of root through a draft.
func rewrite(t *testing.T, root, path string) Info {
	t.Helper()
	info, err := put(resolve(t, root, path), "content")
	if err != nil {
		t.Fatal(err)
	}
	clean(t, root)
	return info
}

func TestDraftKeepsMode(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	path := filepath.Join(root, "f")
	for mode, want := range map[uint32]uint32{
		0o600: 0o600, 0o644: 0o644, 0o666: 0o666, 0o755: 0o755, 0o200: 0o200, 0o640: 0o640, 0o604: 0o604,
		0o4755: 0o755, 0o2755: 0o755, 0o6711: 0o711, 0o1644: 0o1644,
	} {
		if err := unix.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := rewrite(t, root, "f").Mode; got != want {
			t.Errorf("a file of mode %04o has mode %04o afterwards, want %04o", mode, got, want)
		}
	}
}

// New files and directories get the modes that the umask leaves, as a shell's do.
func TestDraftNewMode(t *testing.T) {
	t.Parallel()
	root := tree(t)
	if err := errors.Join(os.Mkdir(filepath.Join(root, "dir"), 0o777), os.WriteFile(filepath.Join(root, "file"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	file := resolve(t, root, "file").Info.Mode
	if got := rewrite(t, root, "x/new").Mode; got != file {
		t.Errorf("new files have mode %04o, want %04o", got, file)
	}
	c := system
	nameless(&c)
	if info, err := putWith(resolve(t, root, "x/named"), c, "content"); err != nil || info.Mode != file {
		t.Errorf("mode %04o, want %04o: %v", info.Mode, file, err)
	}
	if got, want := resolve(t, root, "x").Info.Mode, resolve(t, root, "dir").Info.Mode; got != want {
		t.Errorf("new directories have mode %04o, want %04o", got, want)
	}
}

func TestDraftKeepsAttributes(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "many")
	large := bytes.Repeat([]byte("v"), 1000)
	for name, value := range map[string][]byte{"user.toolquay": []byte("value"), "user.empty": {}, "user.large": large} {
		if err := unix.Setxattr(filepath.Join(root, "f"), name, value, 0); err != nil {
			testenv.Missing(t, "a file system with extended attributes: "+err.Error())
		}
	}
	rewrite(t, root, "f")
	for name, want := range map[string][]byte{"user.toolquay": []byte("value"), "user.empty": {}, "user.large": large} {
		buf := make([]byte, 2000)
		n, err := unix.Getxattr(filepath.Join(root, "f"), name, buf)
		if err != nil || !bytes.Equal(buf[:n], want) {
			t.Errorf("%s is %q, %v", name, buf[:max(n, 0)], err)
		}
	}
	for i := range 60 { // more than a small list holds
		if err := unix.Setxattr(filepath.Join(root, "many"), "user.attribute"+strings.Repeat("x", i), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(t, root, "many")
	n, err := unix.Listxattr(filepath.Join(root, "many"), nil)
	if err != nil || n < 60*20 {
		t.Errorf("attributes in %d bytes, %v", n, err)
	}
}

// acl is an access control list that lets a user in, as the kernel has it.
func acl(uid uint32, owner, user, group, mask, others uint16) []byte {
	const anyone = 0xffffffff
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, owner, anyone}, {2, user, uid}, {4, group, anyone}, {0x10, mask, anyone}, {0x20, others, anyone}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	return list
}

func TestDraftKeepsACL(t *testing.T) {
	t.Parallel()
	root := tree(t, "d/with", "d/without")
	list := acl(12345, 6, 4, 0, 4, 0)
	if err := unix.Setxattr(filepath.Join(root, "d/with"), aclName, list, 0); err != nil {
		testenv.Missing(t, "a file system with access control lists: "+err.Error())
	}
	// The default of the directory is for new files, not for those that were there.
	if err := unix.Setxattr(filepath.Join(root, "d"), "system.posix_acl_default", acl(54321, 6, 6, 6, 6, 6), 0); err != nil {
		t.Fatal(err)
	}
	rewrite(t, root, "d/with")
	buf := make([]byte, 200)
	n, err := unix.Getxattr(filepath.Join(root, "d/with"), aclName, buf)
	if err != nil || !bytes.Equal(buf[:n], list) {
		t.Errorf("the list is %x, %v; want %x", buf[:max(n, 0)], err, list)
	}
	rewrite(t, root, "d/without")
	if n, err := unix.Getxattr(filepath.Join(root, "d/without"), aclName, buf); !errors.Is(err, unix.ENODATA) {
		t.Errorf("a list of %d bytes came from the directory, %v", n, err)
	}
	if info := rewrite(t, root, "d/new"); info.Mode != 0o666 {
		t.Errorf("the directory's default gave mode %04o", info.Mode)
	}
}

func TestDraftKeepsOwner(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	path := filepath.Join(root, "f")
	if os.Geteuid() != 0 {
		info := rewrite(t, root, "f") // who is not root has no more than one owner to give
		if int(info.UID) != os.Geteuid() {
			t.Errorf("the owner is %d", info.UID)
		}
		return
	}
	if err := unix.Chown(path, 1234, 2345); err != nil {
		t.Fatal(err)
	}
	if info := rewrite(t, root, "f"); info.UID != 1234 || info.GID != 2345 || info.Mode != 0o600 {
		t.Errorf("owner %d, group %d, mode %04o", info.UID, info.GID, info.Mode)
	}
}

// withoutChown takes from the goroutine of the test what root may do to files of
// others, but for reading and writing them.
func withoutChown(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // and the thread ends with the goroutine
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		t.Fatal(err)
	}
	sets[0].Effective &^= 1<<unix.CAP_CHOWN | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID
	if err := unix.Capset(&header, &sets[0]); err != nil {
		t.Fatal(err)
	}
}

// An owner and group that cannot be kept let nobody in whom the former mode kept out.
func TestDraftCannotKeepOwner(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "listed")
	if os.Geteuid() != 0 {
		return // there is nobody else whose file it could be
	}
	for name, mode := range map[string]uint32{"f": 0o2664, "listed": 0o640} {
		path := filepath.Join(root, name)
		if err := errors.Join(unix.Chown(path, 1234, 2345), unix.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Setxattr(filepath.Join(root, "listed"), aclName, acl(12345, 6, 4, 4, 4, 0), 0); err != nil {
		testenv.Missing(t, "a file system with access control lists: "+err.Error())
	}
	withoutChown(t)
	for name, want := range map[string]uint32{"f": 0o644, "listed": 0o600} {
		info, err := put(resolve(t, root, name), "content")
		if err != nil || info.UID != 0 || info.GID != 0 || info.Mode != want {
			t.Errorf("%s: owner %d, group %d, mode %04o, %v", name, info.UID, info.GID, info.Mode, err)
		}
	}
}

func TestWithoutGroup(t *testing.T) {
	t.Parallel()
	for mode, want := range map[uint32]uint32{
		0o664: 0o644, 0o660: 0o600, 0o644: 0o644, 0o604: 0o600, 0o777: 0o777, 0o750: 0o700, 0o1664: 0o1644, 0o627: 0o622,
	} {
		if got := withoutGroup(mode); got != want {
			t.Errorf("mode %04o becomes %04o, want %04o", mode, got, want)
		}
	}
}

func TestDraftRefusesReadOnly(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "d/f")
	if err := os.Chmod(filepath.Join(root, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	_, err := put(resolve(t, root, "f"), "content")
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "chmod u+w") {
		t.Error(err)
	}
	if got := text(filepath.Join(root, "f")); got != "f" {
		t.Errorf("it holds %q", got)
	}
	clean(t, root)
}

func TestDraftNotPermitted(t *testing.T) {
	testenv.BoundByPermissions(t)
	root := tree(t, "mine", "shut/f")
	for path, mode := range map[string]os.FileMode{"mine": 0o466, "shut": 0o555} {
		if err := os.Chmod(filepath.Join(root, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(root, "shut"), 0o755)
	for path, says := range map[string]string{"mine": "chmod u+w", "shut/f": "directory", "shut/new": "directory", "shut/x/new": "directory"} {
		_, err := put(resolve(t, root, path), "content")
		if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDraftRefusesFixed(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	f, err := os.Open(filepath.Join(root, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set := func(flag int) error {
		return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flag)
	}
	before, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		t.Logf("not tested: %v", err) // a file system without such flags
		return
	}
	// A file system may set the flag and fail all the same, over another that it
	// wants kept.
	defer func() { _ = set(before) }()
	const appendOnly, immutable = 0x20, 0x10
	for flag, says := range map[int]string{immutable: "chattr -i", appendOnly: "chattr -a"} {
		if err := set(before | flag); err != nil {
			t.Logf("not tested: %v", err) // it takes a capability that containers have not
			return
		}
		_, err := put(resolve(t, root, "f"), "content")
		if e := set(before); e != nil {
			t.Fatal(e)
		}
		if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
		clean(t, root)
	}
}

func TestDraftLeavesOtherNames(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	if err := os.Link(filepath.Join(root, "f"), filepath.Join(root, "other")); err != nil {
		t.Fatal(err)
	}
	n := resolve(t, root, "f")
	if n.Info.Links != 2 {
		t.Errorf("%d names", n.Info.Links)
	}
	info, err := put(n, "content")
	if err != nil || info.Links != 1 {
		t.Errorf("%d names afterwards, %v", info.Links, err)
	}
	if got := text(filepath.Join(root, "other")); got != "f" {
		t.Errorf("the other name holds %q", got)
	}
}

// TestDraftKeepsWhatItIsNow gives new content the mode that the file has by then, and
// not the one it had when it was resolved: a question may have been asked in between.
func TestDraftKeepsWhatItIsNow(t *testing.T) {
	t.Parallel()
	n := resolve(t, tree(t, "f"), "f")
	if err := os.Chmod(n.Real, 0o600); err != nil {
		t.Fatal(err)
	}
	f, was, err := n.Open()
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	d, err := n.Draft()
	if err != nil {
		t.Fatal(err)
	}
	now, err := d.Commit(was)
	if err != nil || now.Mode != 0o600 {
		t.Errorf("%04o, %v", now.Mode, err)
	}
}

// TestDraftHasItsMode gives content the mode it is to have before it has a name.
func TestDraftHasItsMode(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	for _, name := range []string{"f", "new"} {
		n := resolve(t, root, name)
		d, err := n.Draft()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.SetMode(0o4600); err != nil {
			t.Fatal(err)
		}
		now, err := d.Commit(n.Info)
		if err != nil || now.Mode != 0o600 {
			t.Errorf("%s: %04o, %v", name, now.Mode, err)
		}
		if err := d.SetMode(0o644); err == nil {
			t.Error("the mode of what is in place was set")
		}
	}
}
