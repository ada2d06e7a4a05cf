//go:build amd64 || arm64

package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

const (
	// gone is how long what was ended may still be there.
	gone = 10 * time.Second
	// limit is the time limit of the commands that are to reach it, and late how much
	// later their calls may return.
	limit = time.Second
	late  = 2 * time.Second
	// prompt is when a call that was given up has its result.
	prompt = 100 * time.Millisecond
)

// stubborn are commands that do not want to end, and how many processes to wait for
// that sleep; those that are stopped may be so before they can. MARK stands for a time
// that no other process sleeps.
var stubborn = map[string]struct {
	command string
	sleeps  int
}{
	// Daemons, one of which has let go of everything and one of which holds the pipe; one
	// that is stopped, one that comes again, and a shell that heeds no signal.
	"all in one": {`trap '' TERM HUP INT QUIT
(setsid bash -c '(trap "" TERM; setsid sleep MARK <&- >&- 2>&- &)' &)
(setsid sleep MARK &)
setsid sleep MARK & kill -STOP $!
(trap '' TERM; while :; do setsid sleep MARK; done) &
echo there; while :; do sleep MARK; done`, 4},
	"stopped":    {`(setsid sleep MARK &); sleep MARK & kill -STOP $!; kill -STOP $$`, 1},
	"only reads": {`true; sleep MARK | sleep MARK`, 2},
}

// marked puts a mark into a command.
func marked(command string) (string, mark) {
	m := mark(fmt.Sprintf("%d.%09d", 100_000+os.Getpid(), rand.IntN(1_000_000_000)))
	return m.in(command), m
}

// mark is what the processes of one command have among their arguments.
type mark string

func (m mark) in(command string) string { return strings.ReplaceAll(command, "MARK", string(m)) }

// living is one of them. Its number may be another's later on, its start is its own.
type living struct{ pid, start string }

// processes are those that there are, with their arguments.
func (m mark) processes() map[living]string {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	found := make(map[living]string)
	for _, dir := range dirs {
		arguments, _ := os.ReadFile(dir + "/cmdline") // it may be gone
		if start := started(dir); start != "" && bytes.Contains(arguments, []byte(m)) {
			found[living{filepath.Base(dir), start}] = string(bytes.ReplaceAll(arguments, []byte{0}, []byte{' '}))
		}
	}
	return found
}

