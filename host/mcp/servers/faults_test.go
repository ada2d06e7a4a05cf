package servers_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestBorrowedName asks for a tool that takes the name that another one had, which a rule allows.
func TestBorrowedName(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
	does := func(said string) mcp.ToolHandler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(said), nil }
	}
	add(s, "a.b", does("the first"))
	h := open(t, host.Options{}, "mcp__one__a_b", "")
	connect(t, h, servers.Config{Name: "one", URL: serve(t, s)})
	sess := session(t, h, host.SessionOptions{})
	if r := call(t.Context(), sess, "mcp__one__a_b", "{}"); r.Text() != "the first" {
		t.Fatalf("got %q", r.Text())
	}
	add(s, "a b", does("the other"))
	wait(t, "the other tool", func() bool {
		d, err := sess.Definitions(host.FormatMCP)
		return err == nil && strings.Contains(string(d), "Does a b.")
	})
	if r := call(t.Context(), sess, "mcp__one__a_b", "{}"); !r.IsError || !strings.Contains(r.Text(), "had another tool under this name") {
		t.Errorf("got %q", r.Text())
	}
}

// TestTakenNames offers the rest where a tool has the very name that another one would be given.
func TestTakenNames(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a|b"))
	s := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
	for _, name := range []string{"a b", "a_b_" + hex.EncodeToString(sum[:])[:8], "a|b", "say"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	}
	h := open(t, host.Options{}, "", "")
	set := connect(t, h, servers.Config{Name: "one", URL: serve(t, s)})
	if got := statusOf(set, "one").Tools; len(got) != 3 || !slices.Contains(got, "mcp__one__say") {
		t.Errorf("there are %q", got)
	}
	if states, err := session(t, h, host.SessionOptions{}).Tools(host.FormatMCP); err != nil || len(states) != 3 {
		t.Errorf("%d tools are offered: %v", len(states), err)
	}
}

// TestQueryIsASecret tells nobody the query of a URL.
func TestQueryIsASecret(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{}, "", "")
	set := connect(t, h, servers.Config{Name: "one", URL: "http://127.0.0.1:1/mcp?key=hunter2"})
	if st := statusOf(set, "one"); st.Problem == nil || strings.Contains(st.Problem.Error(), "hunter2") {
		t.Errorf("the problem is %v", st.Problem)
	}
}

// TestEndpointElsewhere sends no message to another origin that an SSE server names.
func TestEndpointElsewhere(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other.URL)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.CloseClientConnections)
	h := open(t, host.Options{}, "", "")
	set := connect(t, h, servers.Config{Name: "old", URL: server.URL, SSE: true, Network: []string{"127.0.0.1"}, StartTimeout: testenv.Patience})
	if st := statusOf(set, "old"); st.Problem == nil || !strings.Contains(st.Problem.Error(), "another origin") || sent.Load() != 0 {
		t.Errorf("%d messages were sent: %+v", sent.Load(), st)
	}
}

// TestQuestionsWithoutEnd bounds what a person is asked for one call.
func TestQuestionsWithoutEnd(t *testing.T) {
	t.Parallel()
	s := newServer()
	add(s, "nag", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for {
			_, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Well?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
			if err != nil {
				return text(err.Error()), nil
			}
		}
	})
	h := open(t, host.Options{}, "mcp__one", "")
	connect(t, h, servers.Config{Name: "one", URL: serve(t, s)})
	var asked atomic.Int32
	sess := session(t, h, host.SessionOptions{Asker: approvals.AnyFunc(func(context.Context, host.Question) (host.Reply, error) {
		asked.Add(1)
		return host.Reply{Answer: host.AnswerDeny}, nil
	})})
	if r := call(t.Context(), sess, "mcp__one__nag", "{}"); !strings.Contains(r.Text(), "more than 50 questions") || asked.Load() != 50 {
		t.Errorf("asked %d times: %q", asked.Load(), r.Text())
	}
}

// TestSilentStream ends a stream that does not begin in time.
func TestSilentStream(t *testing.T) {
	t.Parallel()
	ended, once := make(chan struct{}), sync.Once{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		once.Do(func() { close(ended) }) // it is tried again
	}))
	t.Cleanup(server.CloseClientConnections)
	h := open(t, host.Options{}, "", "")
	connect(t, h, servers.Config{Name: "old", URL: server.URL, SSE: true, StartTimeout: time.Second})
	select {
	case <-ended:
	case <-time.After(testenv.Patience):
		t.Error("the stream goes on")
	}
}

// TestConfigureAgain keeps the tools of a server that took the place of one still ending.
func TestConfigureAgain(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Shell: &host.Shell{}}, "mcp__one", "")
	slow := program(t, "no-end")
	slow.Name = "one"
	set := connect(t, h, slow)
	set.Configure(nil)
	set.Configure([]servers.Config{{Name: "one", URL: serve(t, newServer())}})
	s := session(t, h, host.SessionOptions{})
	ended := time.After(6 * time.Second) // the program has two seconds, and two more
	wait(t, "the new server", func() bool { return statusOf(set, "one").State == servers.Connected })
	<-ended
	if r := call(t.Context(), s, "mcp__one__say", "{}"); r.Text() != "said {}" {
		t.Errorf("got %q", r.Text())
	}
}
