package retention_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/retention"
	"github.com/toolquay/toolquay/internal/checkline"
	"github.com/toolquay/toolquay/permissions/audit"
)

const day = 24 * time.Hour

func TestMain(m *testing.M) {
	if do := children[os.Getenv(childEnv)]; do != nil {
		do(os.Getenv(childDir))
		return
	}
	os.Exit(m.Run())
}

// place is a user's state and caches.
type place struct {
	tb testing.TB
	retention.Options
}

func newPlace(tb testing.TB) *place {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	p := &place{tb: tb, Options: at(dir)}
	for _, dir := range []string{p.State, p.Sessions, p.Compiled, p.Layers} {
		p.must(os.MkdirAll(dir, 0o700))
	}
	return p
}

// at are options for a directory.
func at(dir string) retention.Options {
	state, cache := filepath.Join(dir, "state"), filepath.Join(dir, "cache")
	return retention.Options{
		State: state, Known: []string{"sessions", "decisions", "trust.json"}, Sessions: filepath.Join(state, "sessions"),
		Compiled: filepath.Join(cache, "compiled"), Layers: filepath.Join(cache, "layers"), Thorough: true,
	}
}

func (p *place) must(err error) {
	p.tb.Helper()
	if err != nil {
		p.tb.Fatal(err)
	}
}

// put makes a file of so many bytes that was changed so long ago.
func (p *place) put(path string, bytes int, age time.Duration) string {
	p.tb.Helper()
	p.must(os.MkdirAll(filepath.Dir(path), 0o700))
	p.must(os.WriteFile(path, make([]byte, bytes), 0o600))
	p.backdate(path, age)
	return path
}

func (p *place) backdate(path string, age time.Duration) {
	p.tb.Helper()
	then := time.Now().Add(-age)
	p.must(os.Chtimes(path, then, then))
}

// session makes one with a result, a history and a record that was used so long ago.
func (p *place) session(id string, age time.Duration) string {
	p.tb.Helper()
	d := p.open(id)
	p.must(d.Append(sessiondir.Record{Kind: "k", Data: id}))
	p.must(d.Close())
	for _, part := range []string{"tool-results/r.txt", "output/b1", "files/f.png", "history/log.jsonl", "history/blob"} {
		p.put(filepath.Join(d.Path(), part), 1000, age)
	}
	p.backdate(filepath.Join(d.Path(), "session"), age)
	p.backdate(filepath.Join(d.Path(), "journal.jsonl"), age)
	return d.Path()
}

func (p *place) open(id string) *sessiondir.Dir {
	p.tb.Helper()
	d, err := sessiondir.Open(p.Sessions, id, slog.New(slog.DiscardHandler))
	p.must(err)
	p.tb.Cleanup(func() { _ = d.Close() }) // again, mostly
	return d
}

// compiled and layer make caches.
func (p *place) compiled(digit string, age time.Duration) string {
	p.tb.Helper()
	path := filepath.Join(p.Compiled, "wazero-v1-linux-amd64", strings.Repeat(digit, 64))
	p.put(filepath.Join(path, "module.wasm"), 1000, age)
	p.backdate(path, age)
	return path
}

func (p *place) layer(digit string, age time.Duration) string {
	p.tb.Helper()
	path := filepath.Join(p.Layers, strings.Repeat(digit, 24))
	p.put(filepath.Join(path, "go/mod/x"), 1000, age)
	p.must(os.Chmod(filepath.Join(path, "go/mod"), 0o500))
	p.tb.Cleanup(func() { _ = os.Chmod(filepath.Join(path, "go/mod"), 0o700) }) // where it is still there
	p.backdate(path, age)
	return path
}

// states are the items whose state is not kept, in short.
func states(r *retention.Report) []string {
	var out []string
	for _, it := range r.Items {
		if it.State != retention.Kept {
			out = append(out, fmt.Sprintf("%s %s %s", it.Area, filepath.Base(it.Path), it.State))
		}
	}
	slices.Sort(out)
	return out
}

func (p *place) is(r *retention.Report, want ...string) {
	p.tb.Helper()
	slices.Sort(want)
	if got := states(r); !slices.Equal(got, want) {
		p.tb.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (p *place) there(paths ...string) {
	p.tb.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			p.tb.Errorf("it is gone: %v", err)
		}
	}
}

func (p *place) gone(paths ...string) {
	p.tb.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			p.tb.Errorf("%s is still there: %v", path, err)
		}
	}
}

