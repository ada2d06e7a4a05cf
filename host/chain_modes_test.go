package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

var chainModes = []permissions.Mode{
	permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits, permissions.ModeAuto,
	permissions.ModeBypass, permissions.ModeDontAsk,
}

// chainRow is one thing that a call can do, and what each of chainModes says: a
// for allow, k for ask, d for deny.
type chainRow struct{ name, tool, input, verdicts string }

// chainRows are about a working directory and another one.
func chainRows(dir, elsewhere string) []chainRow {
	return []chainRow{
		{"read inside", "Get", `{"path":"a.txt"}`, "aaaaaa"},
		{"read outside", "Get", `{"path":` + strconv.Quote(elsewhere+"/b.txt") + `}`, "kkkkad"},
		{"read through a link to outside", "Get", `{"path":"out/b.txt"}`, "kkkkad"},
		{"edit inside", "Put", `{"path":"new.txt","text":"x"}`, "kdaaad"},
		{"edit outside", "Put", `{"path":` + strconv.Quote(elsewhere+"/new.txt") + `}`, "kdkkad"},
		{"edit through a link to outside", "Put", `{"path":"out/new.txt"}`, "kdkkad"},
		{"edit a protected file", "Put", `{"path":".git/config"}`, "kdkkad"},
		{"read-only command", "Bash", `{"command":"cat a.txt"}`, "aaaaaa"},
		{"command that reads outside", "Bash", `{"command":"cat ` + elsewhere + `/b.txt"}`, "kkkkad"},
		{"file command inside", "Bash", `{"command":"touch touched"}`, "kdaaad"},
		{"redirect inside", "Bash", `{"command":"echo hi > written"}`, "kdaaad"},
		{"another command", "Bash", `{"command":"sh ./run.sh"}`, "kkkkad"},
		{"command that cannot be judged", "Bash", `{"command":"echo 'a"}`, "kkkkad"},
		{"removal of the working directory", "Bash", `{"command":"rm -r ` + dir + `"}`, "kdkkkd"},
		{"leaving the sandbox", "Bash", `{"command":"cat a.txt","dangerouslyDisableSandbox":true}`, "kkkkkd"},
		{"network", "WebFetch", `{"host":"example.com"}`, "kkkkad"},
	}
}

func chainTree(tb testing.TB) (dir, elsewhere string) {
	tb.Helper()
	dir = files(tb, map[string]string{"a.txt": "alpha", "run.sh": "echo ran", ".git/config": ""})
	elsewhere = files(tb, map[string]string{"b.txt": "beta"})
	must(tb, os.Symlink(elsewhere, filepath.Join(dir, "out")))
	return dir, elsewhere
}

// TestChainModes runs each row of the table of modes in each mode, and looks
// whether the tool ran.
func TestChainModes(t *testing.T) {
	t.Parallel()
	var r ran
	tools := []host.NativeTool{r.get(), r.put(), r.shell(notRun), r.fetch()}
	h := open(t, host.Options{Tools: tools})
	for i, mode := range chainModes {
		dir, elsewhere := chainTree(t)
		for _, row := range chainRows(dir, elsewhere) {
			t.Run(fmt.Sprintf("%s in %s", row.name, mode), func(t *testing.T) {
				person := no()
				s := session(t, h, host.SessionOptions{Cwd: dir, Mode: mode, Asker: person})
				before := r.count()
				result, events := one(t, s, row.tool, row.input)
				got := "d"
				switch {
				case r.count() > before:
					got = "a"
				case person.asked.Load() > 0:
					got = "k"
				}
				if want := row.verdicts[i : i+1]; got != want {
					t.Errorf("got %s, want %s: %s", got, want, result.Text())
				}
				if first := of(events, host.EventDecided)[0].Decision.Verdict; first.String()[:1] != got && (first != permissions.Ask || got != "k") {
					t.Errorf("the decision says %v", first)
				}
				if got == "k" {
					wantError(t, result, abi.CodeDenied, "not that")
				}
			})
		}
	}
}

// TestChainExplain holds what is explained against what happens, where nobody can
// be asked.
func TestChainExplain(t *testing.T) {
	t.Parallel()
	var r ran
	tools := []host.NativeTool{r.get(), r.put(), r.shell(notRun), r.fetch(), echo("Echo"), echo("Wild", func(c *abi.Tool) { c.ReadOnly = abi.TraitFalse })}
	for name, list := range map[string][]permissions.RuleSet{
		"no rules": nil,
		"rules":    rules("Read(./a.txt) | Bash(sh *)", "Put | WebFetch(domain:example.com)", "Read(out/**) | Bash(make *) | Wild"),
		"broad":    rules("", "", "Bash | Put | WebFetch"),
	} {
		h := open(t, host.Options{Tools: tools, Permissions: host.PermissionOptions{Rules: list}})
		for _, mode := range chainModes {
			dir, elsewhere := chainTree(t)
			rows := append(chainRows(dir, elsewhere), chainRow{name: "read-only tool", tool: "Echo", input: `{}`},
				chainRow{name: "tool of unknown effects", tool: "Wild", input: `{}`})
			for _, row := range rows {
				t.Run(fmt.Sprintf("%s: %s in %s", name, row.name, mode), func(t *testing.T) {
					s := session(t, h, host.SessionOptions{Cwd: dir, Mode: mode})
					x, err := s.Explain(t.Context(), use("c1", row.tool, row.input))
					must(t, err)
					_, events := one(t, s, row.tool, row.input)
					did := of(events, host.EventDecided)[0].Decision
					if x.Decision.Verdict != did.Verdict || x.Decision.Layer != did.Layer || x.Decision.Headless != did.Headless {
						t.Errorf("explained as %v by %s, decided as %v by %s", x.Decision.Verdict, x.Decision.Layer, did.Verdict, did.Layer)
					}
				})
			}
		}
	}
}

