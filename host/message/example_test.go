package message_test

import (
	"fmt"
	"log"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/message"
)

func Example() {
	m, err := message.Parse([]byte(`{"role": "assistant", "content": [
		{"type": "text", "text": "Let me look."},
		{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "go.mod"}}
	]}`))
	if err != nil {
		log.Fatal(err)
	}
	var results []abi.ToolResult
	for _, call := range m.Calls { // in earnest: session.Results(ctx, m.Calls)
		text := abi.TextBlock("read " + string(call.Input))
		results = append(results, abi.ToolResult{ToolUseID: call.ID, Content: []abi.Block{text}})
	}
	reply, err := message.Reply(m.Format, m.Calls, results)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(reply))
	// Output:
	// {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"read {\"file_path\":\"go.mod\"}"}]}]}
}
