package host_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// newReaching returns a host whose commands find all hosts at one local server, which
// answers "reached" and the host that it was asked for.
func newReaching(t *testing.T, change ...func(o *host.Options)) *shelled {
	t.Helper()
	testenv.NeedTool(t, "curl")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "reached", r.Host) }))
	t.Cleanup(server.Close)
	return newShelled(t, append([]func(o *host.Options){func(o *host.Options) {
		o.Permissions.Rules = rules("", "", "")
		o.Shell.LeadTo(server.Listener.Addr())
	}}, change...)...)
}

// TestApprovedHost opens the host that a person was shown to the call that they allowed, and
// nothing else to nobody else: with rules on hosts and with no network at all.
func TestApprovedHost(t *testing.T) {
	t.Parallel()
	for _, network := range []host.SandboxNetwork{host.NetworkOff, host.NetworkHosts} {
		t.Run(string(network), func(t *testing.T) {
			t.Parallel()
			h := newReaching(t, func(o *host.Options) { o.Shell.Sandbox.Network = network })
			s := session(t, h.Host, host.SessionOptions{Asker: onlyCalls{}})
			const other = `; h=$(printf other); curl -sS http://$h.example.org`
			if got := told(t, s, "curl -sS http://shown.example.org"+other); !strings.Contains(got, "reached shown.example.org") || strings.Contains(got, "reached other") {
				t.Errorf("got %q", got)
			}
			if got := told(t, s, `h=$(printf shown); curl -sS http://$h.example.org`); strings.Contains(got, "reached shown") {
				t.Errorf("the next call: %q", got)
			}
		})
	}
}

// TestApprovedHostBeside has calls run side by side, of which a person allowed each another
// host: none reaches that of the others.
func TestApprovedHostBeside(t *testing.T) {
	t.Parallel()
	h := newReaching(t)
	sessions := make([]*host.Session, 3)
	for i := range sessions {
		sessions[i] = session(t, h.Host, host.SessionOptions{Asker: onlyCalls{}})
	}
	var all sync.WaitGroup
	for i, s := range sessions {
		all.Go(func() {
			commands := []string{fmt.Sprintf("curl -sS http://h%d.example.org", i)}
			for j := range sessions {
				commands = append(commands, fmt.Sprintf("n=$(printf %d); curl -sS http://h$n.example.org", j))
			}
			got := told(t, s, strings.Join(commands, "; "))
			for j := range sessions {
				if want := fmt.Sprintf("reached h%d.example.org", j); strings.Contains(got, want) != (i == j) {
					t.Errorf("call %d: got %q", i, got)
				}
			}
		})
	}
	all.Wait()
}

// TestApprovedHostDenied keeps a host closed that a rule denies meanwhile, and one of this
// machine that no person was shown.
func TestApprovedHostDenied(t *testing.T) {
	t.Parallel()
	h := newReaching(t)
	s := session(t, h.Host, host.SessionOptions{Asker: whileAsked(func() {
		must(t, h.Apply(host.Settings{Rules: rules("WebFetch(domain:example.org)", "", "")}))
	})})
	result, _ := one(t, s, "Bash", `{"command":"curl -sS http://example.org"}`)
	wantError(t, result, abi.CodeDenied)
}

// onlyCalls allows calls, and nothing more that they ask for.
type onlyCalls struct{}

func (onlyCalls) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (onlyCalls) Ask(_ context.Context, question host.Question) (host.Reply, error) {
	q := *question.Approval
	if q.Capability != "" {
		return host.Reply{Answer: host.AnswerDeny}, nil
	}
	return host.Reply{Answer: host.AnswerAllow}, nil
}

// whileAsked does something while a person is asked, who then says yes.
type whileAsked func()

func (whileAsked) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (do whileAsked) Ask(context.Context, host.Question) (host.Reply, error) {
	do()
	return host.Reply{Answer: host.AnswerAllow}, nil
}

