package grants_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/grants"
)

const childEnv = "TOOLQUAY_TEST_GRANTS_FILE"

// TestMain is also the other process of the tests that need one: it revokes the
// grant it is given, or adds one.
func TestMain(m *testing.M) {
	path := os.Getenv(childEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	l, err := grants.Open(path)
	for _, id := range os.Args[1:] {
		if err == nil && id == "add" {
			_, err = l.Add(grants.Grant{Rule: "Grep", Scope: grants.ScopeUser}, time.Now())
		} else if err == nil {
			err = l.Revoke(id)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func inOtherProcess(tb testing.TB, path string, args ...string) {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), self, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
}

func file(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "state", "grants.json")
}

func open(tb testing.TB, path string) *grants.List {
	tb.Helper()
	l, err := grants.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func add(tb testing.TB, l *grants.List, g grants.Grant) grants.Grant {
	tb.Helper()
	got, err := l.Add(g, time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// root is the root of a project, as this system writes one.
func root(name string) permissions.Dir {
	if runtime.GOOS == "windows" {
		return permissions.Dir{Path: `C:\` + name}
	}
	return permissions.Dir{Path: "/" + name, Real: "/" + name}
}

// rules are the rules that count, in order.
func rules(v grants.View) string {
	var out []string
	for _, r := range v.Rules.Allow {
		out = append(out, r.Text)
	}
	return strings.Join(out, " ")
}

func TestScopes(t *testing.T) {
	t.Parallel()
	path := file(t)
	l := open(t, path)
	add(t, l, grants.Grant{Rule: "Grep", Scope: grants.ScopeUser})
	add(t, l, grants.Grant{Rule: "Read(/docs)", Scope: grants.ScopeProject, Project: root("p").Path})
	session := add(t, l, grants.Grant{Rule: "Edit(src/**)", Scope: grants.ScopeSession, Session: "s"})
	for _, test := range []struct {
		session string
		project permissions.Dir
		want    []string
	}{
		{"s", root("p"), []string{"Grep", "Read(/docs)", "Edit(src/**)"}},
		{"s", root("q"), []string{"Grep", "Edit(src/**)"}},
		{"r", root("p"), []string{"Grep", "Read(/docs)"}},
		{"", permissions.Dir{}, []string{"Grep"}},
	} {
		v := l.View(test.session, test.project, time.Now())
		if got := rules(v); len(v.Rules.Allow) != len(test.want) || v.Err != nil || v.Rules.Source != permissions.SourceSession ||
			v.Rules.Folder != test.project || len(v.Rules.Deny)+len(v.Rules.Ask) != 0 {
			t.Errorf("%s in %v: %s, want %s; %v", test.session, test.project, got, test.want, v.Err)
		}
		for _, rule := range test.want {
			if !strings.Contains(rules(v), rule) {
				t.Errorf("%s in %v lacks %s", test.session, test.project, rule)
			}
		}
	}
	other := open(t, path) // as another process: it knows no sessions of this one
	if got, err := other.List(time.Now(), false); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	v := l.View("s", root("p"), time.Now())
	l.EndSession("s")
	if !l.Stale(v, time.Now()) || !errors.Is(l.Revoke(session.ID), grants.ErrNoGrant) {
		t.Error("the session's grant outlives it")
	}
}

// TestGrantDecides takes a grant all the way to a decision, and back to itself.
func TestGrantDecides(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // on Windows rules on paths are refused
	l := open(t, file(t))
	g := add(t, l, grants.Grant{Rule: "Read(/docs)", Scope: grants.ScopeProject, Project: "/p", By: "terminal"})
	base, _, err := permissions.Compile(permissions.Setup{Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/elsewhere", Real: "/elsewhere"}}})
	if err != nil {
		t.Fatal(err)
	}
	decide := func(v grants.View) permissions.Decision {
		policy, warnings, err := base.WithRules(v.Rules)
		if err != nil || len(warnings) != 0 {
			t.Fatal(err, warnings)
		}
		return permissions.Decide(policy, permissions.Request{
			Tool: "Read", Effects: permissions.EffectsListed,
			Accesses: []permissions.Access{{Kind: permissions.AccessRead, Target: "/p/docs/a", Real: "/p/docs/a"}},
		}, permissions.Evidence{})
	}
	v := l.View("", root("p"), time.Now())
	d := decide(v)
	if d.Verdict != permissions.Allow || d.Rule == nil {
		t.Fatalf("%+v", d)
	}
	if got, ok := v.Granted(d.Rule); !ok || got != g {
		t.Errorf("it came from %v, want %v", got, g)
	}
	if err := l.Revoke(g.ID); err != nil {
		t.Fatal(err)
	}
	if !l.Stale(v, time.Now()) {
		t.Error("the view with the revoked grant is good")
	}
	if d := decide(l.View("", root("p"), time.Now())); d.Verdict != permissions.Ask {
		t.Errorf("then %+v", d)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	l := open(t, file(t))
	now := time.Now()
	for _, scope := range []grants.Grant{{Scope: grants.ScopeUser}, {Scope: grants.ScopeSession, Session: "s"}} {
		scope.Rule, scope.Expires = "Grep", now.Add(time.Hour)
		add(t, l, scope)
	}
	v := l.View("s", root("p"), now)
	if rules(v) != "Grep Grep" || l.Stale(v, now.Add(59*time.Minute)) || !l.Stale(v, now.Add(time.Hour)) {
		t.Errorf("%s; stale before %v, after %v", rules(v), l.Stale(v, now.Add(59*time.Minute)), l.Stale(v, now.Add(time.Hour)))
	}
	later := now.Add(time.Hour)
	if v := l.View("s", root("p"), later); rules(v) != "" {
		t.Errorf("after its end: %s", rules(v))
	}
	for expired, want := range map[bool]int{false: 0, true: 2} {
		if got, err := l.List(later, expired); err != nil || len(got) != want {
			t.Errorf("%v, %v", got, err)
		}
	}
	if _, err := l.Add(grants.Grant{Rule: "Glob", Scope: grants.ScopeUser}, later); err != nil {
		t.Fatal(err)
	}
	if got, err := l.List(later, true); err != nil || len(got) != 2 { // the session's is still there
		t.Errorf("it is kept for ever: %v, %v", got, err)
	}
}

func TestGrantsThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	path := file(t)
	l := open(t, path)
	now := time.Now()
	project := root("p").Path
	tests := map[string]struct {
		grant grants.Grant
		says  string
	}{
		"no rule":               {grants.Grant{Scope: grants.ScopeUser}, "empty"},
		"no such scope":         {grants.Grant{Rule: "Grep", Scope: "world"}, "scope"},
		"no scope":              {grants.Grant{Rule: "Grep"}, "scope"},
		"malformed":             {grants.Grant{Rule: "Read(", Scope: grants.ScopeUser}, "Read("},
		"grants nothing":        {grants.Grant{Rule: "Write(//a)", Scope: grants.ScopeUser}, "grants nothing"},
		"everything":            {grants.Grant{Rule: "*", Scope: grants.ScopeUser}, "*"},
		"a relative path":       {grants.Grant{Rule: "Edit(src/**)", Scope: grants.ScopeProject, Project: project}, "each session"},
		"a name at any depth":   {grants.Grant{Rule: "Read(.env)", Scope: grants.ScopeUser}, "each session"},
		"a root for the user":   {grants.Grant{Rule: "Read(/docs)", Scope: grants.ScopeUser}, "each session"},
		"a session too many":    {grants.Grant{Rule: "Grep", Scope: grants.ScopeUser, Session: "s"}, "session"},
		"a session too few":     {grants.Grant{Rule: "Grep", Scope: grants.ScopeSession}, "session"},
		"a project too many":    {grants.Grant{Rule: "Grep", Scope: grants.ScopeUser, Project: project}, "project"},
		"a relative project":    {grants.Grant{Rule: "Grep", Scope: grants.ScopeProject, Project: "p"}, "absolute"},
		"an unclean project":    {grants.Grant{Rule: "Grep", Scope: grants.ScopeProject, Project: project + "/../q"}, "clean"},
		"over before it begins": {grants.Grant{Rule: "Grep", Scope: grants.ScopeUser, Expires: now.Add(-time.Hour)}, "before"},
		"a rule without end":    {grants.Grant{Rule: "Read(//" + strings.Repeat("a", 1<<20) + ")", Scope: grants.ScopeUser}, "bytes"},
		"not text":              {grants.Grant{Rule: "Grep", Scope: grants.ScopeUser, By: "\xff"}, "text"},
	}
	for name, test := range tests {
		if g, err := l.Add(test.grant, now); err == nil || !strings.Contains(err.Error(), test.says) || g != (grants.Grant{}) {
			t.Errorf("%s: %v, %v", name, g, err)
		}
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("a file was written")
	}
}

// TestBrokenFiles grants nothing by files that are not as Add writes them, and
// leaves them alone.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	good := `"granted":"2026-01-01T00:00:00Z","scope":"user","rule":"Grep"`
	wrap := func(id, grant string) string { return `{"version":1,"grants":{"` + id + `":{` + grant + `}}}` }
	var many []string
	for i := range grants.MaxGrants + 1 {
		many = append(many, fmt.Sprintf(`"%d":{"id":"%d",%s}`, i, i, good))
	}
	tests := map[string]string{
		"not JSON":         "{",
		"another version":  `{"version":2,"grants":{}}`,
		"a list":           `{"version":1,"grants":[]}`,
		"an id twice":      `{"version":1,"grants":{"a":{"id":"a",` + good + `},"a":{"id":"a",` + good + `}}}`,
		"another's id":     wrap("a", `"id":"b",`+good),
		"no time":          wrap("a", `"id":"a","scope":"user","rule":"Grep"`),
		"the future":       wrap("a", `"id":"a","scope":"user","rule":"Grep","granted":"2999-01-01T00:00:00Z"`),
		"a bad time":       wrap("a", `"id":"a","scope":"user","rule":"Grep","granted":"yesterday"`),
		"ended before":     wrap("a", `"id":"a","expires":"2025-01-01T00:00:00Z",`+good),
		"a session's":      wrap("a", `"id":"a","scope":"session","session":"s","rule":"Grep","granted":"2026-01-01T00:00:00Z"`),
		"a malformed rule": wrap("a", `"id":"a","scope":"user","rule":"Read(","granted":"2026-01-01T00:00:00Z"`),
		"a star":           wrap("a", `"id":"a","scope":"user","rule":"*","granted":"2026-01-01T00:00:00Z"`),
		"another type":     wrap("a", `"id":"a","scope":"user","rule":["Grep"],"granted":"2026-01-01T00:00:00Z"`),
		"one of two":       `{"version":1,"grants":{"a":{"id":"a",` + good + `},"b":{}}}`,
		"too many":         `{"version":1,"grants":{` + strings.Join(many, ",") + `}}`,
		"too large":        strings.Repeat(" ", 5<<20),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			spill(t, path, content)
			l, err := grants.Open(path)
			if err == nil || l == nil {
				t.Fatalf("%v, %v", l, err)
			}
			v := l.View("s", root("p"), time.Now())
			if rules(v) != "" || v.Err == nil || !strings.Contains(v.Err.Error(), path) && !strings.Contains(v.Err.Error(), "grant") {
				t.Errorf("%s, %v", rules(v), v.Err)
			}
			if _, err := l.Add(grants.Grant{Rule: "Glob", Scope: grants.ScopeUser}, time.Now()); err == nil {
				t.Error("it was written over")
			}
			if err := l.Revoke("a"); err == nil {
				t.Error("a grant of it was revoked")
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != content {
				t.Errorf("it is now %.100q, %v", got, err)
			}
			add(t, l, grants.Grant{Rule: "Glob", Scope: grants.ScopeSession, Session: "s"})
			if v := l.View("s", root("p"), time.Now()); rules(v) != "Glob" {
				t.Errorf("the session has %s", rules(v))
			}
			spill(t, path, wrap("a", `"id":"a",`+good)) // mended by hand
			if !l.Stale(v, time.Now()) {
				t.Error("nobody sees that it was mended")
			}
			if v := l.View("", root("p"), time.Now()); rules(v) != "Grep" || v.Err != nil {
				t.Errorf("mended: %s, %v", rules(v), v.Err)
			}
		})
	}
}

func spill(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// TestChangesOfOtherProcesses count before the next decision, whatever the
// file's times can tell.
func TestChangesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	path := file(t)
	l := open(t, path)
	g := add(t, l, grants.Grant{Rule: "Glob", Scope: grants.ScopeUser})
	v := l.View("", root("p"), time.Now())
	if l.Stale(v, time.Now()) {
		t.Error("stale at once")
	}
	inOtherProcess(t, path, g.ID)
	if !l.Stale(v, time.Now()) {
		t.Error("a grant revoked elsewhere still counts")
	}
	v = l.View("", root("p"), time.Now())
	inOtherProcess(t, path, "add")
	if v2 := l.View("", root("p"), time.Now()); rules(v) != "" || rules(v2) != "Grep" || !l.Stale(v, time.Now()) {
		t.Errorf("%s, then %s", rules(v), rules(v2))
	}
	// Written long ago: now the times do tell.
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	v = l.View("", root("p"), time.Now())
	if l.Stale(v, time.Now()) {
		t.Error("stale at once")
	}
	inOtherProcess(t, path, "add")
	if !l.Stale(v, time.Now()) {
		t.Error("a grant given elsewhere is not seen")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if v := l.View("", root("p"), time.Now()); rules(v) != "" {
		t.Errorf("without the file: %s", rules(v))
	}
}

// TestChangeWithinATick writes other grants over the file without its size, time
// or identity telling.
func TestChangeWithinATick(t *testing.T) {
	t.Parallel()
	path := file(t)
	content := `{"version":1,"grants":{"a":{"id":"a","scope":"user","rule":"Grep","granted":"2026-01-01T00:00:00Z"}}}`
	spill(t, path, content)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	v := l.View("", root("p"), time.Now())
	spill(t, path, strings.Replace(content, "Grep", "Glob", 1))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if !l.Stale(v, time.Now()) || rules(l.View("", root("p"), time.Now())) != "Glob" {
		t.Error("the change is not seen")
	}
}

// TestListHammer adds, revokes and looks from many sides at once.
func TestListHammer(t *testing.T) {
	t.Parallel()
	path := file(t)
	shared := open(t, path)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			own := open(t, path)
			for i := range 5 {
				g := add(t, own, grants.Grant{Rule: "Grep", Scope: grants.ScopeUser})
				v := shared.View("s", root("p"), time.Now())
				if !strings.Contains(rules(v), "Grep") {
					t.Error("a grant was lost")
				}
				if i%2 == 0 {
					continue
				}
				if err := shared.Revoke(g.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if v := shared.View("s", root("p"), time.Now()); shared.Stale(v, time.Now()) {
		t.Error("a fresh view is stale")
	}
	if got, err := shared.List(time.Now(), false); err != nil || len(got) != 3*3 {
		t.Errorf("%d grants, %v", len(got), err)
	}
}

func BenchmarkStale(b *testing.B) {
	path := file(b)
	l := open(b, path)
	add(b, l, grants.Grant{Rule: "Grep", Scope: grants.ScopeUser})
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		b.Fatal(err)
	}
	v := l.View("", root("p"), time.Now())
	for b.Loop() {
		if l.Stale(v, time.Now()) {
			b.Fatal("stale")
		}
	}
}

// FuzzFile opens files of any content: what it cannot take grants nothing.
func FuzzFile(f *testing.F) {
	f.Add(`{"version":1,"grants":{"a":{"id":"a","scope":"user","rule":"Grep","granted":"2026-01-01T00:00:00Z"}}}`)
	f.Add(`{"version":1,"grants":{"a":{"id":"a","scope":"project","project":"/p","rule":"Read(/x)","granted":"2026-01-01T00:00:00Z","expires":"2027-01-01T00:00:00Z"}}}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, content string) {
		path := file(t)
		spill(t, path, content)
		l, err := grants.Open(path)
		v := l.View("s", root("p"), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
		if err != nil && v.Err != nil && len(v.Grants) != 0 {
			t.Errorf("it grants %v and says %v", v.Grants, v.Err)
		}
		for _, g := range v.Grants {
			if _, warning, err := permissions.ParseRule(permissions.Allow, g.Rule, permissions.Source{}, nil); err != nil || warning != "" {
				t.Errorf("%q: %s, %v", g.Rule, warning, err)
			}
		}
	})
}
