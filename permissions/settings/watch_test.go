package settings_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/settings"
)

// bell counts what rings it.
type bell chan struct{}

func (b bell) ring() { b <- struct{}{} }

// wait wants a ring, and takes those that follow shortly with it: one change may
// show in several steps.
func (b bell) wait(t *testing.T, what string) {
	t.Helper()
	select {
	case <-b:
	case <-time.After(testenv.Patience):
		t.Fatalf("no word of it: %s", what)
	}
	for {
		select {
		case <-b:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

func newBell() bell { return make(bell, 1000) }

// step is what happens to files and must be told of.
type step struct {
	name string
	do   func() error
}

func TestWatch(t *testing.T) {
	t.Parallel()
	t.Run("told by the system", func(t *testing.T) {
		t.Parallel()
		testenv.Permitted(t, testenv.Linux) // others look for new directories
		testWatch(t, true, time.Hour)
	})
	t.Run("looking", func(t *testing.T) {
		t.Parallel()
		testWatch(t, false, 20*time.Millisecond)
	})
}

func testWatch(t *testing.T, told bool, poll time.Duration) {
	t.Helper()
	p := newPlace(t)
	b := newBell()
	w := settings.WatchBy(context.Background(), p.load(t).Watched, b.ring, told, poll)
	defer w.Close()
	p.write(t, "elsewhere/other", "")
	file, other := p.path(projectFile), p.path("elsewhere/other")
	dir := filepath.Dir(file)
	put := func(path, text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for _, s := range []step{
		{"created, with its directory", func() error { return errors.Join(os.MkdirAll(dir, 0o700), put(file, "a")()) }},
		{"changed", put(file, "bb")},
		{"emptied", func() error { return os.Truncate(file, 0) }},
		{"replaced", func() error { return errors.Join(put(other, "c")(), os.Rename(other, file)) }},
		{"changed after that", put(file, "d")},
		{"deleted", func() error { return os.Remove(file) }},
		{"created again", put(file, "e")},
		{"its directory deleted", func() error { return os.RemoveAll(dir) }},
		{"made again", func() error { return errors.Join(os.MkdirAll(dir, 0o700), put(file, "f")()) }},
		{"its directory moved away", func() error { return os.Rename(dir, p.path("moved")) }},
		{"another in its place", func() error { return errors.Join(os.Mkdir(dir, 0o700), put(file, "g")()) }},
		{"changed in that", put(file, "h")},
		{"made a link", func() error {
			return errors.Join(put(other, "i")(), os.Remove(file), os.Symlink(other, file))
		}},
		{"changed behind the link", put(other, "k")},
		{"a drop-in", func() error {
			return errors.Join(os.MkdirAll(p.path(systemDropIn), 0o700), put(p.path(systemDropIn+"a.toml"), "")())
		}},
		{"changed drop-in", put(p.path(systemDropIn+"a.toml"), "x")},
		{"local settings", func() error { p.write(t, claudeLocal, "{}"); return nil }},
	} {
		if err := s.do(); err != nil {
			t.Fatal(s.name, err)
		}
		b.wait(t, s.name)
	}
}

func TestWatchTellsOfNothingElse(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "")
	b := newBell()
	w := settings.Watch(context.Background(), []string{p.path(userFile)}, b.ring)
	for range 5 {
		p.write(t, "user/other.toml", "x")
		if _, err := os.ReadFile(p.path(userFile)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	w.Close()
	w.Close()
	if len(b) != 0 {
		t.Errorf("it rang %d times", len(b))
	}
}

// TestNothingIsToldAfterClose changes a file as fast as it can while watchers are
// closed, or their context ends.
func TestNothingIsToldAfterClose(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				p.write(t, userFile, strings.Repeat("#", i%100))
			}
		}
	}()
	for i := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		closed := false
		w := settings.Watch(ctx, []string{p.path(userFile)}, func() {
			if closed {
				t.Error("told after it was closed")
			}
		})
		time.Sleep(time.Duration(i) * 15 * time.Millisecond)
		if i%2 == 0 {
			cancel()
		}
		w.Close()
		closed = true // the race detector tells if a call is still under way
		cancel()
	}
	close(stop)
	<-done
}

// followed are live settings and what they told.
type followed struct {
	*settings.Live
	taken  chan *settings.Loaded
	failed chan error
}

func follow(t *testing.T, p *place, settle time.Duration, take func(*settings.Loaded) error) *followed {
	t.Helper()
	f := &followed{taken: make(chan *settings.Loaded, 100), failed: make(chan error, 100)}
	f.Live = settings.FollowSettling(context.Background(), p.options, p.load(t), func(l *settings.Loaded) error {
		if err := take(l); err != nil {
			return err
		}
		f.taken <- l
		return nil
	}, func(err error) { f.failed <- err }, settle)
	t.Cleanup(f.Close)
	return f
}

func anything(*settings.Loaded) error { return nil }

// next waits for settings to be taken that are as they should be.
func (f *followed) next(t *testing.T, what string, ok func(*settings.Loaded) bool) {
	t.Helper()
	for {
		select {
		case l := <-f.taken:
			if ok(l) {
				if f.Current() == nil {
					t.Error("nothing is current")
				}
				return
			}
		case <-time.After(testenv.Patience):
			t.Fatalf("never taken: %s", what)
		}
	}
}

func (f *followed) fault(t *testing.T, says string) {
	t.Helper()
	select {
	case err := <-f.failed:
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v; it should say %s", err, says)
		}
	case <-time.After(testenv.Patience):
		t.Fatalf("never told: %s", says)
	}
}

