package cron_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/cron"
	"github.com/toolquay/toolquay/permissions"
)

var mainAgent = permissions.Caller{Agent: "main", Chain: "c"}

// desk is a host with one session whose prompts are taken, and a clock that can be set. It is
// Saturday, the first of January 2000, midnight.
type desk struct {
	*testing.T
	cron   *cron.Cron
	jobs   *cron.Jobs
	offset atomic.Int64
	looks  atomic.Int64 // at the clock
	turn   chan struct{}
	log    logged

	mu  sync.Mutex
	got []string
	// refuse has what comes not taken.
	refuse atomic.Bool
}

func newDesk(t *testing.T, dir string) *desk {
	t.Helper()
	d := &desk{T: t, turn: make(chan struct{}, 1)}
	o := cron.Options{Now: d.now, Zone: time.UTC, Logger: slog.New(&d.log)}
	if dir != "" {
		o.Store = cron.NewStore(filepath.Join(dir, "cron"), "/project", o.Logger)
	}
	d.cron = cron.New(o)
	d.jobs = d.cron.Open(mainAgent)
	return d
}

func (d *desk) now() time.Time {
	d.looks.Add(1)
	return time.Now().Add(time.Duration(d.offset.Load()))
}

// run takes prompts until the function that it returns is called.
func (d *desk) run() (stop func()) {
	ctx, cancel := context.WithCancel(d.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.jobs.Run(ctx, cron.Taker{Take: d.take, Idle: func(ctx context.Context) bool {
			select {
			case d.turn <- struct{}{}:
				<-d.turn
				return true
			case <-ctx.Done():
				return false
			}
		}})
	}()
	return func() { cancel(); <-ended }
}

func (d *desk) take(p capability.DuePrompt) bool {
	text := []string{p.Due.UTC().Format("2T15:04"), p.Prompt}
	for _, is := range []struct {
		so   bool
		what string
	}{{p.Last && p.Recurring, "last"}, {p.Missed, "missed"}, {p.Again, "again"}} {
		if is.so {
			text = append(text, is.what)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got = append(d.got, strings.Join(text, " "))
	return !d.refuse.Load()
}

// after waits, and wants to have got prompts since the last time.
func (d *desk) after(wait time.Duration, want ...string) {
	d.Helper()
	time.Sleep(wait)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := strings.Join(d.got, "\n"); got != strings.Join(want, "\n") {
		d.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	d.got = nil
}

func (d *desk) do(args abi.CronArgs) (abi.CronOK, []abi.CronJob, error) {
	return d.jobs.For(mainAgent).Do(d.Context(), &args, time.Time{})
}

// create makes a job, and returns its id.
func (d *desk) create(args abi.CronArgs) string {
	d.Helper()
	args.Do = abi.CronCreate
	ok, _, err := d.do(args)
	if err != nil {
		d.Fatal(err)
	}
	return ok.Job.ID
}

func (d *desk) every(line, prompt string) string {
	d.Helper()
	return d.create(abi.CronArgs{Cron: line, Prompt: prompt, Recurring: true})
}

func (d *desk) once(line, prompt string) string {
	d.Helper()
	return d.create(abi.CronArgs{Cron: line, Prompt: prompt})
}

// list are the jobs by prompt, and when they come next.
func (d *desk) list() string {
	d.Helper()
	_, jobs, err := d.do(abi.CronArgs{Do: abi.CronList})
	if err != nil {
		d.Fatal(err)
	}
	var all []string
	for _, j := range jobs {
		all = append(all, j.Prompt+" "+j.Next)
	}
	return strings.Join(all, ", ")
}

// logged counts what is logged as a warning.
type logged struct {
	slog.Handler
	n atomic.Int64
}

func (l *logged) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l *logged) Handle(context.Context, slog.Record) error        { l.n.Add(1); return nil }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler               { return l }

// Recurring jobs come at each of their times, others once, and where there is none nobody wakes.
func TestDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		defer d.run()()
		five := d.every("*/5 * * * *", "five")
		d.once("7 * * * *", "seven")
		d.after(5*time.Minute - time.Second)
		d.after(time.Second, "1T00:05 five")
		d.after(10*time.Minute, "1T00:07 seven", "1T00:10 five", "1T00:15 five")
		if got := d.list(); got != "five 2000-01-01T00:20:00Z" {
			t.Errorf("there are %s", got)
		}
		if _, _, err := d.do(abi.CronArgs{Do: abi.CronDelete, ID: five}); err != nil {
			t.Error(err)
		}
		d.after(time.Minute)
		before := d.looks.Load()
		d.after(24 * time.Hour)
		if n := d.looks.Load() - before; n != 0 {
			t.Errorf("without a job the clock was looked at %d times in a day", n)
		}
		d.once("30 0 * * *", "again")
		d.after(30*time.Minute, "2T00:30 again")
	})
}

