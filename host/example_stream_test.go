package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// Calls run while the model still writes: the first result is there before the
// second call is known.
func ExampleSession_Stream() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello\n"), 0o600); err != nil {
		log.Panic(err)
	}
	h, err := host.Open(ctx, host.Options{Builtins: true})
	if err != nil {
		log.Panic(err)
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
	if err != nil {
		log.Panic(err)
	}

	stream := s.Stream(ctx)
	add := func(id, name, input string) {
		if err := stream.Add(abi.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}); err != nil {
			log.Panic(err)
		}
	}
	add("1", "Read", `{"file_path":"hello.txt"}`)
	for event := range stream.Events() {
		if event.Kind != host.EventResult {
			continue
		}
		fmt.Println(event.CallID, event.Result.Text())
		if event.CallID == "1" { // the model goes on writing
			add("2", "Glob", `{"pattern":"*.txt"}`)
			stream.Close() // and its message is complete
		}
	}
	// Output:
	// 1      1	hello
	// 2 hello.txt
}
