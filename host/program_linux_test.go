//go:build linux && (amd64 || arm64)

package host_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// sandboxKinds are the ways that sandboxes are made here.
var sandboxKinds = map[string]func(o *host.Options){
	"namespaces": func(*host.Options) {},
	"bubblewrap": func(o *host.Options) { o.Shell.Bubblewrap("/usr/bin/bwrap") },
}

// talk is a program that runs, a shell that does what it is told.
type talk struct {
	*host.RunningProgram
	out *bufio.Reader
}

// talking starts a shell, which gets lines to carry out.
func talking(tb testing.TB, h *host.Host, p host.Program) *talk {
	tb.Helper()
	p.Name, p.Command = "shell", []string{"bash"}
	running, err := h.StartProgram(tb.Context(), p)
	must(tb, err)
	go func() { _, _ = io.Copy(io.Discard, running.Stderr) }()
	tb.Cleanup(func() { running.Stop(0); <-running.Done() })
	return &talk{running, bufio.NewReader(running.Stdout)}
}

// do is what a line prints.
func (p *talk) do(tb testing.TB, line string) string {
	tb.Helper()
	const end = "==end=="
	if _, err := fmt.Fprintf(p.Stdin, "%s\necho %s\n", line, end); err != nil {
		tb.Fatalf("%s: %v (%v)", line, err, p.Status())
	}
	var out strings.Builder
	for {
		text, err := p.out.ReadString('\n')
		before, ended := strings.CutSuffix(text, end+"\n")
		out.WriteString(before)
		if ended {
			return out.String()
		}
		if err != nil {
			tb.Fatalf("%s: %v after %q (%v)", line, err, out.String(), p.Status())
		}
	}
}

// gone waits for the end of a program.
func gone(tb testing.TB, p *host.RunningProgram) host.ProgramStatus {
	tb.Helper()
	select {
	case <-p.Done():
	case <-time.After(testenv.Patience):
		tb.Fatal("the program does not end")
	}
	return p.Status()
}

// TestProgramsAreHeld has programs try to leave their allowances.
func TestProgramsAreHeld(t *testing.T) {
	t.Parallel()
	for kind, change := range sandboxKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "PAGE of "+r.Host) }))
			defer server.Close()
			project := files(t, map[string]string{
				"docs/a.txt": "SECRET", "docs/.env": "SECRET", "docs/deep/.env": "SECRET", "src/main.go": "SECRET", "out/.git/config": "[core]\n", "out/.git/HEAD": "",
				"out/keep.txt": "SECRET", "one.txt": "old",
			})
			h := newShelled(t, change, func(o *host.Options) {
				o.Paths.Project = project
				o.Permissions.Rules = rules("Read(.env) | Edit(./out/keep.txt) | WebFetch(domain:evil.example.com)", "", "")
				o.Shell.LeadTo(server.Listener.Addr())
			})
			for _, name := range []string{"notes.txt", ".ssh/id", ".aws/credentials", ".cargo/registry/c.txt"} {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(h.home, name)), 0o700))
				must(t, os.WriteFile(filepath.Join(h.home, name), []byte("SECRET"), 0o600))
			}
			in := func(name string) string { return filepath.Join(project, name) }
			p := talking(t, h.Host, host.Program{
				Dir: in("docs"), Read: []string{in("docs"), filepath.Join(h.home, ".aws")}, Write: []string{in("out"), in("new"), in("one.txt")},
				Hosts: []string{"good.example.com", "*.wide.example.com", "evil.example.com"}, Env: []string{"TOKEN=4712", "LANG=de_DE"},
			})
			for _, test := range []struct{ line, want string }{
				{"pwd", in("docs") + "\n"},
				{"cat a.txt", "SECRET"},
				{"cat .env deep/.env", ""},
				{"cat ../src/main.go ~/notes.txt ~/.ssh/id", ""},
				{"cat ~/.aws/credentials ~/.cargo/registry/c.txt", "SECRETSECRET"},
				{"ls -A ~; ls ..; cat /etc/shadow", ".aws\n.cargo\ndocs\nnew\none.txt\nout\n"},
				{"echo x > a.txt; cat a.txt", "SECRET"},
				{"echo x > ../new/b.txt; cat ../new/b.txt", "x\n"},
				{"echo x > ../out/c; echo y > ../out/keep.txt; cat ../out/c ../out/keep.txt", "x\nSECRET"},
				{"echo new > ../one.txt; cat ../one.txt", "new\n"},
				{"echo x > ../other.txt; echo x > ~/x; echo x > /usr/x; cat /usr/x", ""},
				{"echo x >> ../out/.git/config; mkdir ../out/.git/hooks && echo x > ../out/.git/hooks/pre-commit; cat ../out/.git/config", "[core]\n"},
				{"echo x > /tmp/t && cat $TMPDIR/t", "x\n"},
				{"echo $TOKEN $LANG $TOOLQUAY_TEST_SECRET; echo ${SSH_AUTH_SOCK-none}", "4712 de_DE\nnone\n"},
				{"ls /run | grep -v toolquay; kill -0 " + strconv.Itoa(os.Getpid()) + " && echo seen", ""},
				{"curl -s http://good.example.com/", "PAGE of good.example.com"},
				{"curl -s http://a.wide.example.com/", "PAGE of a.wide.example.com"},
				{"curl -s --noproxy '*' --max-time 5 " + server.URL, ""},
				{"curl -sf http://wide.example.com/; curl -sf http://elsewhere.example.com/; curl -sf http://evil.example.com/", ""},
			} {
				got := p.do(t, "("+test.line+") 2>/dev/null")
				if !strings.HasSuffix(got, test.want) || test.want == "" && got != "" {
					t.Errorf("%s\n\tgot  %q\n\twant %q", test.line, got, test.want)
				}
			}
			if got, want := p.Refused(), []string{"wide.example.com", "elsewhere.example.com", "evil.example.com"}; !slices.Equal(got, want) {
				t.Errorf("it was kept from %v, want %v", got, want)
			}
			for _, path := range []string{in("out/.git/hooks"), in("other.txt"), filepath.Join(h.home, "x")} {
				soon(t, path+" is undone", func() bool { return !exists(path) })
			}
			must(t, h.Apply(host.Settings{Rules: rules("WebFetch(domain:good.example.com)", "", "")}))
			if got := p.do(t, "curl -sf http://good.example.com/"); got != "" {
				t.Errorf("a rule of later does not count: %q", got)
			}
		})
	}
}

