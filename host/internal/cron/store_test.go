package cron_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/cron"
)

// durable makes a durable job.
func (d *desk) durable(line, prompt string, recurring bool) string {
	d.Helper()
	return d.create(abi.CronArgs{Cron: line, Prompt: prompt, Recurring: recurring, Durable: true})
}

// again is another host of the same project.
func again(t *testing.T, dir string, d *desk) *desk {
	t.Helper()
	n := newDesk(t, dir)
	n.offset.Store(d.offset.Load())
	return n
}

// Durable jobs outlive a host. What was missed while none ran comes once, when one begins.
func TestDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := newDesk(t, dir)
		stop := d.run()
		d.durable("*/10 * * * *", "ten", true)
		d.durable("5 3 * * *", "three", false)
		d.every("* * * * *", "not durable")
		stop()
		d.jobs.Close()
		d.after(4*time.Hour + time.Minute)
		d = again(t, dir, d)
		if got := d.list(); got != "ten 2000-01-01T00:10:00Z, three 2000-01-01T03:05:00Z" {
			t.Errorf("there are %s", got)
		}
		defer d.run()()
		d.after(0, "1T00:10 ten missed", "1T03:05 three missed")
		d.after(9*time.Minute, "1T04:10 ten")
		if got := d.list(); got != "ten 2000-01-01T04:20:00Z" {
			t.Errorf("there are %s", got)
		}
	})
}

// Of several hosts one tells each prompt, and the next one does when it is gone.
func TestOneTells(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a := newDesk(t, dir)
		a.durable("*/10 * * * *", "ten", true)
		b, c := again(t, dir, a), again(t, dir, a)
		stopA, stopB := a.run(), b.run()
		defer c.run()()
		var got []string
		tell := func(wait time.Duration, of ...*desk) {
			time.Sleep(wait)
			synctest.Wait()
			for _, d := range of {
				d.mu.Lock()
				got = append(got, d.got...)
				d.got = nil
				d.mu.Unlock()
			}
		}
		tell(30*time.Minute, a, b, c)
		stopA()
		tell(20*time.Minute, a, b, c)
		stopB()
		tell(10*time.Minute, c)
		slices.Sort(got)
		want := "1T00:10 ten\n1T00:20 ten\n1T00:30 ten\n1T00:40 ten\n1T00:50 ten\n1T01:00 ten"
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("got\n%s", text)
		}
	})
}

// A project's jobs are its own, and a machine that went to another zone has them by that.
func TestZoneChanges(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cron")
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	open := func(project, name string, now time.Time) *cron.Jobs {
		return cron.New(cron.Options{
			Store: cron.NewStore(dir, project, nil), Now: func() time.Time { return now }, Zone: zone(t, name),
		}).Open(mainAgent)
	}
	if _, _, err := open("/a", "Europe/Berlin", at).For(mainAgent).Do(t.Context(), &abi.CronArgs{Do: abi.CronCreate, Cron: "0 20 * * *", Prompt: "x", Durable: true}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ project, zone, next string }{
		{"/a", "Europe/Berlin", "2026-06-01T20:00:00+02:00"}, {"/a", "America/New_York", "2026-06-01T20:00:00-04:00"},
		{"/a", "Asia/Tokyo", "2026-06-02T20:00:00+09:00"}, {"/b", "Europe/Berlin", ""},
	} {
		_, jobs, err := open(c.project, c.zone, at).For(mainAgent).Do(t.Context(), &abi.CronArgs{Do: abi.CronList}, time.Time{})
		if next := append(jobs, abi.CronJob{})[0].Next; err != nil || next != c.next {
			t.Errorf("%s in %s: %s, %v", c.project, c.zone, next, err)
		}
	}
}

