package host_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestContainedLimits tries commands that need more than a trial allows: the person is asked as
// usual and told why the trial is inconclusive, and a no leaves nothing behind.
func TestContainedLimits(t *testing.T) {
	t.Parallel()
	const onDisk = "written to the disk while it ran"
	python := testenv.NeedTool(t, "python3")
	h := newTrying(t, "run")
	for name, test := range map[string]struct {
		script, why string
		thorough    bool
	}{
		"memory":        {"x = bytearray(700 << 20)\nimport time\ntime.sleep(5)", "more than 512 MiB of memory", false},
		"a large file":  {"f = open('big', 'wb')\nb = bytes(1 << 20)\nfor _ in range(600): f.write(b)", "more than 512 MiB, or", false},
		"large files":   {"b = bytes(1 << 20)\nfor i in range(8):\n f = open(str(i), 'wb')\n for _ in range(100): f.write(b)", "more than 512 MiB, or", false},
		"without names": {"import os, time\nb, all = bytes(1 << 20), []\nfor i in range(8):\n f = open('gone', 'wb'); os.remove('gone'); all.append(f)\n for _ in range(400): f.write(b)\ntime.sleep(15)", onDisk, true},
		"processes":     {"import subprocess, time\nall = [subprocess.Popen(['sleep', '30']) for _ in range(300)]\ntime.sleep(10)", "more than 256 processes", false},
		"time":          {"import time\ntime.sleep(60)", "takes longer than 20s", true},
		"its own time":  {"import time\ntime.sleep(60)", "its time limit", false},
		"a host":        {"import socket\ns = socket.socket(); s.settimeout(2)\ntry: s.connect(('192.0.2.1', 80))\nexcept OSError as e: print(e)", "needs the network", false},
		"a host, IPv6":  {"import socket\ns = socket.socket(socket.AF_INET6); s.settimeout(2)\ntry: s.connect(('2001:db8::1', 80))\nexcept OSError as e: print(e)", "needs the network", false},
		"a name":        {"import socket\ntry: socket.getaddrinfo('a.example', 80)\nexcept OSError as e: print(e)", "needs the network", false},
		"a FIFO":        {"import os\nos.mkfifo('f')", "FIFO", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.thorough {
				testenv.SkipUnlessThorough(t)
			}
			dir := settledFiles(t, map[string]string{"try.py": test.script})
			before := snapshot(t, dir)
			p := &questions{reply: host.AnswerDeny}
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: p})
			more := map[string]any{}
			if name == "its own time" {
				more["timeout"] = 2000
			}
			got := told(t, s, python+" try.py", more)
			for range 5 { // other tests take time, disk space and the host's trial slots
				if len(p.asked) != 1 || strings.Contains(p.asked[0].Reasons[0], test.why) {
					break
				}
				p.asked = nil
				got = told(t, s, python+" try.py", more)
			}
			if len(p.asked) != 1 || p.asked[0].Preview != "" {
				t.Fatalf("it is asked %+v; %s", p.asked, got)
			}
			why := p.asked[0].Reasons[0]
			if !strings.HasPrefix(why, "It was tried in a throwaway sandbox without a network, and the trial is inconclusive: ") || !strings.Contains(why, test.why) {
				t.Errorf("it is asked %q", p.asked[0].Reasons)
			}
			if now := snapshot(t, dir); now != before {
				t.Errorf("there is %s", now)
			}
		})
	}
}

// TestContainedReaches tries a command that connects to listeners outside, at addresses that it can
// see: it reaches none, and no process of it survives.
func TestContainedReaches(t *testing.T) {
	t.Parallel()
	python := testenv.NeedTool(t, "python3")
	dir, err := os.MkdirTemp("", "c") //nolint:usetesting // the path of a socket must be short
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	var talked atomic.Int32
	listen := func(network, address string) net.Addr {
		l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				talked.Add(1)
				_ = c.Close()
			}
		}()
		return l.Addr()
	}
	tcp, ok := listen("tcp", "127.0.0.1:0").(*net.TCPAddr)
	if !ok {
		t.Fatal("it listens elsewhere")
	}
	listen("unix", filepath.Join(dir, "s"))
	abstract := fmt.Sprintf("@toolquay-contained-%d", os.Getpid())
	listen("unix", abstract)
	mark := fmt.Sprintf("%d.25", 100_000+os.Getpid())
	script := fmt.Sprintf(`
import socket, subprocess
for family, address in ((socket.AF_INET, ("127.0.0.1", %d)), (socket.AF_UNIX, "s"), (socket.AF_UNIX, "\0%s")):
    try:
        socket.socket(family).connect(address)
        print("reached", address)
    except OSError as e:
        print("kept", e)
subprocess.Popen(["setsid", "sleep", "%s"], start_new_session=True)
`, tcp.Port, abstract[1:], mark)
	must(t, os.WriteFile(filepath.Join(dir, "try.py"), []byte(script), 0o600))
	p := &questions{reply: host.AnswerDeny}
	s := session(t, newTrying(t, "run", func(o *host.Options) { o.Shell.Sandbox.UnixSockets = false }).Host, host.SessionOptions{Cwd: dir, Asker: p})
	got := told(t, s, python+" try.py")
	if strings.Contains(got, "reached") || strings.Count(got, "kept") != 3 || talked.Load() > 0 {
		t.Errorf("%d were reached: %s", talked.Load(), got)
	}
	time.Sleep(100 * time.Millisecond)
	if out, err := exec.CommandContext(t.Context(), "pgrep", "-f", "sleep "+mark).Output(); err == nil {
		t.Errorf("it goes on: %s", out)
	}
}

// TestContainedSecrets tries a command that reads files that rules withhold: in the working
// directory, in the home directory, and in the history of a git repository.
func TestContainedSecrets(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	dir := settledFiles(t, map[string]string{".env": "MARK-4711\n", "a": "a\n", "try.sh": "cat .env ~/.ssh/id ~/.netrc; git log --oneline; git show HEAD:.env; echo ended"})
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	for name, deny := range map[string]string{"a rule": "Read(.env)", "no rule": ""} {
		h := newTrying(t, "run", func(o *host.Options) { o.Permissions.Rules = rules(deny, "", "") })
		must(t, os.MkdirAll(filepath.Join(h.home, ".ssh"), 0o700))
		must(t, os.WriteFile(filepath.Join(h.home, ".ssh/id"), []byte("MARK-4712\n"), 0o600))
		must(t, os.WriteFile(filepath.Join(h.home, ".netrc"), []byte("MARK-4713\n"), 0o600))
		p := &questions{reply: host.AnswerDeny}
		got := told(t, session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: p}), "bash try.sh")
		seen := strings.Contains(got, "MARK-4711")
		if len(p.asked) > 0 || !strings.Contains(got, "ended") || strings.Contains(got, "MARK-4712") || strings.Contains(got, "MARK-4713") || seen != (deny == "") {
			t.Errorf("%s: asked %d times, told %s", name, len(p.asked), got)
		}
	}
}
