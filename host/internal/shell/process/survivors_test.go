//go:build linux

package process_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// stubborn are ways to be left behind. Each writes a line when it is there, and none
// ends by itself.
var stubborn = map[string]string{
	"a child":            `sleep 1000 & echo; wait`,
	"an orphan":          `(sleep 1000 &); echo; sleep 1000`,
	"a daemon":           `(setsid bash -c '(setsid sleep 1000 <&- >&- 2>&- &)' &); sleep 0.1; echo; sleep 1000`,
	"ignored signals":    `trap '' TERM HUP INT QUIT; (trap '' TERM; setsid sleep 1000 & wait) & sleep 0.1; echo; while :; do sleep 1000; done`,
	"a stopped process":  `sleep 1000 & kill -STOP $!; setsid sleep 1000 & kill -STOP $!; echo; wait`,
	"a stopped command":  `sleep 1000 & echo; kill -STOP $$`,
	"a restarter":        `(trap '' TERM; while :; do setsid sleep 1000; done) & sleep 0.1; echo; wait`,
	"a long line":        `f() { if (($1)); then (f $(($1 - 1)); :); else echo; sleep 1000; fi; }; f 30`,
	"many":               `for i in {1..100}; do (setsid sleep 1000 & sleep 1000) & done; echo; wait`,
	"a group of its own": `set -m; sleep 1000 & sleep 1000 | sleep 1000 & echo; wait`,
}

// TestStopped ends commands that do not want to.
func TestStopped(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	for name, script := range stubborn {
		for _, grace := range []time.Duration{0, 200 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/%v", name, grace), func(t *testing.T) {
				m := mark(t)
				p := saying(t, k, bash(t, script, m))
				took := testenv.Took(func() {
					p.Stop(grace)
					finish(t, p)
				})
				noSurvivors(t, m, 0)
				if s := p.Status(); s.Err != nil || s.Left != 0 || s.Code == 0 {
					t.Errorf("%+v", s)
				}
				if took > grace+gone {
					t.Errorf("it took %v", took)
				}
			})
		}
	}
}

// TestLeft has commands end and leave something.
func TestLeft(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	for script, want := range map[string]int{
		`sleep 1000 & exit 3`: 1,
		`read < <(setsid bash -c '(setsid sleep 1000 <&- >&- 2>&- &)' &); exit 3`: 1, // it reads until all others have ended
		`trap '' TERM; sleep 1000 & sleep 1000 & kill -STOP $!; exit 3`:           2,
		`for i in {1..50}; do setsid sleep 1000 & done; exit 3`:                   50,
		`read < <(sleep 1000 & echo; wait); exit 3`:                               2,
	} {
		m := mark(t)
		p := start(t, k, bash(t, script, m))
		if s := finish(t, p); status(s) != (process.Status{Code: 3, Left: want}) {
			t.Errorf("%s: %+v, want %d left", script, s, want)
		}
		noSurvivors(t, m, 0)
	}
}

// TestHeldPipe reads to the end of a pipe that a daemon holds open.
func TestHeldPipe(t *testing.T) {
	t.Parallel()
	got, s := output(t, supervisors(t), bash(t, `setsid bash -c 'while :; do sleep 1000; done' & echo said`, mark(t)))
	if got != "said\n" || s.Left == 0 {
		t.Errorf("%q, %+v", got, s)
	}
}

// TestGraceIsGiven lets those end by themselves that do so in time, also when they are
// not the first process.
func TestGraceIsGiven(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	dir := t.TempDir()
	p := saying(t, k, bash(t, `(trap 'sleep 0.2; : > '`+dir+`'/tidied; exit' TERM; echo; while :; do sleep 0.01; done) & wait`, mark(t)))
	p.Stop(2 * testenv.Patience)
	await(t, "done", p.Done(), testenv.Patience)
	finish(t, p)
	if _, err := os.Stat(dir + "/tidied"); err != nil {
		t.Error(err)
	}
}

// TestStoppedAsOne has shells that go on with another command when the first one ends:
// they must not get to it.
func TestStoppedAsOne(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	dir := t.TempDir()
	for range 20 {
		p := saying(t, k, bash(t, `(sleep 1000 & sleep 0.05; echo; wait; : > '`+dir+`'/on; :); : > '`+dir+`'/further`, mark(t)))
		p.Stop(2 * testenv.Patience)
		finish(t, p)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestStopSaidAgain(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	m := mark(t)
	p := saying(t, k, bash(t, `trap '' TERM; echo; while :; do sleep 1000; done`, m))
	p.Stop(time.Hour)
	select {
	case <-p.Gone():
		t.Fatalf("it ended: %+v", p.Status())
	case <-time.After(100 * time.Millisecond):
	}
	p.Stop(time.Millisecond)
	p.Stop(time.Hour)
	finish(t, p)
	p.Stop(0) // it is gone, and the supervisor may have another
	if s := finish(t, start(t, k, bash(t, "sleep 0.1; exit 6", m))); s.Code != 6 {
		t.Errorf("%+v", s)
	}
}

// TestSupervisorKilled has commands attack their supervisor, which they can as long as they run
// as the same user: nothing is left all the same.
func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	for _, script := range []string{
		`kill -9 $PPID; sleep 1000`,
		`sleep 1000 & (trap '' TERM; sleep 1000; :) & sleep 0.3; kill -9 $PPID; sleep 1000`,
		`set -m; sleep 1000 & trap '' TERM; sleep 0.3; kill -9 $PPID; sleep 1000`,
		`(setsid bash -c '(setsid sleep 1000 <&- >&- 2>&- &)' &); (setsid sleep 1000 &); sleep 0.3; kill -9 $PPID; sleep 1000`,
		`(setsid env - bash -c 'trap "" TERM; sleep 0.3; kill -9 '$PPID'; while :; do sleep 1000; done' "` + markName + `=$` + markName + `" &); sleep 1000`,
		`(trap '' TERM; while :; do setsid sleep 1000; done) & sleep 0.3; kill -9 $PPID; sleep 1000`,
	} {
		m := mark(t)
		p, err := k.Start(t.Context(), bash(t, script, m))
		if err == nil { // it may be quicker than the word that it started
			if s := finish(t, p); s.Err == nil {
				t.Errorf("%s: %+v", script, s)
			}
		}
		noSurvivors(t, m, gone)
	}
	if s := finish(t, start(t, k, bash(t, "exit 8", mark(t)))); s.Code != 8 {
		t.Errorf("afterwards: %+v", s)
	}
}

// TestSupervisorStopped has a command stop its supervisor.
func TestSupervisorStopped(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	m := mark(t)
	p := saying(t, k, bash(t, `kill -STOP $PPID; echo; sleep 1000`, m))
	p.Stop(0)
	if s := finish(t, p); s.Err != nil {
		t.Errorf("%+v", s)
	}
	noSurvivors(t, m, 0)
}

// TestSupervisorSignalled sends supervisors what ends others.
func TestSupervisorSignalled(t *testing.T) {
	t.Parallel()
	script := `for s in HUP INT QUIT TERM USR1 USR2 ALRM PIPE CHLD CONT; do kill -$s $PPID; done; exit 3`
	k := supervisors(t)
	for range 3 {
		if s := finish(t, start(t, k, bash(t, `for s in HUP INT TERM; do kill -$s $PPID; done; exit 3`, mark(t)))); s.Code != 3 || s.Err != nil {
			t.Errorf("%+v", s)
		}
	}
	m := mark(t)
	p, err := k.Start(t.Context(), bash(t, script, m))
	if err == nil {
		finish(t, p)
	}
	noSurvivors(t, m, gone)
}