// TestProgramsSeeWhatTheyAre shows programs their own files, and not what lies around them.
func TestProgramsSeeWhatTheyAre(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	at := func(name, content string) string {
		path := filepath.Join(h.home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testenv.WriteProgram(t, path, []byte(content))
		return path
	}
	const script = "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")\"/$1; ls %s"
	other := at("other/o.txt", "SECRET")
	at("bin/lonely.txt", "SECRET")
	at("servers/s/package.json", "{}")
	at("servers/s/lib/x.js", "LIBRARY")
	at("servers/beside.txt", "SECRET")
	tool := at("servers/s/bin/tool", fmt.Sprintf(script, filepath.Dir(other)))
	link := filepath.Join(h.home, "bin/link")
	must(t, os.Symlink(tool, link))
	for name, test := range map[string]struct {
		command []string
		want    string
	}{
		"alone":            {[]string{at("bin/alone", fmt.Sprintf(script, filepath.Dir(other))), "lonely.txt"}, ""},
		"of a package":     {[]string{tool, "../lib/x.js"}, "LIBRARY"},
		"by a link":        {[]string{link, "../lib/x.js"}, "LIBRARY"},
		"beside":           {[]string{tool, "../../beside.txt"}, ""},
		"an interpreter's": {[]string{"sh", tool, "../lib/x.js"}, "LIBRARY"},
		"no script":        {[]string{"cat", other}, ""},
		"secrets":          {[]string{"sh", "-c", "cat $0", at(".ssh/id", "SECRET")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := h.StartProgram(t.Context(), host.Program{Name: name, Command: test.command})
			must(t, err)
			go func() { _, _ = io.Copy(io.Discard, p.Stderr) }()
			out, err := io.ReadAll(p.Stdout)
			must(t, err)
			if gone(t, p); string(out) != test.want {
				t.Errorf("got %q, want %q (%v)", out, test.want, p.Status())
			}
		})
	}
}

