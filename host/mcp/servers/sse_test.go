package servers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
)

// TestSSE calls a tool by the older transport, more than once: its stream outlives the start.
func TestSSE(t *testing.T) {
	t.Parallel()
	s := newServer()
	server := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	h := open(t, host.Options{}, "mcp__old", "")
	set := connect(t, h, servers.Config{Name: "old", URL: server.URL, SSE: true})
	sess := session(t, h, host.SessionOptions{})
	for range 2 {
		if r := call(t.Context(), sess, "mcp__old__say", `{"a":1}`); r.IsError || !strings.Contains(r.Text(), `said {"a":1}`) {
			t.Errorf("%+v; %+v", r, set.Status())
		}
	}
}
