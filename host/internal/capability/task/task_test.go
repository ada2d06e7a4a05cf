package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/task"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/permissions"
)

// bench is a session with tasks, and what the capability tells on the way.
type bench struct {
	*testing.T
	*tasks.Registry
	scope capability.Scope
	told  []abi.Progress
}

func newBench(t *testing.T) *bench {
	t.Helper()
	r, err := tasks.Open(tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Registry: r}
	b.scope = capability.Scope{Tasks: r, Report: func(p abi.Progress) { b.told = append(b.told, p) }}
	return b
}

// begin enters a task with an output; stop may be nil.
func (b *bench) begin(text string, stop func()) (capability.Task, string) {
	b.Helper()
	output := filepath.Join(b.TempDir(), "out")
	if err := os.WriteFile(output, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	if stop == nil {
		stop = func() {}
	}
	t, err := b.Begin(capability.NewTask{Kind: 'b', Title: "make", Output: output, Stop: stop})
	if err != nil {
		b.Fatal(err)
	}
	return t, output
}

// ask does a request as the host does, and checks what it says that it uses.
func (b *bench) ask(ctx context.Context, name string, args any) (ok json.RawMessage, body string, err error) {
	b.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := task.New().Plan(ctx, b.scope, abi.Request{Name: name, Args: text})
	if err != nil {
		return nil, "", err
	}
	defer plan.Close()
	target := "tasks"
	if name == abi.CapTaskSleep {
		target = "sleep"
	}
	if got := plan.Accesses(); !slices.Equal(got, []permissions.Access{{Kind: permissions.AccessSession, Target: target}}) {
		b.Errorf("%s: accesses %v", name, got)
	}
	answer, err := plan.Do(ctx, nil)
	if err != nil {
		return nil, "", err
	}
	if answer.Body != nil {
		all, err := io.ReadAll(answer.Body)
		if err != nil || int64(len(all)) != answer.Size || answer.BodyType != abi.PartText {
			b.Errorf("a body of %d bytes, said to be %d: %v", len(all), answer.Size, err)
		}
		body = string(all)
	}
	ok, err = json.Marshal(answer.OK)
	return ok, body, err
}

func (b *bench) output(args abi.TaskOutputArgs) (abi.TaskOK, string) {
	b.Helper()
	ok, body, err := b.ask(b.Context(), abi.CapTaskOutput, args)
	if err != nil {
		b.Fatal(err)
	}
	var out abi.TaskOK
	if err := json.Unmarshal(ok, &out); err != nil {
		b.Fatal(err)
	}
	return out, body
}

func TestOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	running, path := b.begin("one\ntwo \xff\nthr", nil)
	ok, body := b.output(abi.TaskOutputArgs{ID: running.ID(), Filter: "^t"})
	want := abi.TaskOK{ID: running.ID(), Kind: "bash", State: abi.TaskRunning, Title: "make", OutputFile: path, To: 10, Bytes: 13, Skipped: 1}
	ok.Elapsed = 0
	if ok != want || body != "two \uFFFD\n" {
		t.Errorf("got %+v, %q\nwant %+v", ok, body, want)
	}
	exit := 3
	running.End(capability.TaskOutcome{Exit: &exit, Reason: "why", Left: 2})
	ok, body = b.output(abi.TaskOutputArgs{ID: running.ID(), Block: true})
	if ok.State != abi.TaskFailed || !ok.Ended || *ok.Exit != 3 || ok.Reason != "why" || ok.Left != 2 || ok.From != 10 || ok.To != 13 || ok.TimedOut || body != "thr" {
		t.Errorf("got %+v, %q", ok, body)
	}
}

func TestOutputBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running, path := b.begin("12345", nil)
		time.AfterFunc(1500*time.Millisecond, func() {
			if err := os.WriteFile(path, []byte("12345678"), 0o600); err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		ok, body := b.output(abi.TaskOutputArgs{ID: running.ID(), Block: true, Timeout: 3500})
		if took := time.Since(began); took != 3500*time.Millisecond || !ok.TimedOut || ok.Ended || ok.Elapsed != 3500 || body != "12345678" {
			t.Errorf("after %v %+v, %q", took, ok, body)
		}
		var told []string
		for _, p := range b.told {
			told = append(told, strings.TrimPrefix(p.Message, running.ID()+" has run for "))
		}
		if want := []string{"1s; 5 new bytes of output", "2s; 3 new bytes of output", "3s"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		time.AfterFunc(2*time.Second, func() { running.End(capability.TaskOutcome{}) })
		began = time.Now()
		ok, _ = b.output(abi.TaskOutputArgs{ID: running.ID(), Block: true})
		if took := time.Since(began); took != 2*time.Second || ok.TimedOut || !ok.Ended {
			t.Errorf("after %v %+v", took, ok)
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var running capability.Task
	running, _ = b.begin("", func() { go running.End(capability.TaskOutcome{Killed: true, Left: 4}) })
	for _, reason := range []string{"it was stopped with TaskStop", "it had ended already: it was stopped with TaskStop"} {
		got, _, err := b.ask(t.Context(), abi.CapTaskStop, abi.TaskArgs{ID: running.ID()})
		if err != nil {
			t.Fatal(err)
		}
		var ok abi.TaskOK
		if err := json.Unmarshal(got, &ok); err != nil || ok.State != abi.TaskKilled || !ok.Ended || ok.Left != 4 || ok.Reason != reason {
			t.Errorf("got %+v, %v", ok, err)
		}
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]bool{"with tasks": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if without {
					b.scope.Tasks = nil
				}
				for _, most := range []time.Duration{time.Millisecond, 5 * time.Second, 12 * time.Second, time.Hour} {
					b.told = nil
					began := time.Now()
					ok, _, err := b.ask(t.Context(), abi.CapTaskSleep, abi.SleepArgs{Duration: most.Milliseconds()})
					var slept abi.SleepOK
					if err := errors.Join(err, json.Unmarshal(ok, &slept)); err != nil || slept.Slept != most.Milliseconds() || slept.Woken != "" || time.Since(began) != most {
						t.Errorf("%v: %+v after %v, %v", most, slept, time.Since(began), err)
					}
					if want := int((most - 1) / (5 * time.Second)); len(b.told) != want {
						t.Errorf("%v: told %d times, not %d", most, len(b.told), want)
					}
					if most == 12*time.Second && (b.told[1].Message != "asleep; 2s left" || b.told[1].Done != 10 || b.told[1].Total != 12) {
						t.Errorf("told %+v", b.told[1])
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(7*time.Second, cancel)
				began := time.Now()
				if _, _, err := b.ask(ctx, abi.CapTaskSleep, abi.SleepArgs{Duration: 60_000}); abi.CodeOf(err) != abi.CodeCancelled || time.Since(began) != 7*time.Second {
					t.Errorf("given up after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running, _ := b.begin("", nil)
		time.AfterFunc(7*time.Second, func() { running.End(capability.TaskOutcome{}) })
		ok, _, err := b.ask(t.Context(), abi.CapTaskSleep, abi.SleepArgs{Duration: 60_000})
		if want := `{"slept_ms":7000,"woken":"` + running.ID() + `"}`; err != nil || string(ok) != want {
			t.Errorf("got %s, %v; want %s", ok, err, want)
		}
	})
}

// A rehearsal shows the model nothing, ends nothing and takes no time.
func TestRehearsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running, _ := b.begin("text", func() { t.Error("it was stopped") })
		began := time.Now()
		b.scope.Rehearse = true
		for range 2 {
			if ok, body := b.output(abi.TaskOutputArgs{ID: running.ID(), Block: true}); body != "text" || ok.TimedOut {
				t.Errorf("got %+v, %q", ok, body)
			}
		}
		if ok, _, err := b.ask(t.Context(), abi.CapTaskSleep, abi.SleepArgs{Duration: 5000}); err != nil || string(ok) != `{"slept_ms":5000}` {
			t.Errorf("got %s, %v", ok, err)
		}
		if _, _, err := b.ask(t.Context(), abi.CapTaskStop, abi.TaskArgs{ID: running.ID()}); abi.CodeOf(err) != abi.CodeUnsupported {
			t.Errorf("got %v", err)
		}
		if time.Since(began) > 0 {
			t.Errorf("it took %v", time.Since(began))
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	running, _ := b.begin("", nil)
	id := running.ID()
	for name, test := range map[string]struct {
		op, args string
		code     abi.Code
		text     string
	}{
		"no id":           {abi.CapTaskOutput, `{}`, abi.CodeInvalidInput, "id"},
		"no id to stop":   {abi.CapTaskStop, `{}`, abi.CodeInvalidInput, "id"},
		"another type":    {abi.CapTaskOutput, `{"id":7}`, abi.CodeInvalidInput, abi.CapTaskOutput},
		"unknown":         {abi.CapTaskOutput, `{"id":"b0"}`, abi.CodeNotFound, id + " (make)"},
		"unknown, waits":  {abi.CapTaskOutput, `{"id":"b0","block":true}`, abi.CodeNotFound, id + " (make)"},
		"unknown to stop": {abi.CapTaskStop, `{"id":"b0"}`, abi.CodeNotFound, id + " (make)"},
		"past":            {abi.CapTaskOutput, `{"id":"` + id + `","timeout_ms":-1}`, abi.CodeInvalidInput, "time-out"},
		"too long":        {abi.CapTaskOutput, `{"id":"` + id + `","timeout_ms":600001}`, abi.CodeInvalidInput, "600000"},
		"bad filter":      {abi.CapTaskOutput, `{"id":"` + id + `","filter":"("}`, abi.CodeInvalidInput, "RE2"},
		"long filter":     {abi.CapTaskOutput, `{"id":"` + id + `","filter":"` + strings.Repeat("x", 5000) + `"}`, abi.CodeInvalidInput, "4096"},
		"no sleep":        {abi.CapTaskSleep, `{}`, abi.CodeInvalidInput, "1 to 3600000"},
		"a long sleep":    {abi.CapTaskSleep, `{"duration_ms":3600001}`, abi.CodeInvalidInput, "1 to 3600000"},
		"an odd sleep":    {abi.CapTaskSleep, `{"duration_ms":9223372036854775807}`, abi.CodeInvalidInput, "1 to 3600000"},
		"no operation":    {"task.other", `{}`, abi.CodeUnsupported, "task.other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := b.ask(t.Context(), test.op, json.RawMessage(test.args)); abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %s: %v", abi.CodeOf(err), err)
			}
		})
	}
	_, err := task.New().Plan(t.Context(), capability.Scope{}, abi.Request{Name: abi.CapTaskStop, Args: json.RawMessage(`{"id":"b0"}`)})
	if abi.CodeOf(err) != abi.CodeUnsupported {
		t.Errorf("without tasks: %v", err)
	}
}

// FuzzPlan plans what guests may ask for: it is refused, or can be done.
func FuzzPlan(f *testing.F) {
	f.Add(uint8(0), `{"id":"b00000000","filter":"x*"}`)
	f.Add(uint8(1), `{"id":"b00000000"}`)
	f.Add(uint8(2), `{"duration_ms":1}`)
	f.Add(uint8(2), `{"duration_ms":1e9}`)
	r, err := tasks.Open(tasks.Options{})
	if err != nil {
		f.Fatal(err)
	}
	scope := capability.Scope{Tasks: r, Report: func(abi.Progress) {}}
	names := task.New().Names()
	f.Fuzz(func(t *testing.T, op uint8, args string) {
		plan, err := task.New().Plan(t.Context(), scope, abi.Request{Name: names[int(op)%len(names)], Args: json.RawMessage(args)})
		if err != nil {
			if code := abi.CodeOf(err); code != abi.CodeInvalidInput || plan != nil {
				t.Errorf("%s: %v, and %v", code, err, plan)
			}
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := plan.Do(ctx, nil); err != nil && !slices.Contains([]abi.Code{abi.CodeNotFound, abi.CodeTimeout}, abi.CodeOf(err)) {
			t.Error(err)
		}
	})
}

// TestTasksOfPlugins lets a plugin's tools read and end what tools of the same plugin
// began; others' are not there for it, and nothing of them counts as read.
func TestTasksOfPlugins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	stopped := false
	models, _ := b.begin("of the model", func() { stopped = true })
	id := models.ID()
	own, err := b.Begin(capability.NewTask{Kind: 'b', Title: "make", Call: capability.Call{Plugin: "thief"}, Stop: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	own.End(capability.TaskOutcome{})
	b.scope.Call.Plugin = "thief"
	for _, name := range []string{abi.CapTaskOutput, abi.CapTaskStop} {
		_, _, foreign := b.ask(t.Context(), name, abi.TaskArgs{ID: id})
		_, _, none := b.ask(t.Context(), name, abi.TaskArgs{ID: "b00000000"})
		if abi.CodeOf(foreign) != abi.CodeNotFound || strings.ReplaceAll(foreign.Error(), id, "b00000000") != none.Error() {
			t.Errorf("%s: %v, and of none %v", name, foreign, none)
		}
		if _, _, err := b.ask(t.Context(), name, abi.TaskArgs{ID: own.ID()}); err != nil {
			t.Errorf("%s of its own: %v", name, err)
		}
	}
	if stopped {
		t.Error("a task of the model's was ended")
	}
	b.scope.Call.Plugin = ""
	if _, body, err := b.ask(t.Context(), abi.CapTaskOutput, abi.TaskArgs{ID: id}); err != nil || body != "of the model" {
		t.Errorf("the model reads %q, %v", body, err)
	}
}