// While a job waits, the clock is looked at about once a minute, and not more.
func TestNoBusyLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		defer d.run()()
		d.once("0 12 1 3 *", "spring")
		d.after(time.Minute)
		before := d.looks.Load()
		d.after(24 * time.Hour)
		if n := d.looks.Load() - before; n < 24*60 || n > 3*24*60 {
			t.Errorf("in a day the clock was looked at %d times", n)
		}
	})
}

// Several that are due at once come by their times, then their ids.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		d.turn <- struct{}{} // which holds them back
		defer d.run()()
		ids := map[string]string{}
		for i := range 6 {
			name := fmt.Sprint("b", i)
			ids[d.create(abi.CronArgs{Cron: "2 * * * *", Prompt: name, Durable: i%2 == 0})] = name
		}
		d.once("1 * * * *", "a")
		d.after(10 * time.Minute)
		want := []string{"1T00:01 a missed"}
		_, jobs, _ := d.do(abi.CronArgs{Do: abi.CronList})
		for i, j := range jobs {
			if i > 1 && j.ID < jobs[i-1].ID {
				t.Errorf("%s is behind %s", j.ID, jobs[i-1].ID)
			}
			if name := ids[j.ID]; name != "" {
				want = append(want, "1T00:02 "+name+" missed")
			}
		}
		<-d.turn // the turn ends
		d.after(0, want...)
	})
}

// A recurring job ends after seven days, and its last prompt says so, also if it is its first.
func TestLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		defer d.run()()
		d.every("0 9 * * *", "daily")
		d.every("0 0 9 1 *", "yearly")
		d.every("30 0 * * sat", "weekly")
		d.after(6*24*time.Hour+12*time.Hour, "1T00:30 weekly last", "1T09:00 daily", "2T09:00 daily", "3T09:00 daily", "4T09:00 daily", "5T09:00 daily", "6T09:00 daily", "7T09:00 daily last")
		d.after(2*24*time.Hour, "9T00:00 yearly last")
		if got := d.list(); got != "" {
			t.Errorf("there are still %s", got)
		}
	})
}

// What comes due while a turn runs comes after it, once.
func TestTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		defer d.run()()
		d.every("*/5 * * * *", "five")
		d.turn <- struct{}{}
		d.after(21 * time.Minute)
		<-d.turn
		d.after(0, "1T00:05 five missed")
		d.after(4*time.Minute, "1T00:25 five")
	})
}

// TestClock sets the clock: forward, back by little, back by much.
func TestClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		defer d.run()()
		set := func(by time.Duration) { d.offset.Add(int64(by)) }
		d.every("0,30 * * * *", "half")
		d.create(abi.CronArgs{Cron: "15 * * * *", Prompt: "quarter", Recurring: true, Durable: true})
		d.after(40*time.Minute, "1T00:15 quarter", "1T00:30 half")
		set(5 * time.Hour) // 05:40, seen within a minute
		d.after(time.Minute, "1T01:00 half missed", "1T01:15 quarter missed")
		set(-2 * time.Hour) // 03:41: nothing comes again
		d.after(2*time.Hour - time.Minute)
		d.after(21*time.Minute, "1T06:00 half")
		set(-4 * time.Hour) // 02:01: all begins anew
		d.after(15*time.Minute, "1T02:15 quarter")
		d.after(15*time.Minute, "1T02:30 half")
		set(10 * 365 * 24 * time.Hour) // and what is over by then comes for the last time
		d.after(time.Minute, "1T03:00 half last missed", "1T03:15 quarter last missed")
		if got := d.list(); got != "" {
			t.Errorf("there are still %s", got)
		}
	})
}

