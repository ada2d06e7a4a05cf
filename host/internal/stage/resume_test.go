package stage_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// interrupted applies everything, and panics before the result is recorded, as if the host was
// killed there.
func (r *room) interrupted() (err error) {
	r.tb.Helper()
	s := r.open(r.history)
	stage.AtMoment(s, func(moment string) {
		if moment == "gone" {
			panic("killed")
		}
	})
	defer func() {
		if recover() != nil {
			err = errors.Join(errors.New("killed"), os.Rename(filepath.Join(r.dir, "gone"), filepath.Join(r.dir, "upper")))
		}
	}()
	_, err = s.Apply(r.tb.Context(), everything)
	return err
}

// unnoted applies everything, but the log cannot be written.
func (r *room) unnoted() ([]stage.Applied, error) {
	r.tb.Helper()
	log, aside := filepath.Join(r.dir, "log.jsonl"), filepath.Join(r.dir, "aside")
	m := &meddler{History: r.history}
	m.do = func() {
		m.do = func() {}
		if err := errors.Join(os.Rename(log, aside), os.Mkdir(log, 0o700)); err != nil {
			r.tb.Error(err)
		}
	}
	done, failed := r.open(m).Apply(r.tb.Context(), everything)
	if err := errors.Join(os.Remove(log), os.Rename(aside, log)); err != nil {
		r.tb.Fatal(err)
	}
	return done, failed
}

// TestWrittenAndNotNoted names the file too whose note failed: it was written.
func TestWrittenAndNotNoted(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.put("a", "old")
	r.stage("a", "new")
	r.stage("b", "made")
	done, err := r.unnoted()
	if err == nil || r.said(done) != "wrote a, made b" || done[0].History != "h1" || done[0].Call == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if text, _ := os.ReadFile(r.path("a")); string(text) != "new" || r.staged() != "" {
		t.Errorf("it is %q; staged still: %s", text, r.staged())
	}
	done, err = r.Apply(t.Context(), everything)
	if !errors.Is(err, stage.ErrNothing) || len(done) > 0 || r.staged() != "" {
		t.Errorf("again: %s, %v", r.said(done), err)
	}
}

// TestResumed stages a file anew after an applying of it that was interrupted: it
// knows what that wrote, and no other content.
func TestResumed(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"written": "old", "made": ""} {
		for _, rounds := range []int{1, 3} {
			r := newRoom(t)
			if first != "" {
				r.put("a", first)
			}
			before := tree(t, r.work)
			for range rounds {
				r.stage("a", r.staged()+"+")
				if err := r.interrupted(); err == nil {
					t.Fatal("it came to its end")
				}
			}
			r.Store = r.open(r.history)
			r.stage("a", "last")
			done, err := r.Apply(t.Context(), everything)
			if err != nil || r.said(done) != "wrote a" || r.staged() != "" {
				t.Fatalf("%s: %s, %v", name, r.said(done), err)
			}
			if text, _ := os.ReadFile(r.path("a")); string(text) != "last" {
				t.Errorf("%s: it is %q", name, text)
			}
			if _, err := r.history.Restore(t.Context(), history.Selection{}, history.RestoreOptions{}); err != nil || tree(t, r.work) != before {
				t.Errorf("%s: undone it is %s, %v", name, tree(t, r.work), err)
			}
		}
	}
}

// TestResumedOverSomethingElse is refused as ever: what something else wrote is not what
// was staged, nor is it once that was discarded.
func TestResumedOverSomethingElse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *room){
		"changed":   func(r *room) { r.put("a", "somebody's") },
		"removed":   func(r *room) { _ = os.Remove(r.path("a")) },
		"discarded": func(r *room) { r.discardAll(); r.put("a", "old"); r.stage("a", "other"); r.put("a", "new") },
	} {
		r := newRoom(t)
		r.put("a", "old")
		r.stage("a", "new")
		if err := r.interrupted(); err == nil {
			t.Fatal("it came to its end")
		}
		change(r)
		if name != "discarded" {
			r.stage("a", "last")
		}
		before := tree(t, r.work)
		_, err := r.Apply(t.Context(), everything)
		if _, ok := errors.AsType[*stage.ConflictError](err); !ok || tree(t, r.work) != before {
			t.Errorf("%s: %v\n%s", name, err, tree(t, r.work))
		}
	}
}

func (r *room) discardAll() {
	r.tb.Helper()
	if _, err := r.Discard(r.tb.Context(), everything); err != nil {
		r.tb.Fatal(err)
	}
}