// denies reports how many deny rules there are.
func denies(n int) func(*settings.Loaded) bool {
	return func(l *settings.Loaded) bool {
		sum := 0
		for _, s := range l.Rules {
			sum += len(s.Deny)
		}
		return sum == n
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "permissions.deny = ['A']")
	f := follow(t, p, time.Second, anything)
	p.write(t, projectFile, "permissions.deny = ['B']")
	f.next(t, "one more", denies(2))
	p.write(t, userFile, "permissions.deny = ['A',")
	f.fault(t, "user/settings.toml: line 1: ")
	if l := f.Current(); !denies(2)(l) {
		t.Errorf("a broken file lost rules: %+v", l.Rules)
	}
	p.write(t, userFile, "permissions.deny = ['A', 'C']")
	f.next(t, "mended", denies(3))
	if err := os.Remove(p.path(projectFile)); err != nil {
		t.Fatal(err)
	}
	f.next(t, "one deleted", denies(2))
	f.Close()
	f.Close()
}

// TestHalfWrittenFilesLoseNothing empties and fills a file again and again, as
// some editors do, and deletes and makes it, as others do.
func TestHalfWrittenFilesLoseNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, userFile, "permissions.deny = ['A']")
	f := follow(t, p, time.Hour, func(l *settings.Loaded) error {
		if denies(0)(l) {
			t.Error("the rule is lost")
		}
		return nil
	})
	for i := range 4 {
		if i%2 == 0 {
			p.write(t, userFile, "")
		} else if err := os.Remove(p.path(userFile)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // so that it is seen most of the time
		p.write(t, userFile, "permissions.deny = ['A']")
		time.Sleep(200 * time.Millisecond)
	}
	p.write(t, userFile, "permissions.deny = ['A', 'B']")
	f.next(t, "the last", denies(2))
}

func TestWhatIsNotTakenIsTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	refuse := errors.New("I do not like it")
	f := follow(t, p, time.Second, func(l *settings.Loaded) error {
		if denies(1)(l) {
			return refuse
		}
		return nil
	})
	p.write(t, userFile, "permissions.deny = ['A']")
	f.fault(t, refuse.Error())
	if l := f.Current(); !denies(0)(l) {
		t.Errorf("it is current all the same: %+v", l.Rules)
	}
	p.write(t, userFile, "permissions.deny = ['A', 'B']")
	f.next(t, "liked", denies(2))
}

func TestFollowedRulesExpire(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.options.Now = time.Now
	rule := settings.Rule{Text: "A", Expires: time.Now().Add(3 * time.Second)}
	if _, err := settings.AddRule(p.user(), allow, rule); err != nil {
		t.Fatal(err)
	}
	f := follow(t, p, time.Second, anything)
	for began := time.Now(); len(f.Current().Rules[0].Allow) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > testenv.Patience {
			t.Fatal("it never expires")
		}
	}
}
