package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// A turn of calls over real files, with a rule.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"hello.txt": "hello\n", "key.pem": "secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	h, err := host.Open(ctx, host.Options{
		Builtins:    true,
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(*.pem)")}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
	if err != nil {
		log.Fatal(err)
	}
	calls := []abi.ToolUse{
		{ID: "1", Name: "Read", Input: json.RawMessage(`{"file_path":"hello.txt"}`)},
		{ID: "2", Name: "Read", Input: json.RawMessage(`{"file_path":"key.pem"}`)},
	}
	for _, r := range s.Results(ctx, calls) {
		fmt.Println(r.ToolUseID, r.IsError, strings.Contains(r.Text(), "Read(*.pem)"))
	}
	// Output:
	// 1 false false
	// 2 true true
}

// A tool of the embedder's own takes the same way as a plugin's.
func ExampleNewTool() {
	type input struct {
		Celsius float64 `json:"celsius"`
	}
	toFahrenheit := host.NewTool(abi.Tool{
		Name:            "Fahrenheit",
		Summary:         "Converts a temperature",
		InputSchema:     `{"type":"object","properties":{"celsius":{"type":"number"}},"required":["celsius"]}`,
		ReadOnly:        abi.TraitTrue,
		ConcurrencySafe: abi.TraitTrue,
	}, func(_ context.Context, in input) (string, error) {
		return fmt.Sprintf("%.0f °F", in.Celsius*9/5+32), nil
	})

	ctx := context.Background()
	h, err := host.Open(ctx, host.Options{Tools: []host.NativeTool{toFahrenheit}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: os.TempDir()})
	if err != nil {
		log.Fatal(err)
	}
	for _, input := range []string{`{"celsius":20}`, `{"celsius":"warm"}`} {
		r := s.Results(ctx, []abi.ToolUse{{ID: "1", Name: "Fahrenheit", Input: json.RawMessage(input)}})[0]
		fmt.Println(r.Text())
	}
	// Output:
	// 68 °F
	// <tool_use_error>Fahrenheit: celsius: expected number, but got string</tool_use_error>
}
