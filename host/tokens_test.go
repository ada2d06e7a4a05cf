package host_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/toolquay/toolquay/host"
)

// What the definitions of the tools in the box may take of a context, in tokens. Each counts
// in every request that a model gets.
const (
	mostTokens         = 9000 // of all that there are
	mostTokensDeferred = 3000 // of what is offered where tools that can wait do
)

// TestDefinitionsTakeFewTokens counts the tokens of definitions as a model's API is sent them.
func TestDefinitionsTakeFewTokens(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	must(t, err)
	count := func(definition []byte) int {
		n, err := codec.Count(string(definition))
		must(t, err)
		return n
	}

	t.Run("all", func(t *testing.T) {
		t.Parallel()
		s := session(t, newShelled(t).Host, host.SessionOptions{})
		tools, err := s.Tools(host.FormatAnthropic)
		must(t, err)
		total := 0
		for _, tool := range tools { // those that are not offered too
			definition, err := json.Marshal(map[string]any{
				"name": tool.Name, "description": tool.Description, "input_schema": json.RawMessage(tool.InputSchema),
			})
			must(t, err)
			n := count(definition)
			t.Logf("%5d %s", n, tool.Name)
			total += n
		}
		if total > mostTokens {
			t.Errorf("the definitions of all %d tools take %d tokens; the limit is %d", len(tools), total, mostTokens)
		}
		t.Logf("%5d all", total)
	})
	t.Run("deferred", func(t *testing.T) {
		t.Parallel()
		h := newShelled(t, func(o *host.Options) {
			o.Model.Toolset.Defer = host.DeferAlways
			o.Storage.Worktrees = filepath.Join(o.Paths.Home, "state/worktrees")
			text := func(context.Context, string) (string, error) { return "Fill it in.", nil }
			o.Skills.Own = []host.Skill{{Name: "pdf", Description: "Fills in forms", Fetch: text}} // without one no tool loads them
		})
		s := session(t, h.Host, host.SessionOptions{Asker: yes(), Prompts: true})
		// The format in which deferred tools are not sent at all.
		total := count([]byte(definitions(t, s, host.FormatOpenAI)))
		if total > mostTokensDeferred {
			t.Errorf("the definitions that are sent where tools are deferred take %d tokens; the limit is %d", total, mostTokensDeferred)
		}
		t.Logf("%5d deferred", total)
	})
}