// TestProgramsEnd ends programs in every way, with all that they started.
func TestProgramsEnd(t *testing.T) {
	t.Parallel()
	const daemon = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 0.1; done' >/dev/null 2>&1 & echo ready; `
	const long = 5 * time.Second // for what a signal's trap does
	for kind, change := range sandboxKinds {
		h := newShelled(t, change, func(o *host.Options) { o.Shell.Limits = host.CommandLimits{Processes: 60} })
		for name, test := range map[string]struct {
			script string
			end    func(p *host.RunningProgram)
			want   string // of the status
		}{
			"by itself":         {daemon + "exit 3", func(*host.RunningProgram) {}, "it ended with exit status 3"},
			"as its input ends": {daemon + "cat; exit 4", func(p *host.RunningProgram) { p.Stop(testenv.Patience) }, "it ended with exit status 4"},
			"by SIGTERM":        {`trap "exit 5" TERM; ` + daemon + "while :; do sleep 0.1; done", func(p *host.RunningProgram) { p.Stop(long) }, "it ended with exit status 5"},
			// Bubblewrap gets SIGTERM too, and ends what it holds.
			"by SIGKILL":     {`trap "" TERM; ` + daemon + "while :; do sleep 0.1; done", func(p *host.RunningProgram) { p.Stop(100 * time.Millisecond) }, "signal killed"},
			"at once":        {`trap "" TERM; ` + daemon + "while :; do sleep 0.1; done", func(p *host.RunningProgram) { p.Stop(0) }, "signal"},
			"by a fork bomb": {daemon + `b() { b | b & }; b; while :; do sleep 0.1; done`, func(*host.RunningProgram) {}, "it had more than 60 processes"},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				mark := "TOOLQUAY_PROGRAM_MARK=" + rand.Text()
				p, err := h.StartProgram(t.Context(), host.Program{Name: name, Command: []string{"bash", "-c", test.script}, Env: []string{mark}})
				must(t, err)
				line, err := bufio.NewReader(p.Stdout).ReadString('\n')
				if must(t, err); line != "ready\n" {
					t.Fatalf("it says %q", line)
				}
				test.end(p)
				want := test.want
				if kind == "bubblewrap" && strings.HasPrefix(name, "by SIG") {
					want = "signal terminated"
				}
				if got := gone(t, p).String(); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
				if left := marked(mark); len(left) > 0 {
					t.Errorf("%v are left", left)
				}
			})
		}
	}
}

// marked are the processes that have a setting in their environment.
func marked(setting string) (found []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range dirs {
		environ, _ := os.ReadFile(file)
		if slices.Contains(strings.Split(string(environ), "\x00"), setting) {
			found = append(found, file)
		}
	}
	return found
}

// TestProgramsEndWithTheirHost kills a host, and looks for what it has started.
func TestProgramsEndWithTheirHost(t *testing.T) {
	const role = "TOOLQUAY_PROGRAM_HOST"
	if mark := os.Getenv(role); mark != "" {
		h := newShelled(t, sandboxKinds[os.Getenv("TOOLQUAY_PROGRAM_KIND")])
		p := talking(t, h.Host, host.Program{Env: []string{mark}})
		p.do(t, "setsid sleep 1000 & true")
		fmt.Println("there")
		select {}
	}
	t.Parallel()
	for kind := range sandboxKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			temp, err := os.MkdirTemp("", "tq") //nolint:usetesting // sockets have short paths
			must(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(temp) })
			mark := "TOOLQUAY_PROGRAM_MARK=" + temp
			c := exec.Command("/proc/self/exe", "-test.run", "^TestProgramsEndWithTheirHost$")
			c.Env = append(os.Environ(), role+"="+mark, "TOOLQUAY_PROGRAM_KIND="+kind, "TMPDIR="+temp)
			out, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
				t.Fatalf("the host says %q: %v", line, err)
			}
			soon(t, "the program and its child", func() bool { return len(marked(mark)) >= 2 })
			must(t, c.Process.Kill())
			_ = c.Wait() // it was killed
			soon(t, "their end", func() bool { return len(marked(mark)) == 0 })
		})
	}
}

// TestProgramsEndWithClose closes a host whose program runs.
func TestProgramsEndWithClose(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	p := talking(t, h.Host, host.Program{})
	must(t, h.Close(context.Background()))
	gone(t, p.RunningProgram)
	if _, err := h.StartProgram(t.Context(), host.Program{Name: "late", Command: []string{"true"}}); err == nil {
		t.Error("a closed host started a program")
	}
}