// TestDamaged: what cannot be read is said, put aside where it is damaged, and others go on.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"empty":       func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"cut":         func(path string) error { return os.Truncate(path, 40) },
		"no JSON":     func(path string) error { return os.WriteFile(path, []byte("\x00\x00"), 0o600) },
		"a list":      func(path string) error { return os.WriteFile(path, []byte("[]"), 0o600) },
		"large":       func(path string) error { return os.Truncate(path, 2<<20) },
		"another id":  func(path string) error { return replace(path, `"id":"c`, `"id":"d`) },
		"a bad line":  func(path string) error { return replace(path, `*/10`, `*/0`) },
		"no prompt":   func(path string) error { return replace(path, `"ten"`, `""`) },
		"no times":    func(path string) error { return replace(path, `"through"`, `"thru"`) },
		"a bad time":  func(path string) error { return replace(path, `"created":"2`, `"created":"x`) },
		"newer":       func(path string) error { return replace(path, `"version":1`, `"version":2`) },
		"not ours":    func(path string) error { return os.Chmod(path, 0o644) },
		"a link":      func(path string) error { return os.Rename(path, path+".x") },
		"a directory": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				d := newDesk(t, dir)
				id := d.durable("*/10 * * * *", "ten", true)
				other := d.durable("*/10 * * * *", "other", true)
				path := filepath.Join(dir, "cron", cron.Key("/project"), id+".json")
				if err := harm(path); err != nil {
					t.Fatal(err)
				}
				stays := map[string]bool{"newer": true, "not ours": true, "a link": true, "a directory": true}[name]
				switch name {
				case "a link":
					if err := os.Symlink(path+".x", path); err != nil {
						t.Fatal(err)
					}
				case "a directory":
					if err := os.Mkdir(path, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				defer d.run()()
				d.after(10*time.Minute, "1T00:10 other")
				if n := d.log.n.Load(); n != 1 {
					t.Errorf("%d warnings were logged", n)
				}
				ok, jobs, err := d.do(abi.CronArgs{Do: abi.CronList})
				if err != nil || len(jobs) != 1 || jobs[0].ID != other || len(ok.Notes) != 1 || !strings.Contains(ok.Notes[0], id) {
					t.Errorf("listed are %v with %q, %v", jobs, ok.Notes, err)
				}
				if read, notes, err := cron.Read(filepath.Join(dir, "cron"), "/project"); err != nil || len(read) != 1 || len(notes) != 1 {
					t.Errorf("read are %v with %q, %v", read, notes, err)
				}
				d.durable("* 12 * * *", "another", true) // whoever changes something puts it aside
				_, err = os.Lstat(path)
				_, aside := os.Lstat(strings.TrimSuffix(path, ".json") + ".damaged")
				if (err == nil) != stays || (aside == nil) == stays {
					t.Errorf("it is there: %v, put aside: %v", err, aside)
				}
			})
		})
	}
}

// replace changes the text of a file.
func replace(path, old, by string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(raw), old, by, 1)), 0o600)
}

// A store that somebody else could write to is not used, and jobs of the session are.
func TestForeignStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cron"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "cron"), 0o777); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, dir)
	_, _, err := d.do(abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: "x", Durable: true})
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "must be 0700") {
		t.Errorf("got %v", err)
	}
	d.once("0 9 * * *", "x")
}

// A person deletes a job by the command, while a host runs.
func TestDeleteBeside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		root := filepath.Join(dir, "cron")
		d := newDesk(t, dir)
		defer d.run()()
		id := d.durable("*/10 * * * *", "ten", true)
		d.after(10*time.Minute, "1T00:10 ten")
		if _, err := cron.Delete(t.Context(), root, "/other", id); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("of another project: %v", err)
		}
		if job, err := cron.Delete(t.Context(), root, "/project", id); err != nil || job.Prompt != "ten" {
			t.Errorf("%+v, %v", job, err)
		}
		if _, err := cron.Delete(t.Context(), root, "/project", id); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("again: %v", err)
		}
		d.after(time.Hour)
		entries, err := os.ReadDir(filepath.Join(root, cron.Key("/project")))
		if err != nil || len(entries) != 1 { // the lock
			t.Errorf("there are %v, %v", entries, err)
		}
	})
}

