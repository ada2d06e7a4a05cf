package tools_test

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/tools"
	"github.com/toolquay/toolquay/permissions"
)

type catalog struct {
	list capability.ToolList
	err  error
}

func (c catalog) List() (capability.ToolList, error) { return c.list, c.err }

func list(t *testing.T, c catalog) (abi.Answer, error) {
	t.Helper()
	plan, err := tools.New().Plan(t.Context(), capability.Scope{Tools: c}, abi.Request{Name: abi.CapToolsList})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plan.Close() })
	want := []permissions.Access{{Kind: permissions.AccessSession, Target: "tools"}}
	if got := plan.Accesses(); !slices.Equal(got, want) {
		t.Errorf("accesses %v; want %v", got, want)
	}
	return plan.Do(t.Context(), nil)
}

func TestList(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		catalog  catalog
		ok, body string
	}{
		"nothing": {catalog{}, `{"count":0}`, `[]`},
		"some": {
			catalog{list: capability.ToolList{Deferred: []abi.DeferredTool{
				{Name: "A", Hint: "h", Description: "d"}, {Name: "mcp__x__y", MCP: true},
			}, Ready: []string{"Read"}, Pending: []string{"z"}}},
			`{"count":2,"ready":["Read"],"pending":["z"]}`, `[{"name":"A","hint":"h","description":"d"},{"name":"mcp__x__y","mcp":true}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := list(t, test.catalog)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			ok, err := json.Marshal(answer.OK)
			if err != nil {
				t.Fatal(err)
			}
			if string(ok) != test.ok || string(body) != test.body || answer.Size != int64(len(body)) || answer.BodyType != abi.PartJSON {
				t.Errorf("got %s, %s (%d, %v)", ok, body, answer.Size, answer.BodyType)
			}
		})
	}
}

func TestListFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("a broken manifest")
	if _, err := list(t, catalog{err: broken}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for name, scope := range map[string]capability.Scope{"tools.load": {Tools: catalog{}}, abi.CapToolsList: {}} {
		_, err := tools.New().Plan(t.Context(), scope, abi.Request{Name: name})
		if abi.CodeOf(err) != abi.CodeUnsupported {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