// TestProgramsWithoutSandbox follows the mode of the sandbox as commands do.
func TestProgramsWithoutSandbox(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "SECRET"})
	h := newShelled(t, func(o *host.Options) { o.Shell.Sandbox.Mode = host.SandboxOff })
	p := talking(t, h.Host, host.Program{Dir: dir})
	if got := p.do(t, "pwd; cat a.txt; echo x > b.txt; cat b.txt; test -d $TMPDIR && echo $TOOLQUAY_TEST_SECRET"); got != dir+"\nSECRETx\n\n" {
		t.Errorf("got %q", got)
	}
	h = newShelled(t, func(o *host.Options) {
		o.Shell.Optional, o.Shell.Sandbox.Mode = true, host.SandboxRequired
		o.Shell.Bubblewrap("/nonexistent/bwrap")
	})
	_, err := h.StartProgram(t.Context(), host.Program{Name: "p", Command: []string{"true"}})
	if abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "the settings require one") {
		t.Errorf("got %v", err)
	}
	h = newShelled(t, func(o *host.Options) { o.Shell.Bubblewrap("/nonexistent/bwrap") })
	for range 2 {
		talking(t, h.Host, host.Program{})
	}
	if got := strings.Count(h.log.String(), "no command is confined"); got != 1 {
		t.Errorf("that nothing is confined was told %d times", got)
	}
}

// TestBadPrograms refuses what cannot be started as it was asked for.
func TestBadPrograms(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	dir := files(t, map[string]string{"text": "text"})
	for name, test := range map[string]struct {
		program host.Program
		code    abi.Code
		want    string
	}{
		"nothing":           {host.Program{}, abi.CodeInvalidInput, "no command"},
		"not there":         {host.Program{Command: []string{"no-such-program"}}, abi.CodeNotFound, "install it, or give its path"},
		"not a program":     {host.Program{Command: []string{filepath.Join(dir, "text")}}, abi.CodeNotFound, "text is no program"},
		"a relative path":   {host.Program{Command: []string{"true"}, Read: []string{"docs"}}, abi.CodeInvalidInput, `"docs", which is not an absolute path`},
		"a protected place": {host.Program{Command: []string{"true"}, Write: []string{filepath.Join(h.home, ".ssh")}}, abi.CodeDenied, "which is protected"},
		"the home":          {host.Program{Command: []string{"true"}, Write: []string{h.home}}, abi.CodeDenied, "the home lies in it"},
		"any host":          {host.Program{Command: []string{"true"}, Hosts: []string{"http://x/y"}}, abi.CodeInvalidInput, "may reach"},
		"no directory":      {host.Program{Command: []string{"true"}, Dir: filepath.Join(dir, "none")}, abi.CodeNotFound, "none"},
	} {
		_, err := h.StartProgram(t.Context(), test.program)
		if abi.CodeOf(err) != test.code || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: got %v (%s)", name, err, abi.CodeOf(err))
		}
	}
	none := open(t, host.Options{})
	if _, err := none.StartProgram(t.Context(), host.Program{Command: []string{"true"}}); abi.CodeOf(err) != abi.CodeUnsupported {
		t.Errorf("without a shell: %v", err)
	}
}

// TestProgramsHaveCaches fills the caches of a program, which another one does not see.
func TestProgramsHaveCaches(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Shell.Sandbox.Caches = filepath.Join(t.TempDir(), "caches") })
	const script = `echo $npm_config_cache; mkdir -p $npm_config_cache && ls $npm_config_cache && echo x > $npm_config_cache/x && echo ${UV_CACHE_DIR##*/}`
	var said [3][]byte
	for i, name := range []string{"a", "a", "b"} {
		p, err := h.StartProgram(t.Context(), host.Program{Name: name, Command: []string{"sh", "-c", script}})
		must(t, err)
		said[i], err = io.ReadAll(p.Stdout)
		must(t, err)
		gone(t, p)
	}
	if !bytes.HasSuffix(said[0], []byte("/npm\nuv\n")) || !bytes.HasSuffix(said[1], []byte("/npm\nx\nuv\n")) || !bytes.HasSuffix(said[2], []byte("/npm\nuv\n")) {
		t.Errorf("got %q", said)
	}
}