// FuzzStored: whatever is in a job's file, it is listed or said to be unusable, and what is due of it
// comes, or not, without end.
func FuzzStored(f *testing.F) {
	const job = `{"version":1,"project":"/project","id":"c1234abcd","cron":"*/10 * * * *","prompt":"x","recurring":true,"created":"2026-06-01T12:00:00Z","through":"2026-06-01T12:00:00Z"}`
	f.Add([]byte(job))
	f.Add([]byte(strings.Replace(job, `"through":"2026`, `"through":"9999`, 1)))
	f.Add([]byte(strings.Replace(job, `"through":"2026`, `"through":"0001`, 1)))
	f.Add([]byte(strings.Replace(job, `"through"`, `"fired":{"due":"0001-01-01T00:00:00Z","last":true},"through"`, 1)))
	f.Add([]byte(strings.Replace(job, `*/10 * * * *`, `0 0 30 2 *`, 1)))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		root := filepath.Join(t.TempDir(), "cron")
		dir := filepath.Join(root, cron.Key("/project"))
		for _, path := range []string{root, dir} {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "c1234abcd.json"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		jobs, notes, err := cron.Read(root, "/project")
		if len(jobs)+len(notes) != 1 || err != nil {
			t.Errorf("%v, %q, %v", jobs, notes, err)
		}
		now := time.Date(2026, 6, 1, 13, 0, 0, 0, time.UTC)
		log := slog.New(slog.DiscardHandler)
		open := cron.New(cron.Options{Store: cron.NewStore(root, "/project", log), Now: func() time.Time { return now }, Zone: time.UTC, Logger: log}).Open(mainAgent)
		n := 0
		takeDue(open, func(capability.DuePrompt) { n++ })
		if n > 2 { // one that was half fired, and one that is due
			t.Errorf("%d came", n)
		}
	})
}

// TestForget: what somebody made since a store was found to be of no use stays.
func TestForget(t *testing.T) {
	t.Parallel()
	project, root := t.TempDir(), filepath.Join(t.TempDir(), "cron")
	log := slog.New(slog.DiscardHandler)
	jobs := cron.New(cron.Options{Store: cron.NewStore(root, project, log), Logger: log}).Open(mainAgent)
	args := abi.CronArgs{Do: abi.CronCreate, Cron: "0 20 * * *", Prompt: "x", Durable: true}
	if _, _, err := jobs.For(mainAgent).Do(t.Context(), &args, time.Time{}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, cron.Key(project))
	left := func() int {
		found, _, err := cron.Read(root, project)
		if err != nil {
			t.Error(err)
		}
		return len(found)
	}
	if err := cron.Forget(t.Context(), dir); !errors.Is(err, cron.ErrInUse) || left() != 1 {
		t.Errorf("got %v, and %d are left", err, left())
	}
	if err := os.Remove(project); err != nil {
		t.Fatal(err)
	}
	if err := cron.Forget(t.Context(), dir); err != nil || left() != 0 {
		t.Errorf("got %v, and %d are left", err, left())
	}
}

// takeDue takes what is due, until nothing is.
func takeDue(jobs *cron.Jobs, told func(capability.DuePrompt)) {
	for more := true; more; {
		more = false
		jobs.Due(context.Background(), func(p capability.DuePrompt) bool {
			more = true
			told(p)
			return true
		})
	}
}

// Who takes prompts at times gets them as others do.
func TestDueAtTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d, other := newDesk(t, dir), newDesk(t, dir)
		at := func(wait time.Duration, want ...string) {
			t.Helper()
			time.Sleep(wait)
			d.jobs.Due(t.Context(), d.take)
			d.after(0, want...)
		}
		at(0)
		other.create(abi.CronArgs{Cron: "1 * * * *", Prompt: "theirs", Durable: true, Recurring: true})
		at(time.Second)
		at(time.Minute, "1T00:01 theirs")
		d.every("*/2 * * * *", "mine")
		at(59*time.Second, "1T00:02 mine")
		at(0)
		at(3*time.Hour, "1T00:04 mine missed", "1T01:01 theirs missed")
		d.refuse.Store(true)
		at(2*time.Minute, "1T03:04 mine")
		d.refuse.Store(false)
		at(0, "1T03:04 mine again")
		defer d.run()()
		d.after(2*time.Minute, "1T03:06 mine")
	})
}