// TestLimits looks, which changes nothing, and cleans, which does what the look said.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*retention.Options)
		want   string // the items that go
	}{
		"usual":         {func(*retention.Options) {}, "sessions old, sessions older, caches dddd, caches eeee"},
		"keep":          {func(o *retention.Options) { o.Keep = 3 * day }, "sessions old, sessions older, sessions week, caches cccc, caches dddd, caches eeee"},
		"keep sessions": {func(o *retention.Options) { o.KeepSessions = 3 * day }, "sessions old, sessions older, sessions week, caches dddd, caches eeee"},
		"both":          {func(o *retention.Options) { o.Keep, o.KeepSessions = 3*day, 365*day }, "results week, results old, results older, history week, history old, history older, caches cccc, caches dddd, caches eeee"},
		"no time":       {func(o *retention.Options) { o.Keep = 1 }, "sessions new, sessions old, sessions older, sessions week, caches cccc, caches dddd, caches eeee"},
		"one area":      {func(o *retention.Options) { o.Areas = []string{"caches"} }, "caches dddd, caches eeee"},
		"results":       {func(o *retention.Options) { o.Areas, o.Keep = []string{"results"}, 10*day }, "results old, results older"},
		"history":       {func(o *retention.Options) { o.Areas, o.Keep = []string{"history"}, 10*day }, "history old, history older"},
		"bytes":         {func(o *retention.Options) { o.KeepSessions, o.Keep, o.Max = 365*day, 364*day, 17_000 }, "sessions older"},
		"cache bytes": {func(o *retention.Options) {
			o.KeepSessions, o.Keep, o.Max, o.Areas = 365*day, 364*day, 3500, []string{"caches"}
		}, "caches dddd, caches eeee"},
		"few bytes":    {func(o *retention.Options) { o.Max = 1 }, "sessions new, sessions old, sessions older, sessions week, caches cccc, caches dddd, caches eeee"},
		"result bytes": {func(o *retention.Options) { o.Areas, o.Max = []string{"results"}, 7000 }, "results old, results older"},
		"many bytes":   {func(o *retention.Options) { o.KeepSessions, o.Keep, o.Max = 365*day, 364*day, 1<<30 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for id, age := range map[string]time.Duration{"new": time.Minute, "week": 7 * day, "old": 40 * day, "older": 60 * day} {
				p.session(id, age)
			}
			p.compiled("a", time.Minute)
			p.compiled("c", 5*day)
			p.compiled("d", 40*day)
			p.layer("b", time.Minute)
			p.layer("e", 50*day)
			test.change(&p.Options)
			before := tree(t, filepath.Dir(p.State))
			looked := retention.Look(t.Context(), p.Options)
			if after := tree(t, filepath.Dir(p.State)); after != before {
				t.Errorf("looking changed something:\n%s", after)
			}
			var goes []string
			for _, it := range looked.Items {
				if it.Goes() {
					name := filepath.Base(it.Name)
					if it.Area == "caches" {
						name = name[:4]
					}
					goes = append(goes, it.Area+" "+name)
				}
			}
			if want := strings.Split(test.want, ", "); !sameSet(goes, want) {
				t.Errorf("over are %q, want %q", goes, want)
			}
			cleaned := retention.Clean(t.Context(), p.Options)
			n, _ := looked.Total("", retention.Over)
			if removed, _ := cleaned.Total("", retention.Removed); removed != n {
				t.Errorf("%d were over, %d are removed: %q", n, removed, states(cleaned))
			}
			p.is(retention.Look(t.Context(), p.Options))
		})
	}
}

