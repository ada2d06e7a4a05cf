// Command embed is a program with a host inside: the built-in tools, a shell, one rule,
// and a person at the terminal who is asked about everything else.
//
//	go run ./examples/embed
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/permissions"
)

// calls are what a model would have asked for in one message.
var calls = []abi.ToolUse{
	{ID: "1", Name: "Bash", Input: []byte(`{"command": "uname -s"}`)},
	{ID: "2", Name: "Bash", Input: []byte(`{"command": "cat .env"}`)},
	{ID: "3", Name: "Write", Input: []byte(`{"file_path": "notes.md", "content": "# Notes\n"}`)},
}

func main() {
	host.Main() // commands are supervised by this program, started again
	dir, err := os.MkdirTemp("", "embed-")
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), dir)
	_ = os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) error {
	h, err := host.Open(ctx, host.Options{
		Builtins:    true,
		Shell:       &host.Shell{Environ: os.Environ(), Sandbox: host.SandboxOptions{State: filepath.Join(dir, "state")}},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourcePolicy, Deny: permissions.RuleTexts("Read(.env)")}}},
	})
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return err
	}
	s, err := h.NewSession(host.SessionOptions{Cwd: project, Asker: approvals.Func(ask)})
	if err != nil {
		return err
	}
	for event := range s.Run(ctx, calls) { // results in call order, events as they happen
		if event.Kind == host.EventResult {
			fmt.Printf("%s: %s\n", event.Result.ToolUseID, event.Result.Text())
		}
	}
	return nil
}

// ask puts one question to the person at the terminal.
func ask(_ context.Context, a host.Approval) (host.Reply, error) {
	fmt.Printf("%s\n%s %s? [y/N] ", a.Preview, a.Tool, a.Title)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err == nil && strings.TrimSpace(line) == "y" {
		return host.Reply{Answer: host.AnswerAllow}, nil
	}
	return host.Reply{Answer: host.AnswerDeny}, nil
}
