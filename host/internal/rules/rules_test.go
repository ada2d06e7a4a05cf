package rules_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/grants"
	"github.com/toolquay/toolquay/plugins"
)

// compiler is for a session in a directory.
func compiler(t *testing.T, dir string) *rules.Compiler {
	t.Helper()
	places := rules.Places{Cwd: dir}
	setup, err := places.Setup()
	if err != nil {
		t.Fatal(err)
	}
	return &rules.Compiler{Setup: setup, Session: "s", Logger: slog.New(slog.DiscardHandler)}
}

func start(t *testing.T, c *rules.Compiler, st *rules.Settings) *rules.State {
	t.Helper()
	s, err := rules.New(c, st, set(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// set has one plugin with the tool New, which has these aliases.
func set(t *testing.T, aliases ...string) tool.Set {
	t.Helper()
	manifest := fmt.Sprintf("manifest = 1\nname = \"p\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"New\"\nsummary = \"A tool\"\naliases = [%s]\ninput_schema = '{\"type\":\"object\"}'\n",
		strings.Join(aliases, ","))
	files := fstest.MapFS{
		"p/plugin.toml": &fstest.MapFile{Data: []byte(manifest)},
		"p/p.wasm":      &fstest.MapFile{Data: []byte("\x00asm\x01\x00\x00\x00")},
	}
	opened, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{{Origin: plugins.OriginFlag, Path: "/test", FS: files}}, Runners: []plugins.Runner{runner{}},
	})
	must(t, err)
	must(t, opened.Plugins()[0].Problem())
	return tool.Set{Set: opened}
}

// runner answers for plugins that are never called.
type runner struct{ plugins.Runner }

func (runner) ABI() string { return abi.ImportModule }

func settings(deny, allow string, forbidden ...permissions.Mode) *rules.Settings {
	r := permissions.RuleSet{Source: permissions.SourceUser}
	if deny != "" {
		r.Deny = permissions.RuleTexts(deny)
	}
	if allow != "" {
		r.Allow = permissions.RuleTexts(allow)
	}
	return &rules.Settings{Rules: []permissions.RuleSet{r}, ForbiddenModes: forbidden}
}

// allowed are the rules of a view's policy, sorted.
func allowed(v *rules.View) string {
	var all []string
	for _, r := range v.Policy.Rules() {
		all = append(all, r.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func wantMode(t *testing.T, s *rules.State, want permissions.Mode) {
	t.Helper()
	if got := s.View().Policy.Mode(); got != want {
		t.Errorf("the mode is %s, not %s", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// changed reports whether a channel is closed.
func changed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestMode(t *testing.T) {
	t.Parallel()
	c := compiler(t, t.TempDir())
	c.Mode = permissions.ModeAcceptEdits
	s := start(t, c, settings("", "", permissions.ModeAuto))
	wantMode(t, s, permissions.ModeAcceptEdits)
	before, news := s.View(), s.Changed()
	for _, m := range []permissions.Mode{"nonsense", permissions.ModeAuto} {
		if s.SetMode(m) == nil || !s.IsCurrent(before) || changed(news) {
			t.Errorf("the mode %s was entered", m)
		}
	}
	must(t, s.SetMode(permissions.ModeDontAsk))
	wantMode(t, s, permissions.ModeDontAsk)
	if s.IsCurrent(before) || !changed(news) || changed(s.Changed()) || before.Policy.Mode() != permissions.ModeAcceptEdits {
		t.Error("a change was not announced, or changed the view before it")
	}
	news = s.Changed()
	if now := s.View(); now != s.Fresh() || changed(news) {
		t.Error("nothing has expired, and the view is another one")
	}
	if s.Recheck(); !changed(news) {
		t.Error("a recheck was not announced")
	}
}

func TestUnknownModeAtStart(t *testing.T) {
	t.Parallel()
	c := compiler(t, t.TempDir())
	for m, forbidden := range map[permissions.Mode][]permissions.Mode{"nonsense": nil, permissions.ModeAuto: {permissions.ModeAuto}} {
		c.Mode = m
		if _, err := rules.New(c, settings("", "", forbidden...), set(t)); err == nil {
			t.Errorf("a session began in the mode %s", m)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	const plan = permissions.ModePlan
	for name, test := range map[string]struct {
		modes []permissions.Mode // the first is the one that the session begins in
		ban   permissions.Mode   // is forbidden before plan is left
		want  permissions.Mode
		fails bool
	}{
		"back":               {modes: []permissions.Mode{permissions.ModeAcceptEdits, plan}, want: permissions.ModeAcceptEdits},
		"plan from plan":     {modes: []permissions.Mode{permissions.ModeAcceptEdits, plan, plan}, want: permissions.ModeAcceptEdits},
		"the latest":         {modes: []permissions.Mode{permissions.ModeAcceptEdits, plan, permissions.ModeAuto, plan}, want: permissions.ModeAuto},
		"began in plan":      {modes: []permissions.Mode{plan}, want: permissions.ModeDefault},
		"forbidden by now":   {modes: []permissions.Mode{permissions.ModeAcceptEdits, plan}, ban: permissions.ModeAcceptEdits, want: permissions.ModeDefault},
		"plan forbidden":     {modes: []permissions.Mode{permissions.ModeAcceptEdits, plan}, ban: plan, want: permissions.ModeDefault, fails: true},
		"not in plan":        {modes: []permissions.Mode{permissions.ModeAuto}, want: permissions.ModeAuto, fails: true},
		"not in plan by now": {modes: []permissions.Mode{permissions.ModeAuto, plan, permissions.ModeAuto}, want: permissions.ModeAuto, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compiler(t, t.TempDir())
			c.Mode = test.modes[0]
			s := start(t, c, settings("", ""))
			for _, m := range test.modes[1:] {
				must(t, s.SetMode(m))
			}
			if test.ban != "" {
				must(t, rules.Apply(settings("", "", test.ban), []*rules.State{s}))
			}
			if err := s.LeavePlan(); (err != nil) != test.fails {
				t.Errorf("leaving plan: %v", err)
			}
			wantMode(t, s, test.want)
		})
	}
}

// TestGiven adds rules of a person's, which other settings keep, or where they were
// written to a file replace.
func TestGiven(t *testing.T) {
	t.Parallel()
	s := start(t, compiler(t, t.TempDir()), settings("", "Read(a)"))
	must(t, s.Allow([]string{"Read(b)"}, nil, false))
	must(t, s.Allow([]string{"Read(c)"}, nil, true))
	want := func(rules string) {
		t.Helper()
		if got := allowed(s.View()); got != rules {
			t.Errorf("the rules are %s, not %s", got, rules)
		}
	}
	want("Read(a) Read(b) Read(c)")
	s.SetTools(set(t, `"Old"`))
	want("Read(a) Read(b) Read(c)")
	must(t, rules.Apply(settings("", "Read(d)"), []*rules.State{s}))
	want("Read(b) Read(d)")
}

func TestGrants(t *testing.T) {
	t.Parallel()
	list, err := grants.Open(filepath.Join(t.TempDir(), "grants.json"))
	must(t, err)
	c := compiler(t, t.TempDir())
	c.Grants = list
	s := start(t, c, settings("", "Read(a)"))
	must(t, s.SetMode(permissions.ModeAcceptEdits))
	g, err := list.Add(grants.Grant{Rule: "Read(b)", Scope: grants.ScopeSession, Session: "s"}, time.Now())
	must(t, err)
	if got := allowed(s.View()); got != "Read(a)" {
		t.Errorf("before it was looked for the rules are %s", got)
	}
	news := s.Changed()
	if got := allowed(s.Fresh()); got != "Read(a) Read(b)" || !changed(news) {
		t.Errorf("with the grant the rules are %s", got)
	}
	must(t, list.Revoke(g.ID))
	if got := allowed(s.Fresh()); got != "Read(a)" {
		t.Errorf("without the grant the rules are %s", got)
	}
	wantMode(t, s, permissions.ModeAcceptEdits)
}

// TestPlugins has a deny rule follow an alias to the tool that has it.
func TestPlugins(t *testing.T) {
	t.Parallel()
	own, err := tool.NewNative(abi.Tool{Name: "Own", Aliases: []string{"Former"}, Summary: "-", InputSchema: `{"type":"object"}`}, tool.Functions{
		Run: func(context.Context, tool.Invocation) (abi.ToolResult, error) { return abi.ToolResult{}, nil },
	})
	must(t, err)
	natives := &tool.Natives{}
	must(t, natives.Add(own))
	st := settings("", "")
	st.Rules[0].Deny = permissions.RuleTexts("Old", "Former")
	s := start(t, compiler(t, t.TempDir()), st)
	before, with, other := s.View(), set(t), set(t, `"Old"`)
	if !before.Policy.Offered("Own") {
		t.Error("a rule binds a tool that does not exist")
	}
	with.Natives = natives
	if p := s.SetTools(with).Policy; !p.Offered("New") || p.Offered("Own") {
		t.Error("rules bind other tools than they name")
	}
	before = s.View()
	if v := s.WithTools(other); v.Tools != other || v.Policy.Offered("New") || !s.IsCurrent(before) {
		t.Error("a look at other plugins changed the session")
	}
	if v := s.SetTools(other); v.Policy.Offered("New") || !s.IsCurrent(v) || s.SetTools(other) != v {
		t.Error("the plugins were not changed, or changed twice")
	}
}

func TestChdir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	s := start(t, compiler(t, dir), settings("", ""))
	want := func(names ...string) {
		t.Helper()
		v, path := s.View(), filepath.Join(append([]string{dir}, names...)...)
		if v.Cwd != path || v.Policy.Cwd().Path != path {
			t.Errorf("the session is in %s, its policy in %s, not in %s", v.Cwd, v.Policy.Cwd().Path, path)
		}
	}
	for path, code := range map[string]abi.Code{"file": abi.CodeNotDirectory, "nothing": abi.CodeNotFound, filepath.Dir(dir): abi.CodeDenied} {
		_, err := s.View().Destination(path)
		if abi.CodeOf(err) != code || abi.CodeOf(s.Chdir(path)) != code {
			t.Errorf("moving to %s: %v", path, err)
		}
	}
	want()
	must(t, s.Chdir("a"))
	must(t, s.Chdir(filepath.Join("b", "c")))
	want("a", "b", "c")
	if _, _, moved := s.LeaveRemoved(); moved {
		t.Error("it left a directory that is there")
	}
	must(t, os.RemoveAll(filepath.Join(dir, "a", "b")))
	must(t, rules.Apply(settings("", "Read(x)"), []*rules.State{s}))
	want("a", "b", "c")
	if from, to, moved := s.LeaveRemoved(); !moved || from != filepath.Join(dir, "a", "b", "c") || to != filepath.Join(dir, "a") {
		t.Errorf("it left %s for %s, %v", from, to, moved)
	}
	want("a")
	must(t, os.RemoveAll(filepath.Join(dir, "a")))
	s.LeaveRemoved()
	want()
}

// TestLeaveRemovedToStart has nothing above the directory that may be worked in.
func TestLeaveRemovedToStart(t *testing.T) {
	t.Parallel()
	dir, further := t.TempDir(), filepath.Join(t.TempDir(), "further")
	must(t, os.Mkdir(further, 0o700))
	places := rules.Places{Cwd: dir, Additional: []string{further}}
	c := compiler(t, dir)
	var err error
	c.Setup, err = places.Setup()
	must(t, err)
	s := start(t, c, settings("", ""))
	must(t, s.Chdir(further))
	must(t, os.Remove(further))
	if from, to, moved := s.LeaveRemoved(); !moved || from != further || to != dir {
		t.Errorf("it left %s for %s, %v", from, to, moved)
	}
}

func TestPlacesThatAreNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, places := range map[string]rules.Places{
		"the working directory":   {Cwd: filepath.Join(dir, "nothing")},
		"not an absolute path":    {Cwd: "relative"},
		"an additional directory": {Cwd: dir, Additional: []string{dir, "relative"}},
	} {
		if _, err := places.Setup(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", places, err)
		}
	}
}

// TestApplyAllOrNothing applies settings that one of two sessions cannot take up: it is in
// a mode that they forbid, as they do the default one.
func TestApplyAllOrNothing(t *testing.T) {
	t.Parallel()
	both := make([]*rules.State, 2)
	var views [2]*rules.View
	for i, m := range []permissions.Mode{permissions.ModeAuto, permissions.ModeAcceptEdits} {
		c := compiler(t, t.TempDir())
		c.Mode = m
		both[i] = start(t, c, settings("", "Read(a)"))
		views[i] = both[i].View()
	}
	if rules.Apply(settings("", "Read(b)", permissions.ModeAcceptEdits, permissions.ModeDefault), both) == nil {
		t.Error("settings came into force that forbid a session every mode")
	}
	for i, s := range both {
		if !s.IsCurrent(views[i]) {
			t.Errorf("the session %d was changed", i)
		}
	}
	must(t, rules.Apply(settings("", "Read(b)", permissions.ModeAcceptEdits), both))
	wantMode(t, both[0], permissions.ModeAuto)
	wantMode(t, both[1], permissions.ModeDefault)
	for _, s := range both {
		if got := allowed(s.View()); got != "Read(b)" {
			t.Errorf("the rules are %s", got)
		}
	}
}

// TestHammer changes a session in every way at once: each view is whole, and nothing that
// was given is lost.
func TestHammer(t *testing.T) {
	t.Parallel()
	const times = 30
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	s := start(t, compiler(t, dir), settings("", "Read(a)"))
	sets := []tool.Set{set(t), set(t, `"Old"`)}
	var all sync.WaitGroup
	for _, do := range []func(i int) error{
		func(i int) error {
			return s.SetMode([]permissions.Mode{permissions.ModePlan, permissions.ModeAuto}[i%2])
		},
		func(i int) error { return s.Chdir([]string{dir, filepath.Join(dir, "sub")}[i%2]) },
		func(i int) error { return s.Allow([]string{fmt.Sprintf("Read(given%d)", i)}, nil, false) },
		func(i int) error {
			return rules.Apply(settings("", fmt.Sprintf("Read(%d)", i)), []*rules.State{s})
		},
		func(i int) error { s.SetTools(sets[i%2]); s.WithTools(sets[0]); return nil },
		func(int) error {
			v := s.Fresh()
			if v.Cwd != v.Policy.Cwd().Path || !strings.Contains(allowed(v), v.Settings.Rules[0].Allow[0].Text) {
				return fmt.Errorf("a view of two states: in %s and %s, with %s", v.Cwd, v.Policy.Cwd().Path, allowed(v))
			}
			return nil
		},
		func(int) error { _ = s.LeavePlan(); s.LeaveRemoved(); s.Recheck(); return nil },
	} {
		all.Go(func() {
			for i := range times {
				if err := do(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := strings.Count(allowed(s.View()), "given"); got != times {
		t.Errorf("%d of %d rules that were given are left", got, times)
	}
}

// TestPlanMode is the mode plan as calls enter and leave it.
func TestPlanMode(t *testing.T) {
	t.Parallel()
	const plan = permissions.ModePlan
	for name, test := range map[string]struct {
		before, began permissions.Mode
		ban           permissions.Mode
		into          []permissions.Mode
		silent        bool
	}{
		"from default":     {began: permissions.ModeDefault, into: []permissions.Mode{permissions.ModeDefault, permissions.ModeAcceptEdits}},
		"from acceptEdits": {began: permissions.ModeAcceptEdits, into: []permissions.Mode{permissions.ModeAcceptEdits}},
		"from dontAsk":     {began: permissions.ModeDontAsk, into: []permissions.Mode{permissions.ModeDontAsk, permissions.ModeAcceptEdits}, silent: true},
		"began in it":      {began: plan, into: []permissions.Mode{permissions.ModeDefault, permissions.ModeAcceptEdits}},
		"resumed":          {began: plan, before: permissions.ModeAuto, into: []permissions.Mode{permissions.ModeAuto, permissions.ModeAcceptEdits}},
		"resumed, silent":  {began: plan, before: permissions.ModeDontAsk, into: []permissions.Mode{permissions.ModeDontAsk, permissions.ModeAcceptEdits}, silent: true},
		"forbidden":        {began: permissions.ModeDefault, ban: permissions.ModeAcceptEdits, into: []permissions.Mode{permissions.ModeDefault}},
	} {
		c := compiler(t, t.TempDir())
		c.Mode, c.BeforePlan = test.began, test.before
		s := start(t, c, settings("", ""))
		p := rules.PlanMode{State: s}
		if already, err := p.Enter(); err != nil || already != (test.began == plan) {
			t.Errorf("%s: entering: %t, %v", name, already, err)
		}
		must(t, rules.Apply(settings("", "Read(b)", test.ban), []*rules.State{s})) // which stays as it is
		if got := p.Into(); !slices.Equal(got, test.into) {
			t.Errorf("%s: it can be left into %v, want %v", name, got, test.into)
		}
		if silent := s.View().Policy.NeverAsks(); p.Mode() != plan || silent != test.silent {
			t.Errorf("%s: the mode is %s, silent %t", name, p.Mode(), silent)
		}
		err := p.Leave(permissions.ModeBypass, []string{"Read(c)"})
		if err == nil || !strings.Contains(err.Error(), "cannot be left for bypassPermissions") || p.Mode() != plan || strings.Contains(allowed(s.View()), "Read(c)") {
			t.Errorf("%s: %v, in %s, with %s", name, err, p.Mode(), allowed(s.View()))
		}
		must(t, p.Leave(test.into[0], []string{"Read(c)"}))
		wantMode(t, s, test.into[0])
		if !strings.Contains(allowed(s.View()), "Read(c)") {
			t.Errorf("%s: the rules are %s", name, allowed(s.View()))
		}
		if err := p.Leave(test.into[0], nil); err == nil || !strings.Contains(err.Error(), "not plan") {
			t.Errorf("%s: leaving twice: %v", name, err)
		}
	}
}

// TestPlanIsForbidden: a session that plans goes on in the default mode, or without asking if it did.
func TestPlanIsForbidden(t *testing.T) {
	t.Parallel()
	const dontAsk = permissions.ModeDontAsk
	for name, test := range map[string]struct {
		began  permissions.Mode
		forbid []permissions.Mode
		want   permissions.Mode
	}{
		"from auto":                {permissions.ModeAuto, []permissions.Mode{permissions.ModePlan}, permissions.ModeDefault},
		"from dontAsk":             {dontAsk, []permissions.Mode{permissions.ModePlan}, dontAsk},
		"from dontAsk, which too":  {dontAsk, []permissions.Mode{permissions.ModePlan, dontAsk}, permissions.ModeDefault},
		"from dontAsk, that alone": {dontAsk, []permissions.Mode{dontAsk}, permissions.ModePlan},
	} {
		c := compiler(t, t.TempDir())
		c.Mode = test.began
		s := start(t, c, settings("", ""))
		must(t, s.SetMode(permissions.ModePlan))
		must(t, rules.Apply(settings("", "", test.forbid...), []*rules.State{s}))
		if got := s.View().Policy.Mode(); got != test.want {
			t.Errorf("%s: the mode is %s, not %s", name, got, test.want)
		}
	}
}

// TestLimitPlans: a plan is accepted into no looser mode than the limit.
func TestLimitPlans(t *testing.T) {
	t.Parallel()
	for limit, want := range map[permissions.Mode][]permissions.Mode{
		"": {permissions.ModeAuto, permissions.ModeAcceptEdits}, permissions.ModeAuto: {permissions.ModeAuto, permissions.ModeAcceptEdits},
		permissions.ModeAcceptEdits: {permissions.ModeAcceptEdits}, permissions.ModeDefault: nil, permissions.ModePlan: nil, permissions.ModeDontAsk: nil,
	} {
		c := compiler(t, t.TempDir())
		c.Mode, c.BeforePlan = permissions.ModePlan, permissions.ModeAuto
		s := start(t, c, settings("", ""))
		s.LimitPlans(limit)
		p := rules.PlanMode{State: s}
		if got := p.Into(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", limit, got, want)
		}
		if err := p.Leave(permissions.ModeAuto, nil); (err == nil) != slices.Contains(want, permissions.ModeAuto) {
			t.Errorf("%s: leaving for auto: %v", limit, err)
		}
	}
}

func TestPlacePlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, compiler(t, dir), settings("", ""))
	if s.PlanFile().Path != "" || s.PlacePlan("") == nil {
		t.Error("there is a plan file")
	}
	must(t, s.SetMode(permissions.ModePlan))
	path := filepath.Join(t.TempDir(), "plan.md")
	must(t, s.PlacePlan(path))
	must(t, rules.Apply(settings("", ""), []*rules.State{s}))
	lies := s.PlanFile().Real
	for target, want := range map[string]permissions.Verdict{path: permissions.Allow, path + "x": permissions.Deny} {
		r := permissions.Request{Tool: "Write", Stage: permissions.StageCapability, Accesses: []permissions.Access{{Kind: permissions.AccessWrite, Target: target, Real: lies + strings.TrimPrefix(target, path)}}}
		if d := permissions.Decide(s.View().Policy, r, permissions.Evidence{}); d.Verdict != want {
			t.Errorf("writing %s: %s", target, d.Verdict)
		}
	}
}

// TestMoveFromAdditional moves from an additional working directory: what is in the worktree that it
// came from is none any more, and where it began is one still.
func TestMoveFromAdditional(t *testing.T) {
	t.Parallel()
	began, main, tree := t.TempDir(), t.TempDir(), t.TempDir()
	sub := filepath.Join(main, "sub")
	must(t, os.Mkdir(sub, 0o700))
	c := compiler(t, began)
	c.Setup.Additional = []permissions.Dir{rules.Dir(main), rules.Dir(sub)}
	s := start(t, c, settings("", ""))
	for range 2 {
		must(t, s.Chdir(main))
		must(t, s.Move(tree, main, true))
		for dir, want := range map[string]bool{tree: true, began: true, main: false, sub: false} {
			if s.View().Policy.Inside(filepath.Join(rules.Dir(dir).Real, "a")) != want {
				t.Errorf("%s is a working directory: %t", dir, !want)
			}
		}
		must(t, s.MoveBack(sub))
		if s.View().Cwd != sub || s.View().Policy.Inside(tree) {
			t.Errorf("back in %s", s.View().Cwd)
		}
	}
}

// TestMove has a session work in another worktree, with its mode and what a person allowed, and
// come back to where it was.
func TestMove(t *testing.T) {
	t.Parallel()
	main, tree := t.TempDir(), t.TempDir()
	sub := filepath.Join(main, "sub")
	must(t, os.Mkdir(sub, 0o700))
	s := start(t, compiler(t, main), settings("Read(./secret)", ""))
	must(t, s.SetMode(permissions.ModeAcceptEdits))
	must(t, s.Allow([]string{"Edit(./x)"}, nil, false))
	must(t, s.Chdir(sub))
	inside := func(dir string) bool { return s.View().Policy.Inside(filepath.Join(dir, "a")) }
	denied := func(dir string) bool {
		a := permissions.Access{Kind: permissions.AccessRead, Target: filepath.Join(dir, "secret"), Real: filepath.Join(dir, "secret")}
		return permissions.Decide(s.View().Policy, permissions.Request{Tool: "Read", Effects: permissions.EffectsListed, Accesses: []permissions.Access{a}}, permissions.Evidence{}).Verdict == permissions.Deny
	}

	if err := s.Move(filepath.Join(tree, "gone"), main, true); err == nil || s.View().Cwd != sub || inside(tree) {
		t.Fatalf("moved to what is not there: %v, in %s", err, s.View().Cwd)
	}
	must(t, s.Move(tree, main, true))
	if v := s.View(); v.Cwd != tree || v.Policy.Mode() != permissions.ModeAcceptEdits || !strings.Contains(allowed(v), "Edit(./x)") {
		t.Errorf("in %s, mode %s, with %s", v.Cwd, v.Policy.Mode(), allowed(v))
	}
	if !inside(tree) || inside(main) || !denied(tree) || !denied(main) {
		t.Error("the working directory or the rules did not move")
	}
	if err := s.Chdir(main); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("out of the worktree: %v", err)
	}
	must(t, rules.Apply(settings("Read(./secret)", "Read"), []*rules.State{s})) // new settings do not bring it back
	if s.View().Cwd != tree || !inside(tree) || inside(main) {
		t.Error("new settings moved the session")
	}
	must(t, os.RemoveAll(tree))
	if _, to, moved := s.LeaveRemoved(); moved {
		t.Errorf("it left for %s, which nobody made", to)
	}
	must(t, s.MoveBack(sub))
	if v := s.View(); v.Cwd != sub || !inside(main) || inside(tree) {
		t.Errorf("back in %s", v.Cwd)
	}
	must(t, s.MoveBack(main)) // which does nothing now
	if s.View().Cwd != sub {
		t.Errorf("moved to %s", s.View().Cwd)
	}
}