func sameSet(a, b []string) bool {
	if len(b) == 1 && b[0] == "" {
		b = nil
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// tree is all that there is, with modes and times.
func tree(tb testing.TB, dir string) string {
	tb.Helper()
	var out strings.Builder
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&out, path, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// TestPartsGo: a session whose results and history are removed goes on.
func TestPartsGo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.session("s", 40*day)
	young := p.put(filepath.Join(path, "tool-results", "young.txt"), 10, time.Hour)
	d := p.open("s") // it is used again
	p.Keep, p.KeepSessions = 30*day, 365*day
	p.is(retention.Clean(t.Context(), p.Options), "results s in_use", "history history in_use")
	p.must(d.Close())
	p.is(retention.Clean(t.Context(), p.Options), "results s removed", "history history removed")
	p.gone(filepath.Join(path, "tool-results", "r.txt"), filepath.Join(path, "output", "b1"), filepath.Join(path, "files", "f.png"), filepath.Join(path, "history"))
	p.there(young, filepath.Join(path, "journal.jsonl"))
	if got := p.open("s").Recall("k"); len(got) != 1 {
		t.Errorf("it remembers %q", got)
	}
}

// TestInUse: a session that somebody uses stays, and another goes in its place.
func TestInUse(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.session("used", 60*day)
	p.session("old", 40*day)
	d := p.open("used")
	p.backdate(filepath.Join(path, "session"), 60*day)
	p.backdate(filepath.Join(path, "journal.jsonl"), 60*day)
	p.is(retention.Look(t.Context(), p.Options), "sessions used in_use", "sessions old over")
	p.is(retention.Clean(t.Context(), p.Options), "sessions used in_use", "sessions old removed")
	p.there(path)
	p.must(d.Close())
	p.is(retention.Look(t.Context(), p.Options)) // it was used just now
}

// TestLog drops old files of the decision log by its own limits alone.
// TestStaged keeps what was staged and not applied, however old it is and however much there is.
func TestStaged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	old := p.session("old", 60*day)
	name := strings.Repeat("A", 26) + ".staged" // see package stage
	at, log := p.put(filepath.Join(old, "stage", name), 3, 60*day), filepath.Join(old, "stage", "log.jsonl")
	upper := filepath.Join(old, "stage", "upper") // a stage of an earlier version is converted to this tree
	line := func(record map[string]any) []byte {
		text, err := checkline.Encode(record, 1<<10)
		p.must(err)
		return text
	}
	staged := line(map[string]any{"kind": "stage", "path": "/w/a", "name": name, "content": map[string]any{"hash": strings.Repeat("a", 64), "size": 3}})
	p.must(os.WriteFile(log, staged, 0o600))
	p.is(retention.Look(t.Context(), p.Options), "sessions old staged")
	p.Thorough = false
	if !retention.Daily(t.Context(), p.Options, slog.New(slog.DiscardHandler)) {
		t.Error("nothing was cleaned")
	}
	p.KeepSessions, p.Max = 365*day, 1
	p.is(retention.Clean(t.Context(), p.Options), "sessions old staged")
	p.must(os.WriteFile(log, bytes.ReplaceAll(staged, []byte("/w/a"), []byte("/w/b")), 0o600)) // damaged
	p.is(retention.Clean(t.Context(), p.Options), "sessions old failed")
	p.gone(at)
	p.there(filepath.Join(upper, "w", "a"))
	p.must(os.RemoveAll(upper))
	p.must(os.WriteFile(log, append(staged, line(map[string]any{"kind": "discard", "path": "/w/a"})...), 0o600))
	p.is(retention.Clean(t.Context(), p.Options), "sessions old removed")
	p.gone(old)
}

func TestLog(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Log, p.Keep, p.Max = filepath.Join(p.State, "decisions"), 1, 1
	l, err := audit.Open(p.Log, audit.Options{SegmentBytes: 1})
	p.must(err)
	for range 3 {
		p.must(l.Append(audit.Entry{}))
	}
	p.is(retention.Clean(t.Context(), p.Options))
	p.LogOptions = audit.Options{MaxBytes: 1}
	p.is(retention.Look(t.Context(), p.Options), "log log-000001.jsonl over", "log log-000002.jsonl over", "log log-000003.jsonl over")
	p.is(retention.Clean(t.Context(), p.Options), "log log-000001.jsonl removed", "log log-000002.jsonl removed", "log log-000003.jsonl removed")
	p.must(l.Append(audit.Entry{})) // who has it open goes on
	if r, err := audit.Verify(p.Log, ""); err != nil || !r.OK() || r.From == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNothingThere is no error.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	for _, o := range []retention.Options{{}, at(filepath.Join(t.TempDir(), "missing"))} {
		o.Log = filepath.Join(o.State, "decisions")
		if r := retention.Clean(t.Context(), o); len(r.Items) != 0 {
			t.Errorf("%+v", r.Items)
		}
	}
}

// TestIsolated: the cache of an isolated plugin was used when something in it was.
func TestIsolated(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	isolated := func(digit string, age time.Duration) string {
		path := filepath.Join(p.Compiled, "isolated-"+strings.Repeat(digit, 64))
		p.put(filepath.Join(path, "wazero-v1", "module", "x"), 10, age)
		for _, dir := range []string{"wazero-v1/module", "wazero-v1", "."} {
			p.backdate(filepath.Join(path, dir), 40*day)
		}
		return path
	}
	old, young := isolated("a", 40*day), isolated("b", day)
	p.is(retention.Clean(t.Context(), p.Options), "caches "+filepath.Base(old)+" removed")
	p.gone(old)
	p.there(young)
}

// TestCancelled leaves what is left.
func TestCancelled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.session("old", 40*day)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	retention.Clean(ctx, p.Options)
	p.there(path)
}

