//go:build amd64 || arm64

package sandbox_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/testenv"
)

// nobody is an ordinary user.
const nobody = 65534

// As root the tests are run once more by an ordinary user, with samples.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // they are that already
	}
	testenv.SkipUnlessThorough(t)
	testenv.NeedTool(t, "bwrap")
	testenv.NeedTool(t, "sleep")
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sandbox.test")
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	testenv.WriteProgram(t, program, content)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", "^(TestEscapes|TestFirstProcess|TestChanges.*|TestOwn.*|TestExchanged.*|TestListsOf.*|TestMended.*|TestCopies|TestEscapesFromBubblewrap|TestLayouts|TestDevices|TestMissing.*|TestRaces.*|TestHosts|TestNetworkAll|TestClosedFolders|TestPathsThatChange|TestHeldUntilReleased|TestOdd.*|TestClosed.*|TestGit|TestWatch.*|TestReplaced.*|Test.*Overla.*|TestTell.*|TestStores.*)$")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "CI=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestEscapes") {
		t.Errorf("the escapes were not tried:\n%s", out)
	}
}

// A name in a folder of another's is nobody's to make. In one's own, which a command could
// open again, it is undone.
func TestMissingInClosedFolders(t *testing.T) {
	if os.Geteuid() == 0 {
		return // TestAsOrdinaryUser runs this: no folder is closed to root
	}
	root := tree(t, "w/shut/f", "w/blind/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	for name, mode := range map[string]os.FileMode{"shut": 0o555, "blind": 0o333} {
		must(t, os.Chmod(root+"/w/"+name, mode))
	}
	spec := sandbox.Spec{
		Writable: []string{"/var/lib", root + "/w"}, Protected: append(under(root, "w/shut/.bashrc", "w/blind/.bashrc"), "/var/lib/.bashrc"), Cwd: root + "/w",
	}
	out, _ := run(t, s, spec, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
		"chmod 755 shut blind; echo x > shut/.bashrc; chmod 0 shut/.bashrc shut; echo x > blind/.bashrc; echo end")
	for _, dir := range under(root, "w/shut", "w/blind") {
		must(t, os.Chmod(dir, 0o755))
		if exists(dir + "/.bashrc") {
			t.Errorf("it is left in %s: %s", dir, out)
		}
	}
}

// With the whole network the machine's loopback is in reach, as documented, and Unix
// sockets are not, by path or without.
func TestNetworkAll(t *testing.T) {
	t.Parallel()
	for _, c := range escapes.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if !strings.Contains(c.Shell, "AF_UNIX") && !strings.Contains(c.Shell, "/dev/tcp/127") {
				return
			}
			w := escapes.New(t)
			s := find(t, sandbox.Options{State: w.State, Home: w.Home})
			spec := specOf(w)
			spec.Network = sandbox.NetworkAll
			out, _ := run(t, s, spec, w.Env, c.Shell)
			reached := strings.Join(w.Verify(t, out), "\n")
			if strings.Contains(reached, "unix") {
				t.Errorf("%s\n%s", reached, out)
			}
			if strings.Contains(c.Shell, "/dev/tcp/") && !strings.Contains(reached, "it reached tcp") {
				t.Errorf("the network is not there: %s", out)
			}
		})
	}
}

// confineVariable makes the test program the command that takes Unix sockets away.
const confineVariable = "TOOLQUAY_TEST_SANDBOX_CONFINE"

// What is allowed by host goes through the proxy's socket; the command behind the
// bridge has it no more.
func TestHosts(t *testing.T) {
	root := tree(t, "w/f")
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", root+"/p.sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("from the proxy\n"))
			_ = c.Close()
		}
	}()
	bridge := root + "/bridge"
	connect := `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("` + sandbox.ProxySocket + `"); print(s.recv(99).decode(), end="")' 2>&1 | tail -n 1`
	testenv.WriteProgram(t, bridge, []byte("#!/bin/bash\necho \"bridge to $1\"; shift\n"+connect+"\nexec \"$@\"\n"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := findBubblewrap(t, sandbox.Options{State: root + "/state", Bridge: []string{bridge}, Confine: []string{self}})
	spec := sandbox.Spec{Writable: under(root, "w"), Cwd: root + "/w", Network: sandbox.NetworkHosts, Proxy: root + "/p.sock"}
	env := []string{"PATH=/usr/bin:/bin", "LC_ALL=C", confineVariable + "=1"}
	got, err := run(t, s, spec, env, connect+"; cat < /dev/tcp/127.0.0.1/9")
	want := "bridge to " + sandbox.ProxySocket + "\nfrom the proxy\nPermissionError: [Errno 1] Operation not permitted\n" +
		"bash: connect: Connection refused\nbash: line 1: /dev/tcp/127.0.0.1/9: Connection refused\n"
	if got != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, got, want)
	}
}