// started is when a process began, as its system tells; empty where there is none, or
// nothing of it but its number, which nobody has asked for yet.
func started(dir string) string {
	stat, _ := os.ReadFile(dir + "/stat") // as above
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// sleeping are the processes, and how many of them sleep.
func (m mark) sleeping() (all map[living]string, sleeps int) {
	all = m.processes()
	for _, arguments := range all {
		if strings.HasPrefix(arguments, "sleep ") {
			sleeps++
		}
	}
	return all, sleeps
}

// await waits until so many of the processes sleep, and returns all; nil where the call has ended
// before.
func (m mark) await(tb testing.TB, sleeps int, ended <-chan answer) map[living]string {
	tb.Helper()
	for deadline := time.Now().Add(testenv.Patience); ; time.Sleep(20 * time.Millisecond) {
		found, n := m.sleeping()
		if n >= sleeps {
			return found
		}
		if len(ended) > 0 {
			return nil
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%d of %d sleep: %q", n, sleeps, found)
		}
	}
}

// none fails where processes with the mark, or those that were there, still are after a
// time.
func (m mark) none(tb testing.TB, were map[living]string, within time.Duration) {
	tb.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left := m.processes()
		for p, arguments := range were {
			if p.start != "" && started("/proc/"+p.pid) == p.start {
				left[p] = arguments
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%d processes are left after %v: %q", len(left), within, slices.Collect(maps.Values(left)))
		}
	}
}

// pending is a call that runs.
type pending struct {
	d      *desk
	mark   mark
	were   map[living]string
	stream *host.Stream
	cancel context.CancelFunc
	ended  chan answer // gets a zero one where there is no result
}

// begin starts a command of a call, and returns when its processes are there, or its time is over.
func (d *desk) begin(command string, sleeps int, more input) *pending {
	d.Helper()
	p := &pending{d: d, ended: make(chan answer, 1)}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	d.Cleanup(p.cancel)
	in := input{"command": ""}
	maps.Copy(in, more)
	in["command"], p.mark = marked(command)
	p.stream = d.session.Stream(ctx)
	if err := p.stream.Add(d.use("Bash", in)); err != nil {
		d.Fatal(err)
	}
	p.stream.Close()
	go func() {
		var result answer
		for e := range p.stream.Events() {
			if e.Kind == host.EventResult {
				result = d.read(*e.Result)
			}
		}
		p.ended <- result
	}()
	var ended <-chan answer
	if more["timeout"] != nil {
		ended = p.ended
	}
	p.were = p.mark.await(d, sleeps, ended)
	return p
}

// result waits for the call's end.
func (p *pending) result() answer {
	p.d.Helper()
	select {
	case a := <-p.ended:
		return a
	case <-time.After(testenv.Patience):
		p.d.Fatal("the call does not end")
		return answer{}
	}
}

// ends are ways in which a command comes to its end.
var ends = map[string]struct {
	input input
	// by ends it and says how long that took, of which most is allowed; none is as long
	// as processes may be there.
	by   func(p *pending) time.Duration
	most time.Duration
}{
	"time limit": {input{"timeout": limit.Milliseconds()}, func(p *pending) time.Duration {
		// It has run for a while: its time is told by the call.
		a := p.result()
		if !a.TimedOut || a.Exit == nil {
			p.d.Errorf("%s", a.Text())
		}
		return time.Duration(a.Took) * time.Millisecond
	}, limit + late},
	"cancelled": {nil, func(p *pending) time.Duration {
		return testenv.Took(func() {
			p.cancel()
			p.refused(abi.CodeCancelled)
		})
	}, prompt},
	"interrupted": {nil, func(p *pending) time.Duration {
		return testenv.Took(func() {
			p.stream.Interrupt()
			p.refused(abi.CodeInterrupted)
		})
	}, prompt},
	"discarded": {nil, func(p *pending) time.Duration {
		return testenv.Took(func() {
			p.stream.Discard()
			p.result()
		})
	}, prompt},
	"session closed": {nil, func(p *pending) time.Duration {
		return testenv.Took(func() { p.closes(p.d.session.Close) })
	}, gone},
	"host closed": {nil, func(p *pending) time.Duration {
		return testenv.Took(func() { p.closes(p.d.host.Close) })
	}, gone},
	"task stopped": {input{"run_in_background": true}, func(p *pending) time.Duration {
		task := p.result().Task
		return testenv.Took(func() {
			if a := p.d.call(context.Background(), "TaskStop", input{"task_id": task}); a.IsError {
				p.d.Errorf("%s", a.Text())
			}
		})
	}, gone},
	"task, session closed": {input{"run_in_background": true}, func(p *pending) time.Duration {
		p.result()
		return testenv.Took(func() { p.closes(p.d.session.Close) })
	}, gone},
	"task, host closed": {input{"run_in_background": true}, func(p *pending) time.Duration {
		p.result()
		return testenv.Took(func() { p.closes(p.d.host.Close) })
	}, gone},
	"moved to the background": {nil, func(p *pending) time.Duration {
		for !p.d.session.MoveToBackground(fmt.Sprintf("c%d", p.d.calls.Load())) {
			time.Sleep(time.Millisecond)
		}
		task := p.result().Task
		return testenv.Took(func() {
			if _, err := p.d.session.StopTask(context.Background(), task); err != nil {
				p.d.Error(err)
			}
		})
	}, gone},
}

// refused says that the call ended with an error of a code.
func (p *pending) refused(code abi.Code) {
	p.d.Helper()
	if a := p.result(); a.Error == nil || a.Error.Code != code {
		p.d.Errorf("%s, %+v; want %s", a.Text(), a.Error, code)
	}
}

// closes closes something.
func (p *pending) closes(what func(context.Context) error) {
	p.d.Helper()
	if err := what(context.Background()); err != nil {
		p.d.Error(err)
	}
}

// TestSurvivors has every stubborn command ended in every way, with a sandbox and
// without; where tests are not thorough, the lesser ones in one way.
func TestSurvivors(t *testing.T) {
	bothWays(t, func(t *testing.T, changes ...func(*setup)) {
		t.Helper()
		changes = append(changes, func(s *setup) { s.host.Shell.Time.AtLimit = host.AtLimitKill })
		for how, end := range ends {
			for name, c := range stubborn {
				if !testenv.Thorough() && name != "all in one" && how != "time limit" {
					continue
				}
				t.Run(how+"/"+name, func(t *testing.T) {
					t.Parallel()
					testenv.InTime(t, end.most, func() time.Duration {
						d := newDesk(t, changes...)
						p := d.begin(c.command, c.sleeps, end.input)
						took := end.by(p)
						if how == "time limit" && p.were == nil {
							took = testenv.Patience // its time was over before
						}
						p.mark.none(t, p.were, gone-min(took, gone-time.Second))
						return took
					})
				})
			}
		}
	})
}

// TestSurvivorsAreSeen: what nobody ends must be found.
func TestSurvivorsAreSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, unconfined)
	p := d.begin(stubborn["all in one"].command, stubborn["all in one"].sleeps, nil)
	if len(p.were) < stubborn["all in one"].sleeps {
		t.Errorf("%q", p.were)
	}
	for process := range p.were {
		if process.start == "" || process.start != started("/proc/"+process.pid) && p.mark.processes()[process] != "" {
			t.Errorf("%+v is not told from others", process)
		}
	}
	p.cancel()
	p.mark.none(t, p.were, gone)
}