// TestDaily cleans once a day, one process at a time.
func TestDaily(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.session("old", 40*day)
	var told bytes.Buffer
	log := slog.New(slog.NewTextHandler(&told, nil))
	if !retention.Daily(t.Context(), p.Options, log) || !strings.Contains(told.String(), "count=1") {
		t.Errorf("told %s", &told)
	}
	p.gone(path)
	p.session("old", 40*day)
	if retention.Daily(t.Context(), p.Options, log) {
		t.Error("it cleaned twice")
	}
	p.there(path)
	for _, age := range []time.Duration{25 * time.Hour, -day} { // the clock was wrong
		p.session("old", 40*day)
		p.backdate(filepath.Join(p.Sessions, ".cleaned"), age)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if !retention.Daily(ctx, p.Options, log) { // which does not count
			t.Error("it was not due")
		}
		if !retention.Daily(t.Context(), p.Options, log) {
			t.Error("it was not due any more")
		}
		p.gone(path)
	}
	p.is(retention.Look(t.Context(), p.Options))

	// After a long time everything seems old, and the clock may be wrong.
	p.session("old", 40*day)
	p.backdate(filepath.Join(p.Sessions, ".cleaned"), 40*day)
	for range 2 {
		if retention.Daily(t.Context(), p.Options, log) {
			t.Error("it did not wait")
		}
	}
	p.there(path)
	info, err := os.Lstat(filepath.Join(p.Sessions, ".cleaned"))
	p.must(err)
	p.backdate(filepath.Join(p.Sessions, ".cleaned"), time.Since(info.ModTime())+time.Hour)
	if !retention.Daily(t.Context(), p.Options, log) {
		t.Error("it waited for more than an hour")
	}
	p.gone(path)
}

// TestDailyCaches: hosts that share caches, each with sessions of its own, look at the caches once
// a day, all of them together.
func TestDailyCaches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	name := filepath.Join(p.Compiled, "temporary-1")
	for i, sessions := range []string{p.Sessions, filepath.Join(t.TempDir(), "others"), ""} {
		p.put(filepath.Join(name, "x"), 1, 40*day)
		p.backdate(name, 40*day)
		o := p.Options
		o.Sessions = sessions
		retention.Daily(t.Context(), o, slog.New(slog.DiscardHandler))
		if _, err := os.Lstat(name); (err == nil) != (i > 0) {
			t.Errorf("host %d: %v", i, err)
		}
	}
	p.backdate(filepath.Join(p.Compiled, ".cleaned"), 25*time.Hour)
	retention.Daily(t.Context(), p.Options, slog.New(slog.DiscardHandler))
	p.gone(name)
	p.is(retention.Look(t.Context(), p.Options))
}

// TestMany cleans many sessions.
func TestMany(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bare(t, p.Sessions, 400, 40*day)
	p.session("young", time.Hour)
	r := retention.Clean(t.Context(), p.Options)
	if n, _ := r.Total("sessions", retention.Removed); n != 400 {
		t.Errorf("%d removed", n)
	}
	p.there(filepath.Join(p.Sessions, "young"))
}

// bare makes many sessions.
func bare(tb testing.TB, sessions string, n int, age time.Duration) {
	tb.Helper()
	then := time.Now().Add(-age)
	for i := range n {
		dir := filepath.Join(sessions, fmt.Sprintf("s%d", i))
		marker := filepath.Join(dir, "session")
		err := os.MkdirAll(dir, 0o700)
		err = errors.Join(err, os.WriteFile(marker, fmt.Appendf(nil, `{"version":1,"session":"s%d","pid":1}`, i), 0o600))
		if err = errors.Join(err, os.Chtimes(marker, then, then)); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkDaily(b *testing.B) {
	p := newPlace(b)
	bare(b, p.Sessions, 10_000, day)
	p.Thorough = false
	log := slog.New(slog.DiscardHandler)
	retention.Daily(b.Context(), p.Options, log)
	for name, due := range map[string]bool{"due": true, "done": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if due {
					p.backdate(filepath.Join(p.Sessions, ".cleaned"), 48*time.Hour)
				}
				if retention.Daily(b.Context(), p.Options, log) != due {
					b.Fatal("it is the other way round")
				}
			}
		})
	}
}
