package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
)

// TestToolSearchTellsPendingServers names servers that still connect, those that a deny rule
// keeps away left out, until they have.
func TestToolSearchTellsPendingServers(t *testing.T) {
	t.Parallel()
	h := searchable(t, func(o *host.Options) { o.Permissions.Rules = rules("mcp__hidden", "", "") })
	provide := func(pending ...string) {
		t.Helper()
		if err := h.Provide("servers", host.Provided{Pending: pending}); err != nil {
			t.Fatal(err)
		}
	}
	provide("slow", "hidden", "late")
	s := session(t, h, host.SessionOptions{})
	const note = "MCP servers that are still connecting, whose tools are not listed yet: late, slow. "
	for query, want := range map[string]string{
		"select:LSP": `{"matches":["LSP"],"pending_mcp_servers":["late","slow"],"query":"select:LSP","total_deferred_tools":14}`,
		"quantum":    `{"matches":[],"pending_mcp_servers":["late","slow"],"query":"quantum","total_deferred_tools":14}`,
	} {
		r, _ := one(t, s, "ToolSearch", fmt.Sprintf(`{"query":%q}`, query))
		if string(r.Structured) != want || !strings.Contains(r.Text(), note) || strings.Contains(r.Text(), "hidden") {
			t.Errorf("%s: got %s\n%s", query, r.Structured, r.Text())
		}
	}
	provide()
	r, _ := one(t, s, "ToolSearch", `{"query":"quantum"}`)
	if strings.Contains(r.Text()+string(r.Structured), "late") {
		t.Errorf("connected, and told as pending: %s", r.Text())
	}
}