// A clock that is set back by much has a job come at its next time, not up to a minute later; what
// was not taken comes again at once, whatever the clock shows.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, t.TempDir())
			stop := d.run()
			d.create(abi.CronArgs{Cron: "0,30 * * * *", Prompt: "half", Recurring: true, Durable: durable})
			d.after(29*time.Minute + 20*time.Second)
			d.offset.Add(-int64(4*time.Hour + 10*time.Second)) // seen at 20:29:50
			d.after(40 * time.Second)
			d.after(11*time.Second, "31T20:30 half")
			d.refuse.Store(true)
			d.after(30*time.Minute, "31T21:00 half")
			stop()
			d.refuse.Store(false)
			d.offset.Add(-int64(2 * time.Hour))
			defer d.run()()
			d.after(0, "31T21:00 half again")
		})
	}
}

// What another process of the project makes is noticed by one that knew of no job, too.
func TestMadeElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d, other := newDesk(t, dir), newDesk(t, dir) // which takes nothing
		defer d.run()()
		d.after(time.Hour)
		other.create(abi.CronArgs{Cron: "10 * * * *", Prompt: "theirs", Durable: true})
		d.after(10*time.Minute, "1T01:10 theirs")
	})
}

// A second loop waits for the first, as long as it is asked to.
func TestSecondLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		stop := d.run()
		d.once("1 * * * *", "one")
		second := d.run()
		synctest.Wait()
		second()
		third := d.run()
		stop()
		d.after(time.Minute, "1T00:01 one")
		third()
	})
}

// Who does not take a prompt gets it again.
func TestAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		d.refuse.Store(true)
		stop := d.run()
		d.once("1 * * * *", "own")
		d.create(abi.CronArgs{Cron: "2 * * * *", Prompt: "durable", Durable: true})
		d.after(time.Minute, "1T00:01 own")
		stop()
		d.refuse.Store(false)
		stop = d.run()
		d.after(0, "1T00:01 own again")
		stop()
		d.refuse.Store(true)
		stop = d.run()
		d.after(time.Minute, "1T00:02 durable")
		if got := d.list(); got != "durable " {
			t.Errorf("there are %s", got)
		}
		stop()
		d.refuse.Store(false)
		defer d.run()()
		d.after(0, "1T00:02 durable again")
		d.after(2 * time.Hour)
	})
}

// An agent has its own jobs; the main agent has those of its chain.
func TestAgents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, t.TempDir())
	view := func(agent, chain, team string) capability.Cron {
		by := permissions.Caller{Agent: agent, Chain: chain, Team: team}
		jobs := d.jobs
		if agent != "main" {
			jobs = d.cron.Open(by)
		}
		return jobs.For(by)
	}
	helper, other, foreign, mate := view("helper", "c", ""), view("other", "c", ""), view("main", "x", ""), view("mate", "c", "team")
	ids := map[string]string{}
	for name, v := range map[string]capability.Cron{"main": d.jobs.For(mainAgent), "helper": helper, "other": other, "foreign": foreign} {
		ok, _, err := v.Do(t.Context(), &abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: name}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = ok.Job.ID
	}
	knows := func(v capability.Cron) int {
		_, jobs, err := v.Do(t.Context(), &abi.CronArgs{Do: abi.CronList}, time.Time{})
		if err != nil {
			t.Error(err)
		}
		return len(jobs)
	}
	if m, h, f, n := knows(d.jobs.For(mainAgent)), knows(helper), knows(foreign), knows(mate); m != 3 || h != 1 || f != 1 || n != 0 {
		t.Errorf("they know %d, %d, %d and %d", m, h, f, n)
	}
	remove := func(v capability.Cron, name string) error {
		_, _, err := v.Check(t.Context(), &abi.CronArgs{Do: abi.CronDelete, ID: ids[name]})
		if _, _, done := v.Do(t.Context(), &abi.CronArgs{Do: abi.CronDelete, ID: ids[name]}, time.Time{}); (err == nil) != (done == nil) {
			t.Errorf("%v, and then %v", err, done)
		}
		return err
	}
	for _, name := range []string{"main", "other", "foreign"} {
		if err := remove(helper, name); abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), ids["helper"]) || strings.Contains(err.Error(), ids["other"]) && name != "other" {
			t.Errorf("a helper deletes that of %s: %v", name, err)
		}
	}
	if err := remove(mate, "main"); abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), "nor any other") {
		t.Errorf("got %v", err)
	}
	if err := remove(d.jobs.For(mainAgent), "helper"); err != nil || knows(helper) != 0 {
		t.Errorf("the main agent deletes a helper's: %v", err)
	}
	for _, v := range []capability.Cron{helper, mate, view("main", "c", "team")} {
		if _, _, err := v.Check(t.Context(), &abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: "x", Durable: true}); abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), "without durable") {
			t.Errorf("a durable job of another agent: %v", err)
		}
	}
}