// TestApprovedPath opens to a command exactly the path that a person was shown.
func TestApprovedPath(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("", "", "Bash") })
	shared := filepath.Join(h.home, "shared")
	must(t, os.MkdirAll(filepath.Join(shared, "tree/sub"), 0o700))
	for _, name := range []string{"a.txt", "b.txt", "tree/sub/c.txt"} {
		must(t, os.WriteFile(filepath.Join(shared, name), []byte("old\n"), 0o600))
	}
	yes := agreeing()
	s := session(t, h.Host, host.SessionOptions{Asker: yes})
	told(t, s, "echo new > ~/shared/a.txt; f=$(printf b); echo new 2>/dev/null > ~/shared/$f.txt; echo new > ~/shared/made.txt")
	told(t, s, "rm -r ~/shared/tree/sub")
	for name, want := range map[string]string{"a.txt": "new\n", "b.txt": "old\n", "made.txt": "", "tree/sub/c.txt": ""} {
		if got, _ := os.ReadFile(filepath.Join(shared, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if yes.asked.Load() != 2 {
		t.Errorf("%d questions", yes.asked.Load())
	}
}

// answering answers questions in turn, and keeps them.
type answering struct {
	replies []host.Reply
	asked   []host.Approval
}

func (*answering) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (a *answering) Ask(_ context.Context, question host.Question) (host.Reply, error) {
	q := *question.Approval
	a.asked = append(a.asked, q)
	if len(a.asked) > len(a.replies) {
		return host.Reply{}, errors.New("one question too many")
	}
	reply := a.replies[len(a.asked)-1]
	if reply.Remember != nil { // the option with that target
		at := slices.IndexFunc(q.Remember, func(o host.RememberOption) bool { return o.Target == reply.Remember.Target })
		if at < 0 {
			return host.Reply{}, fmt.Errorf("%q is not offered", reply.Remember.Target)
		}
		reply.Remember = &q.Remember[at]
	}
	return reply, nil
}

// hidden reaches a host that its words do not tell, notes that it ran, and ends well.
const hidden = `echo ran >> runs; h=$(printf hidden); curl -sS http://$h.example.org http://$h.example.net | cat`

// TestOfferedHosts offers to open the hosts that a command was kept from, once, and runs it
// again after a yes and never without one.
func TestOfferedHosts(t *testing.T) {
	t.Parallel()
	yes, no := host.Reply{Answer: host.AnswerAllow}, host.Reply{Answer: host.AnswerDeny}
	for name, test := range map[string]struct {
		replies  []host.Reply
		mode     permissions.Mode
		network  host.SandboxNetwork
		deny     string
		runs     int
		asked    int
		says     string
		headless bool
	}{
		"yes":                    {replies: []host.Reply{yes}, runs: 2, asked: 1, says: "second run"},
		"yes, without a network": {replies: []host.Reply{yes}, network: host.NetworkOff, runs: 2, asked: 1, says: "second run"},
		"yes, in auto":           {replies: []host.Reply{yes}, mode: permissions.ModeAuto, runs: 2, asked: 1, says: "second run"},
		"no":                     {replies: []host.Reply{no}, runs: 1, asked: 1, says: "A person was asked whether it may reach hidden.example.org, hidden.example.net and run again"},
		"one is denied":          {replies: []host.Reply{yes, yes}, deny: "WebFetch(domain:hidden.example.net)", runs: 2, asked: 2, says: "kept it from hidden.example.net (a rule denies it)"},
		"all are denied":         {replies: []host.Reply{yes}, deny: "WebFetch(domain:*.example.net) | WebFetch(domain:*.example.org)", runs: 1, asked: 1},
		"nobody is asked":        {mode: permissions.ModeDontAsk, runs: 1, says: `allow = ["WebFetch(domain:hidden.example.org)", "WebFetch(domain:hidden.example.net)"]`},
		"nobody is there":        {headless: true, runs: 1, says: `allow = ["WebFetch(domain:hidden.example.org)", "WebFetch(domain:hidden.example.net)"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newReaching(t, func(o *host.Options) {
				o.Permissions.Rules = rules(test.deny, "", "Bash")
				o.Shell.Sandbox.Network = cmp.Or(test.network, host.NetworkHosts)
			})
			a, dir := &answering{replies: test.replies}, t.TempDir()
			o := host.SessionOptions{Cwd: dir, Mode: test.mode, Asker: a}
			if test.headless {
				o.Asker = nil
			}
			got := told(t, session(t, h.Host, o), hidden)
			if runs, _ := os.ReadFile(filepath.Join(dir, "runs")); strings.Count(string(runs), "ran") != test.runs || len(a.asked) != test.asked || !strings.Contains(got, test.says) {
				t.Errorf("it ran %q, after %d questions: %s", runs, len(a.asked), got)
			}
			if reached := strings.Contains(got, "reached hidden.example.org"); reached != (test.runs > 1) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestOfferIsRemembered opens for the session what a person allowed it, asks of what they
// declined once, and shows what a yes does.
func TestOfferIsRemembered(t *testing.T) {
	t.Parallel()
	h := newReaching(t, func(o *host.Options) {
		o.Permissions.Rules, o.Shell.Sandbox.Network = rules("", "", "Bash"), host.NetworkHosts
	})
	session1 := &answering{replies: []host.Reply{{Answer: host.AnswerAllow, Remember: &host.RememberOption{Target: host.TargetSession}}}}
	s := session(t, h.Host, host.SessionOptions{Asker: session1})
	for range 2 {
		if got := told(t, s, hidden); !strings.Contains(got, "reached hidden.example.net") {
			t.Errorf("got %q", got)
		}
	}
	if len(session1.asked) != 1 {
		t.Fatalf("%d questions", len(session1.asked))
	}
	q := session1.asked[0]
	const why = "The command tried to reach hidden.example.org, hidden.example.net, which no rule allows. A yes allows that and runs the command again."
	if !slices.Equal(q.Reasons, []string{why}) || q.Capability != abi.CapShellRun || q.DenyEndsTurn || len(q.Accesses) != 2 ||
		!slices.Equal(q.Remember[0].Rules, []string{"WebFetch(domain:hidden.example.org)", "WebFetch(domain:hidden.example.net)"}) {
		t.Errorf("the question is %+v", q)
	}
	declined := &answering{replies: []host.Reply{{Answer: host.AnswerDeny}}}
	s = session(t, h.Host, host.SessionOptions{Asker: declined})
	for range 2 {
		if got := told(t, s, hidden); strings.Contains(got, "reached hidden") {
			t.Errorf("got %q", got)
		}
	}
	if len(declined.asked) != 1 {
		t.Errorf("%d questions after a no", len(declined.asked))
	}
}

// TestRememberedHost remembers with a command the hosts that it names, or where nothing else
// is to be asked, them alone.
func TestRememberedHost(t *testing.T) {
	t.Parallel()
	for mode, want := range map[permissions.Mode][]string{
		permissions.ModeDefault:     {"Bash(curl -sS http://shown.example.org)", "WebFetch(domain:shown.example.org)"},
		permissions.ModeAcceptEdits: {"WebFetch(domain:shown.example.org)"},
	} {
		h := newReaching(t, func(o *host.Options) { o.Shell.Sandbox.Network = host.NetworkHosts })
		always := &answering{replies: []host.Reply{{Answer: host.AnswerAllow, Remember: &host.RememberOption{Target: host.TargetSession}}}}
		s := session(t, h.Host, host.SessionOptions{Asker: always, Mode: mode})
		for range 2 {
			if got := told(t, s, "curl -sS http://shown.example.org"); got != "reached shown.example.org" {
				t.Errorf("got %q", got)
			}
		}
		if got := always.asked[0].Remember[0].Rules; !slices.Equal(got, want) || len(always.asked) != 1 {
			t.Errorf("%s: %d questions, remembered are %q, want %q", mode, len(always.asked), got, want)
		}
	}
}

// TestOutside lets commands leave the sandbox unasked that the settings name, also where nobody
// can be asked, and no others.
func TestOutside(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Outside: permissions.RuleTexts("sh leave.sh", "docker:*")}}
	})
	dir, leave := files(t, map[string]string{"leave.sh": "echo left > ~/left"}), map[string]any{"dangerouslyDisableSandbox": true}
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	left := func() bool { _, err := os.Stat(filepath.Join(h.home, "left")); return err == nil }
	if got := told(t, s, "sh leave.sh"); left() || !strings.Contains(got, "needs a person's approval") {
		t.Errorf("inside: %q", got)
	}
	if got := told(t, s, "sh leave.sh; sh other.sh", leave); left() || !strings.Contains(got, `outside = ["sh leave.sh:*", "sh other.sh:*"] under [sandbox]`) {
		t.Errorf("another one: %q", got)
	}
	if got := told(t, s, "sh leave.sh", leave); !left() {
		t.Errorf("got %q", got)
	}
}

// TestOutsideIsTold tells a command that failed inside how it leaves.
func TestOutsideIsTold(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = append(rules("", "", "Bash"), permissions.RuleSet{Source: permissions.SourceUser, Outside: permissions.RuleTexts("sh leave.sh")})
	})
	s := session(t, h.Host, host.SessionOptions{Cwd: files(t, map[string]string{"leave.sh": "echo left > ~/left"})})
	if got := told(t, s, "sh leave.sh"); !strings.Contains(got, "call it with dangerouslyDisableSandbox = true") {
		t.Errorf("got %q", got)
	}
}

// TestOutsideIsRemembered offers to write to the user's settings, and nowhere else, that a
// command may leave the sandbox, which counts at once.
func TestOutsideIsRemembered(t *testing.T) {
	t.Parallel()
	var written []host.RememberOption
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = rules("", "", "")
		o.Permissions.RuleTargets = map[host.RuleTarget]string{host.TargetUser: "/u.toml", host.TargetProject: "/p.toml"}
		o.Permissions.Remember = func(o host.RememberOption) error {
			written = append(written, o)
			return nil
		}
	})
	dir, leave := files(t, map[string]string{"leave.sh": "echo left >> ~/left"}), map[string]any{"dangerouslyDisableSandbox": true}
	a := &answering{replies: []host.Reply{{Answer: host.AnswerAllow, Remember: &host.RememberOption{Target: host.TargetUser}}}}
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: a})
	for range 2 {
		told(t, s, "sh leave.sh", leave)
	}
	left, _ := os.ReadFile(filepath.Join(h.home, "left"))
	if string(left) != "left\nleft\n" || len(a.asked) != 1 || len(a.asked[0].Remember) != 1 {
		t.Fatalf("left %q after %d questions: %+v", left, len(a.asked), a.asked[0].Remember)
	}
	if want := (host.RememberOption{Target: host.TargetUser, File: "/u.toml", Outside: []string{"sh leave.sh:*"}}); len(written) != 1 || !reflect.DeepEqual(written[0], want) {
		t.Errorf("written %+v, want %+v", written, want)
	}
}
