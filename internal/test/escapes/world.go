//go:build linux

package escapes

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// World is what a sandbox is to keep a command from, all of it made for one test. Its
// folders lie in a temporary one, but for what the kernel gives everybody.
type World struct {
	// Work is to be writable and Temp the temporary folder; Home is the home. Outside
	// is for reading, and State the sandbox's own.
	Work, Temp, Home, Outside, State string
	// Hidden and Protected are to be so.
	Hidden, Protected []string
	// Env is what the cases go by.
	Env []string

	secret string
	before map[string]string
	// talked counts those who reached a listener.
	talked map[string]*atomic.Int32
	victim *exec.Cmd
	died   chan struct{}
}

// New makes a world.
func New(tb testing.TB) *World {
	tb.Helper()
	root, err := shortDir()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			tb.Error(err)
		}
	})
	in := func(name string) string { return filepath.Join(root, name) }
	w := &World{
		Work: in("work"), Temp: in("temp"), Home: in("home"), Outside: in("outside"), State: in("state"),
		secret: "SECRET-" + rand.Text(),
		talked: make(map[string]*atomic.Int32),
		died:   make(chan struct{}),
	}
	w.files(tb)
	w.listeners(tb)
	w.process(tb)
	w.before = w.look(tb)
	return w
}

// shortDir makes a folder whose path leaves room for a socket's name, which the names
// of tests do not.
func shortDir() (string, error) {
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// files makes what lies there.
func (w *World) files(tb testing.TB) {
	tb.Helper()
	key := "-----BEGIN KEY-----\n" + w.secret + "\n"
	for path, content := range map[string]string{
		w.Work + "/main.go":              "package main\n",
		w.Work + "/.env":                 "TOKEN=" + w.secret + "\n",
		w.Work + "/secrets/deep/key":     key,
		w.Work + "/.git/HEAD":            "ref: refs/heads/main\n",
		w.Work + "/.git/config":          "[core]\n\tbare = false\n",
		w.Work + "/.git/hooks/pre-push":  "#!/bin/sh\n",
		w.Work + "/.git/refs/heads/main": "",
		// Deeper: repositories of all layouts, and what programs act on.
		w.Work + "/n/.git/HEAD":                          "ref: refs/heads/main\n",
		w.Work + "/n/.git/config":                        "[core]\n\thooksPath = .programs\n[include]\n\tpath = ../more\n",
		w.Work + "/n/.git/hooks/pre-push":                "#!/bin/sh\n",
		w.Work + "/n/.git/modules/lib/m/HEAD":            "ref: refs/heads/main\n",
		w.Work + "/n/.git/modules/lib/m/config":          "[core]\n\tbare = false\n",
		w.Work + "/n/.programs/pre-commit":               "#!/bin/sh\n",
		w.Work + "/n/more":                               "",
		w.Work + "/n/plain":                              "",
		w.Work + "/d/tree/.git":                          "gitdir: ../data/.own/worktrees/tree\n",
		w.Work + "/d/data/.own/worktrees/tree/HEAD":      "ref: refs/heads/main\n",
		w.Work + "/d/data/.own/worktrees/tree/gitdir":    "../../../../tree/.git\n",
		w.Work + "/d/data/.own/worktrees/tree/commondir": "../..\n",
		w.Work + "/d/data/.own/HEAD":                     "ref: refs/heads/main\n",
		w.Work + "/d/data/.own/config":                   "[core]\n\tbare = false\n",
		w.Work + "/d/data/.own/hooks/pre-push":           "#!/bin/sh\n",
		w.Work + "/d/bare/HEAD":                          "ref: refs/heads/main\n",
		w.Work + "/d/bare/config":                        "[core]\n\tbare = true\n",
		w.Work + "/d/bare/hooks/pre-receive":             "#!/bin/sh\n",
		w.Work + "/d/bare/objects/info/packs":            "",
		w.Work + "/d/bare/refs/heads/main":               "",
		w.Work + "/d/p/.vscode/tasks.json":               "{}\n",
		w.Work + "/d/p/.npmrc":                           "a = b\n",
		w.Work + "/d/p/.toolquay/settings.toml":          "",
		w.Work + "/d/shared/tasks.json":                  "{}\n",
		w.Home + "/.ssh/id_ed25519":                      key,
		w.Home + "/.aws/credentials":                     key,
		w.Home + "/.netrc":                               key,
		w.Home + "/notes":                                "a home that can be read\n",
		w.Outside + "/kept":                              "as it was\n",
		w.Temp + "/earlier":                              "left by an earlier command\n",
		w.Outside + "/call.py":                           callProgram,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.MkdirAll(w.Work+"/d/linked", 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.Symlink("../shared", w.Work+"/d/linked/.vscode"); err != nil {
		tb.Fatal(err)
	}
	w.Hidden = []string{
		w.Work + "/.env", w.Work + "/secrets/deep/key",
		w.Home + "/.ssh", w.Home + "/.aws", w.Home + "/.netrc", w.Home + "/.not-there",
	}
	w.Protected = []string{
		w.Work + "/.git/hooks/", w.Work + "/.git/config",
		w.Work + "/n/.git/hooks/", w.Work + "/n/.git/config", w.Work + "/n/.git/modules/lib/m/config",
		w.Work + "/n/.programs", w.Work + "/n/more",
		w.Work + "/d/tree/.git", w.Work + "/d/data/.own/worktrees/tree/commondir",
		w.Work + "/d/data/.own/config", w.Work + "/d/data/.own/hooks/",
		w.Work + "/d/bare/config", w.Work + "/d/bare/hooks/",
		w.Work + "/d/p/.vscode/", w.Work + "/d/p/.npmrc", w.Work + "/d/p/.toolquay/", w.Work + "/d/shared",
		w.Work + "/.bashrc", w.Work + "/.npmrc", w.Work + "/.mcp.json", w.Work + "/.vscode/", w.Work + "/.husky/",
	}
	w.Env = []string{
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "HOME=" + w.Home, "TMPDIR=" + w.Temp,
		"WORK=" + w.Work, "OUTSIDE=" + w.Outside, "STATE=" + w.State, "PY=" + python(tb),
		"CALL=" + python(tb) + " " + w.Outside + "/call.py",
	}
	for name, number := range numbers {
		w.Env = append(w.Env, fmt.Sprintf("NR_%s=%d", name, number))
	}
}

// python is an interpreter that every user can start.
func python(tb testing.TB) string {
	tb.Helper()
	if path, err := exec.LookPath("/usr/bin/python3"); err == nil {
		return path
	}
	return testenv.NeedTool(tb, "python3")
}

// listeners are the services outside.
func (w *World) listeners(tb testing.TB) {
	tb.Helper()
	abstract := "@toolquay-" + strings.ToLower(w.secret)
	tcp := w.listen(tb, "tcp", "127.0.0.1:0")
	w.listen(tb, "unix", w.Outside+"/docker.sock")
	w.listen(tb, "unix", abstract)
	udp := w.receive(tb, "udp", "127.0.0.1:0")
	w.receive(tb, "unixgram", w.Outside+"/log.sock")
	w.Env = append(w.Env, "TCP="+port(tcp), "UDP="+port(udp), "ABSTRACT="+abstract[1:])
}

func port(a net.Addr) string {
	_, port, _ := net.SplitHostPort(a.String()) // it is one of a listener's
	return port
}

func (w *World) listen(tb testing.TB, network, address string) net.Addr {
	tb.Helper()
	ln, err := new(net.ListenConfig).Listen(tb.Context(), network, address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ln.Close() })
	count := new(atomic.Int32)
	w.talked[network+" "+address] = count
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_, _ = c.Write([]byte(w.secret + "\n"))
			_ = c.Close()
		}
	}()
	return ln.Addr()
}