// TestRefused: what cannot be scheduled is said before anybody is asked.
func TestRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	ok := abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: "x"}
	for name, c := range map[string]struct {
		change func(*abi.CronArgs)
		code   abi.Code
		says   string
	}{
		"no line":         {func(a *abi.CronArgs) { a.Cron = "" }, abi.CodeInvalidInput, "has 0"},
		"never":           {func(a *abi.CronArgs) { a.Cron = "0 0 30 2 *" }, abi.CodeInvalidInput, "on no day within a year"},
		"just passed":     {func(a *abi.CronArgs) { a.Cron = d.now().UTC().Add(-time.Minute).Format("4 15 2 1 *") }, abi.CodeInvalidInput, "comes"},
		"not this year":   {func(a *abi.CronArgs) { a.Cron = "0 0 29 2 mon,*/7" }, "", ""},
		"no prompt":       {func(a *abi.CronArgs) { a.Prompt = " \n" }, abi.CodeInvalidInput, "blank"},
		"a long prompt":   {func(a *abi.CronArgs) { a.Prompt = strings.Repeat("é", 20_001) }, abi.CodeInvalidInput, "20001 characters; at most 20000"},
		"the longest":     {func(a *abi.CronArgs) { a.Prompt = strings.Repeat("é", 20_000) }, "", ""},
		"lines":           {func(a *abi.CronArgs) { a.Prompt = "a\n\tb\r\n" }, "", ""},
		"a control":       {func(a *abi.CronArgs) { a.Prompt = "a\x1b[2J" }, abi.CodeInvalidInput, "U+001B"},
		"no UTF-8":        {func(a *abi.CronArgs) { a.Prompt = "a\xff" }, abi.CodeInvalidInput, "UTF-8"},
		"no place":        {func(a *abi.CronArgs) { a.Durable = true }, abi.CodeUnsupported, "ends with the session"},
		"no operation":    {func(a *abi.CronArgs) { a.Do = "fire" }, abi.CodeInvalidInput, "create, delete and list"},
		"nothing to list": {func(a *abi.CronArgs) { a.Do = abi.CronDelete; a.ID = "../x" }, abi.CodeNotFound, "nor any other"},
	} {
		args := ok
		c.change(&args)
		_, _, err := d.jobs.For(mainAgent).Check(t.Context(), &args)
		if c.code == "" && err == nil {
			continue
		}
		if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if args.Do != "fire" {
			if _, _, again := d.do(args); again == nil {
				t.Errorf("%s: it was done", name)
			}
		}
	}
	if got := d.list(); got != "" {
		t.Errorf("there are %s", got)
	}
}

// A person who answers after the time that they were shown gets the prompt at once.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		defer d.run()()
		v := d.jobs.For(mainAgent)
		args := abi.CronArgs{Do: abi.CronCreate, Cron: "5 0 1 1 *", Prompt: "tea"}
		words, at, err := v.Check(t.Context(), &args)
		if err != nil || !strings.Contains(words, "next: Sat 2000-01-01 00:05 UTC") {
			t.Fatal(words, err)
		}
		d.after(10 * time.Minute)
		if _, _, err := v.Do(t.Context(), &args, at); err != nil {
			t.Fatal(err)
		}
		d.after(0, "1T00:05 tea missed")
	})
}

