package settings_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestMain has tests run side by side that wait for files and for time to pass.
func TestMain(m *testing.M) {
	testenv.Waiting()
	m.Run()
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
	rule := settings.Rule{Text: "A", Expires: time.Now().Add(2 * time.Second)}
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
