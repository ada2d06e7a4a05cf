package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/permissions"
)

func Example() {
	set, err := hooks.Compile([]hooks.Hook{{
		Event:   hooks.PreToolUse,
		Matcher: "Edit|Write",
		Name:    "generated",
		Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
			if strings.Contains(string(in.ToolInput), ".pb.go") {
				return hooks.Output{Verdict: permissions.Deny, Reason: "change the .proto and generate"}, nil
			}
			return hooks.Output{}, nil
		},
	}}, hooks.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.For(hooks.PreToolUse, "Read", nil))
	outcome := set.PreToolUse(context.Background(), hooks.Input{
		Tool: "Write", ToolInput: json.RawMessage(`{"file_path":"api/v1.pb.go"}`),
	})
	fmt.Println(outcome.Verdict, outcome.Reason)
	// Output:
	// false
	// deny the hook "generated" says deny: change the .proto and generate
}