func (w *World) receive(tb testing.TB, network, address string) net.Addr {
	tb.Helper()
	c, err := new(net.ListenConfig).ListenPacket(tb.Context(), network, address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	count := new(atomic.Int32)
	w.talked[network+" "+address] = count
	go func() {
		for b := make([]byte, 64); ; {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			count.Add(1)
			_, _ = c.WriteTo(b[:n], from) // who has an address may wait for it
		}
	}()
	return c.LocalAddr()
}

// process starts somebody to be looked into and signalled.
func (w *World) process(tb testing.TB) {
	tb.Helper()
	testenv.NeedTool(tb, "sleep")
	w.victim = exec.Command("sleep", "3600") // what it is called is looked for
	w.victim.Env = []string{"TOKEN=" + w.secret}
	if err := w.victim.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = w.victim.Wait()
		close(w.died)
	}()
	tb.Cleanup(func() {
		_ = w.victim.Process.Kill()
		<-w.died
	})
	w.Env = append(w.Env, "VICTIM="+strconv.Itoa(w.victim.Process.Pid))
}

// look is what lies at every place that no command may change.
func (w *World) look(tb testing.TB) map[string]string {
	tb.Helper()
	seen := make(map[string]string)
	places := append([]string{w.Home, w.Outside}, w.Hidden...)
	for _, place := range append(places, w.Protected...) {
		err := filepath.WalkDir(filepath.Clean(place), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what is not there, or cannot be looked into, is noted as such
			}
			seen[path] = describe(path)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return seen
}

func describe(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "not there"
	}
	if !info.Mode().IsRegular() {
		return info.Mode().String()
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%v, %d owner, %d links, changed %v: %q", info.Mode(), stat.Uid, stat.Nlink,
		info.ModTime().Format(time.RFC3339Nano), content)
}

// Verify says what a command with this output did that it must not. The world is
// still to be used after it where that is nothing.
func (w *World) Verify(tb testing.TB, output string) []string {
	tb.Helper()
	var done []string
	if strings.Contains(output, w.secret) {
		done = append(done, "it printed what is hidden")
	}
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "ESCAPED") {
			done = append(done, strings.TrimSpace(line))
		}
	}
	for where, count := range w.talked {
		if n := count.Swap(0); n > 0 {
			done = append(done, fmt.Sprintf("it reached %s", where))
		}
	}
	if w.victim.Process.Signal(syscall.Signal(0)) != nil {
		done = append(done, "it killed a process outside")
	}
	after := w.look(tb)
	paths := slices.Sorted(maps.Keys(w.before))
	for path := range after {
		if _, ok := w.before[path]; !ok {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if w.before[path] != after[path] {
			done = append(done, fmt.Sprintf("%s was %q and is %q", path, w.before[path], after[path]))
		}
	}
	return done
}