// TestChainPlan enters and leaves plan mode.
func TestChainPlan(t *testing.T) {
	t.Parallel()
	var r ran
	h := open(t, host.Options{Tools: r.chainTools()})
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits})
	put := func() abi.ToolResult {
		result, _ := one(t, s, "Put", `{"path":"a","text":"x"}`)
		return result
	}
	mode := func(want permissions.Mode) {
		t.Helper()
		if got := s.Mode(); got != want {
			t.Fatalf("the mode is %s, want %s", got, want)
		}
	}
	must(t, s.SetMode(permissions.ModePlan))
	must(t, s.SetMode(permissions.ModePlan)) // twice: the mode before it is still the one before
	wantError(t, put(), abi.CodeDenied, "plan mode")
	must(t, s.LeavePlan())
	mode(permissions.ModeAcceptEdits)
	if result := put(); result.IsError {
		t.Error(result.Text())
	}
	if err := s.LeavePlan(); err == nil || !strings.Contains(err.Error(), "acceptEdits") {
		t.Errorf("left plan twice: %v", err)
	}
	must(t, s.SetMode(permissions.ModePlan))
	must(t, h.Apply(host.Settings{})) // other settings leave a session where it is
	mode(permissions.ModePlan)
	must(t, h.Apply(host.Settings{ForbiddenModes: []permissions.Mode{permissions.ModeAcceptEdits}}))
	must(t, s.LeavePlan())
	mode(permissions.ModeDefault)
	if err := s.SetMode("yolo"); err == nil {
		t.Error("an unknown mode was entered")
	}
	mode(permissions.ModeDefault)
}

// TestModesAreTold tells of each change of the mode, and of nothing that changes none.
func TestModesAreTold(t *testing.T) {
	t.Parallel()
	var told []string // no turn runs, so that nobody else is told
	h := open(t, host.Options{Observe: host.ObserveOptions{Events: func(e host.Event) {
		if e.Kind == host.EventMode {
			told = append(told, string(e.Mode.Before+" "+e.Mode.Mode)+" "+e.Session+e.Turn)
		}
	}}})
	s, err := h.NewSession(host.SessionOptions{ID: "s", Cwd: t.TempDir(), Mode: permissions.ModeAcceptEdits})
	must(t, err)
	must(t, s.SetMode(permissions.ModePlan))
	must(t, s.SetMode(permissions.ModePlan))
	must(t, h.Apply(host.Settings{}))
	must(t, s.LeavePlan())
	must(t, h.Apply(host.Settings{ForbiddenModes: []permissions.Mode{permissions.ModeAcceptEdits}}))
	must(t, s.Close(t.Context())) // all is told before it returns
	if want := []string{"acceptEdits plan s", "plan acceptEdits s", "acceptEdits default s"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestChainForbiddenModes forbids modes before and after sessions are in them.
func TestChainForbiddenModes(t *testing.T) {
	t.Parallel()
	forbidden := []permissions.Mode{permissions.ModeBypass, permissions.ModeAuto}
	var r ran
	h := open(t, host.Options{Tools: r.chainTools()})
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass})
	other := session(t, h, host.SessionOptions{})
	must(t, other.SetMode(permissions.ModeAuto))
	must(t, h.Apply(host.Settings{ForbiddenModes: forbidden}))
	for _, s := range []*host.Session{s, other} {
		if got := s.Mode(); got != permissions.ModeDefault {
			t.Errorf("a session goes on in %s", got)
		}
	}
	for _, m := range forbidden {
		if err := s.SetMode(m); err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("%s: %v", m, err)
		}
		if _, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Mode: m}); err == nil {
			t.Errorf("a session began in %s", m)
		}
	}
	result, _ := one(t, s, "Put", `{"path":"a","text":"x"}`)
	wantError(t, result, abi.CodeNeedsApproval)
	must(t, h.Apply(host.Settings{}))
	if got := s.Mode(); got != permissions.ModeDefault {
		t.Errorf("allowed again, the session is in %s: nobody said so", got)
	}
}

// TestChainPlaces replaces working directories by links: where a session works was
// settled when it began.
func TestChainPlaces(t *testing.T) {
	t.Parallel()
	var r ran
	for name, replaced := range map[string]string{"the working directory": "w", "an additional one": "more"} {
		t.Run(name, func(t *testing.T) {
			root := files(t, map[string]string{"w/a.txt": "", "more/b.txt": "", "elsewhere/secret.txt": "s"})
			h := open(t, host.Options{Tools: r.chainTools()})
			s := session(t, h, host.SessionOptions{
				Cwd: filepath.Join(root, "w"), AdditionalDirs: []string{filepath.Join(root, "more")}, Mode: permissions.ModeAcceptEdits,
			})
			dir := filepath.Join(root, replaced)
			must(t, os.RemoveAll(dir))
			must(t, h.Apply(host.Settings{})) // a directory that is gone is no reason to go by older settings
			must(t, os.Symlink(filepath.Join(root, "elsewhere"), dir))
			must(t, h.Apply(host.Settings{}))
			result, _ := one(t, s, "Put", fmt.Sprintf(`{"path":%q,"text":"x"}`, filepath.Join(dir, "secret.txt")))
			wantError(t, result, abi.CodeNeedsApproval)
		})
	}
}
