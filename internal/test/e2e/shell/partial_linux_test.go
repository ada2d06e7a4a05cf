//go:build amd64 || arm64

package shell_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/internal/test/place"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestWhereNoSandboxCanBeMade runs a host there.
func TestWhereNoSandboxCanBeMade(t *testing.T) {
	t.Parallel()
	if place.Here() != "" {
		return
	}
	for _, where := range []string{place.NoUsers, place.Filtered} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			out, err := place.Run(t, where, 1000, "^(TestHostInAPlace|TestRequiredInAPlace)$")
			if err != nil || strings.Count(out, "--- PASS: Test") != 2 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// log is what a host logs.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

// has counts how often the log has a text.
func (l *log) has(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// TestHostInAPlace has commands ask as without a sandbox, held by the kernel alone. It is run
// by tests that make such a place, and by itself in nothing.
func TestHostInAPlace(t *testing.T) {
	if place.Here() == "" {
		return
	}
	var l log
	var asked atomic.Int32
	d := newDesk(t, func(s *setup) {
		s.host.Shell.Sandbox.Mode = host.SandboxWhenAvailable
		s.host.Observe.Logger = slog.New(slog.NewTextHandler(&l, nil))
		s.host.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(.env)")}}
		s.session.Mode = permissions.ModeAcceptEdits
		s.session.Asker = approvals.Func(func(context.Context, host.Approval) (host.Reply, error) {
			asked.Add(1)
			return host.Reply{Answer: host.AnswerAllow}, nil
		})
	})
	d.put(".env", "TOKEN=secret\n")
	d.put("a", "text\n")
	a := d.bash(`bash -c 'echo x > made; mkdir .vscode; echo {} > .vscode/tasks.json; ls /var/log && echo LISTED; echo x > /usr/toolquay-test && echo WRITTEN'`)
	if asked.Load() != 1 || a.Sandboxed || !a.ran() || !d.has("made") || strings.Contains(a.output(), "LISTED") || strings.Contains(a.output(), "WRITTEN") {
		t.Errorf("asked %d times: %s", asked.Load(), a.Text())
	}
	if strings.Contains(a.Text(), "cannot change them") { // for they can
		t.Errorf("%s", a.Text())
	}
	if a := d.bash("cat a"); asked.Load() != 1 || a.Sandboxed || a.output() != "text\n" {
		t.Errorf("asked %d times: %s", asked.Load(), a.Text())
	}
	if n := l.has("another sandbox is around this process"); n != 0 != place.IsInside() {
		t.Errorf("said %d times that there is another sandbox", n)
	}
	// A sandbox is looked for again after a pause, and its lack told each time; what is lost is told once.
	if n, lost := l.has("no command is confined"), l.has("changes what is protected"); n == 0 || lost != 1 {
		t.Errorf("said %d times that nothing is confined, and %d times what is lost", n, lost)
	}
}

// TestRequiredInAPlace refuses commands there.
func TestRequiredInAPlace(t *testing.T) {
	if place.Here() == "" {
		return
	}
	d := newDesk(t)
	if a := d.bash("echo x > made"); !a.IsError || d.has("made") || !strings.Contains(a.Text(), "the settings require one") {
		t.Errorf("%s", a.Text())
	}
}

// TestInsideASandbox runs a host in a command of another host's: it says what it has instead
// of a sandbox, and goes on.
func TestInsideASandbox(t *testing.T) {
	t.Parallel()
	if place.Here() != "" {
		return
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	testenv.WriteProgram(t, d.path("shell.test"), program)
	a := d.bash(strings.Join(place.Inside(), " ")+" "+cacheName+"=$PWD/cache ./shell.test -test.v -test.run '^(TestHostInAPlace|TestRequiredInAPlace)$'", input{"timeout": 600_000})
	if !a.Sandboxed || strings.Count(a.output(), "--- PASS: Test") != 2 {
		t.Errorf("%s", a.Text())
	}
}