// There are fifty jobs of a chain, durable ones among them, and no more. A list cuts long prompts.
func TestLimit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, t.TempDir())
	helper := permissions.Caller{Agent: "helper", Chain: "c"}
	other := d.cron.Open(helper).For(helper)
	add := func(v capability.Cron, durable bool) error {
		_, _, err := v.Do(t.Context(), &abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: strings.Repeat("é", 2000), Durable: durable}, time.Time{})
		return err
	}
	var last string
	for i := range abi.MaxCronJobs {
		v, durable := d.jobs.For(mainAgent), i%3 == 1
		if i%3 == 2 {
			v = other
		}
		if err := add(v, durable); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, _, err := d.jobs.For(mainAgent).Check(t.Context(), &abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: "x"}); abi.CodeOf(err) != abi.CodeLimit {
		t.Errorf("a person would be asked: %v", err)
	}
	for _, durable := range []bool{true, false} {
		if err := add(d.jobs.For(mainAgent), durable); abi.CodeOf(err) != abi.CodeLimit || !strings.Contains(err.Error(), "there are 50") {
			t.Errorf("durable %t: %v", durable, err)
		}
	}
	if err := add(other, false); abi.CodeOf(err) != abi.CodeLimit {
		t.Errorf("got %v", err)
	}
	_, jobs, _ := d.do(abi.CronArgs{Do: abi.CronList})
	for _, j := range jobs {
		if last = j.ID; j.Prompt != strings.Repeat("é", 1000)+" [1000 more characters]" {
			t.Errorf("listed with %.2000s", j.Prompt)
		}
	}
	if _, _, err := d.do(abi.CronArgs{Do: abi.CronDelete, ID: last}); err != nil {
		t.Error(err)
	}
	if err := add(d.jobs.For(mainAgent), true); err != nil {
		t.Error(err)
	}
}

// The person who is asked reads when it comes, how long it lasts, and what it says.
func TestDescribe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		says := func(args abi.CronArgs) string {
			t.Helper()
			words, _, err := d.jobs.For(mainAgent).Check(t.Context(), &args)
			if err != nil {
				t.Fatal(err)
			}
			return words
		}
		want := "At 09:07 on weekdays (7 9 * * 1-5), for 7 days, while this session runs\n" +
			"next: Mon 2000-01-03 09:07 UTC; Tue 2000-01-04 09:07 UTC; Wed 2000-01-05 09:07 UTC\n\nlook\nhere\n"
		if got := says(abi.CronArgs{Do: abi.CronCreate, Cron: "7 9 * * 1-5", Prompt: "look\nhere", Recurring: true}); got != want {
			t.Errorf("got\n%s", got)
		}
		id := d.create(abi.CronArgs{Cron: "7 9 * * *", Prompt: "look", Durable: true})
		want = "Every day at 09:07 (7 9 * * *), once, in whichever session of the project runs then\nnext: Sat 2000-01-01 09:07 UTC\n\nlook\n"
		if got := says(abi.CronArgs{Do: abi.CronDelete, ID: id}); got != want {
			t.Errorf("got\n%s", got)
		}
		want = "At 09:07 on Monday (7 9 * * 1), once, while this session runs\nnext: Mon 2000-01-03 09:07 UTC\n\nlook\n" // as it ends before its second time
		weekly := abi.CronArgs{Do: abi.CronCreate, Cron: "7 9 * * 1", Prompt: "look", Recurring: true}
		if got := says(weekly); got != want {
			t.Errorf("got\n%s", got)
		}
		passed := abi.CronArgs{Do: abi.CronCreate, Cron: "59 23 31 12 *", Prompt: "look"}
		if _, _, err := d.jobs.For(mainAgent).Check(t.Context(), &passed); err == nil || !strings.Contains(err.Error(), "has passed, and comes again on 2000-12-31: it is 2000-01-01 00:00:00 now;") {
			t.Errorf("got %v", err)
		}
		for line, notes := range map[string]int{weekly.Cron: 1, "7 9 * * 1,4": 0} {
			weekly.Cron = line
			if ok, _, err := d.do(weekly); err != nil || len(ok.Notes) != notes || !ok.Job.Recurring {
				t.Errorf("%s: %+v, %v", line, ok, err)
			}
		}
	})
}
