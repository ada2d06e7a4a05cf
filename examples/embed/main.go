// Command embed runs one tool call in a program of its own: the built-in tools,
// one rule, the current directory.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

func main() {
	ctx := context.Background()
	rules := permissions.RuleSet{Source: permissions.SourcePolicy, Deny: permissions.RuleTexts("Read(.env)")}
	h, err := host.Open(ctx, host.Options{Builtins: true, Rules: []permissions.RuleSet{rules}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)
	cwd, _ := os.Getwd()
	session, err := h.NewSession(host.SessionOptions{Cwd: cwd})
	if err != nil {
		log.Fatal(err) //nolint:gocritic // nothing is lost with the deferred Close here
	}
	calls := []abi.ToolUse{{ID: "1", Name: "Glob", Input: []byte(`{"pattern": "*.md"}`)}}
	for event := range session.Run(ctx, calls) {
		if event.Kind == host.EventResult {
			fmt.Println(event.Result.Text())
		}
	}
}
