package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestLimitsAreNamed(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	for _, test := range []struct {
		limits              process.Limits
		command, name, says string
	}{
		{process.Limits{Memory: 64 << 20}, "head -c 300M /dev/zero | tail -n 1 | (sleep 50; wc -c)", process.LimitMemory, "64"},
		{process.Limits{Processes: 8}, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 50 & done; wait", process.LimitProcesses, "8 processes"},
		{process.Limits{CPU: time.Second}, "while :; do :; done", process.LimitCPU, "1s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			r := s.bash(newShell(t, func(o *shell.Options) { o.Limits = test.limits }), test.command)
			if r.Limit != test.name || !strings.Contains(r.LimitText, test.says) || r.Exit == 0 {
				t.Errorf("got %+v", r.ShellOK)
			}
		})
	}
}

func TestDeedsAreTold(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	s, c := newSession(t), newShell(t)
	r := s.bash(c, "git init -q -b main . && git -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m First && git -c user.name=A -c user.email=a@example.com commit --allow-empty -m Second")
	if r.Exit != 0 {
		t.Fatalf("got %+v", r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 {
		t.Fatal("nothing was told")
	}
	last := s.events[len(s.events)-1]
	if last.Kind != capability.GitCommit || last.Call.ID != "call" || last.Program != "git" {
		t.Errorf("told %+v", s.events)
	}
}
