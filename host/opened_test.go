package host_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
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
			yes := agreeing()
			s := session(t, h.Host, host.SessionOptions{Asker: yes})
			const other = `; h=$(printf other); curl -sS http://$h.example.org`
			got := told(t, s, "curl -sS http://shown.example.org"+other)
			if !strings.Contains(got, "reached shown.example.org") || strings.Contains(got, "reached other") || yes.asked.Load() != 1 {
				t.Errorf("got %q after %d questions", got, yes.asked.Load())
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
		sessions[i] = session(t, h.Host, host.SessionOptions{Asker: agreeing()})
	}
	var all sync.WaitGroup
	for i, s := range sessions {
		all.Go(func() {
			command := fmt.Sprintf("curl -sS http://h%d.example.org", i)
			for j := range sessions {
				command += fmt.Sprintf("; n=$(printf %d); curl -sS http://h$n.example.org", j)
			}
			got := told(t, s, command)
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

// whileAsked does something while a person is asked, who then says yes.
type whileAsked func()

func (do whileAsked) Ask(context.Context, host.Approval) (host.Reply, error) {
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
