package retention_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/retention"
)

// Scheduled prompts are kept as long as their project is there, and then like sessions.
func TestSchedules(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Cron = filepath.Join(p.State, "cron")
	project := t.TempDir()
	states := map[string]retention.State{}
	store := func(n int, text string, age time.Duration, want retention.State) {
		name := fmt.Sprintf("%032d", n)
		dir := filepath.Join(p.Cron, name)
		p.put(filepath.Join(dir, "lock"), 0, age)
		if text != "" {
			p.must(os.WriteFile(filepath.Join(dir, "c1234abcd.json"), []byte(text), 0o600))
		}
		p.backdate(dir, age)
		states[name] = want
	}
	of := func(project string) string { return fmt.Sprintf(`{"version": 1, "project": %q}`, project) }
	store(1, of(project), 400*day, retention.Kept)
	store(2, of(project+"/gone"), 29*day, retention.Kept)
	store(3, of(project+"/gone"), 31*day, retention.Removed)
	store(4, "", 31*day, retention.Removed)
	store(5, "", day, retention.Kept)
	store(6, "{", 31*day, retention.Removed)
	p.put(filepath.Join(p.Cron, "notes"), 1, 400*day)
	p.put(filepath.Join(p.Cron, strings.Repeat("A", 32), "x"), 1, 400*day)
	states["notes"], states[strings.Repeat("A", 32)] = retention.Foreign, retention.Foreign
	p.Areas = []string{"cron"}
	for _, it := range retention.Clean(t.Context(), p.Options).Items {
		name := filepath.Base(it.Path)
		if it.State != states[name] {
			t.Errorf("%s is %s, want %s", name, it.State, states[name])
		}
		delete(states, name)
	}
	if len(states) > 0 {
		t.Errorf("not found are %v", states)
	}
	if n := len(retention.Look(t.Context(), p.Options).Items); n != 5 {
		t.Errorf("%d are left", n)
	}
}
