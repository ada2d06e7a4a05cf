// Command background has a build run in the background, looks how far it has come,
// does something else meanwhile, and ends it: what an agent does with a development
// server or a long test run. Each turn here is what a model would have sent. It needs
// nothing but Go: with an empty build cache, all of the standard library that a web
// server is made of is compiled.
//
//	go run ./examples/background
package main

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

// build takes its time, and says what it has compiled.
const build = "go build -v -o app ."

// project is what is built.
var project = map[string]string{
	"go.mod": "module example.com/app\n\ngo 1.24\n",
	"main.go": `package main

import (
	"log"
	"net/http"
)

func main() { log.Fatal(http.ListenAndServe("localhost:8080", http.NotFoundHandler())) }
`,
}

func main() {
	host.Main() // commands are looked after by children of this program
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "toolquay-example-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // after the host was closed
	cwd, state := filepath.Join(dir, "project"), filepath.Join(dir, "state")
	if err := writeProject(cwd); err != nil {
		return err
	}
	h, err := host.Open(ctx, host.Options{
		Builtins:    true,
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourcePolicy, Allow: permissions.RuleTexts("Bash(go build:*)")}}},
		Shell: &host.Shell{
			Sandbox: host.SandboxOptions{State: state}, Environment: []string{"GOCACHE", "GOTOOLCHAIN"},
			Environ: append(os.Environ(), "GOCACHE="+filepath.Join(cwd, ".cache"), "GOTOOLCHAIN=local"),
		},
		Observe: host.ObserveOptions{Events: tell},
	})
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	session, err := h.NewSession(host.SessionOptions{Cwd: cwd})
	if err != nil {
		return err
	}
	started := turn(ctx, session, call("start", "Bash", map[string]any{"command": build, "description": "Build everything", "run_in_background": true}))
	task, err := taskOf(started[0])
	if err != nil {
		return err
	}
	for compiled := false; !compiled; {
		results := turn(
			ctx, session,
			call("poll", "TaskOutput", map[string]any{"task_id": task, "timeout": 1000}),
			call("meanwhile", "Grep", map[string]any{"pattern": "localhost:[0-9]+", "output_mode": "content"}),
		)
		compiled = results[0].IsError || strings.Contains(results[0].Text(), "internal/")
	}
	turn(ctx, session, call("stop", "TaskStop", map[string]any{"task_id": task}))
	return nil
}

func writeProject(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, text := range project {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// turn runs the calls of one message, and shows what the model is told.
func turn(ctx context.Context, session *host.Session, calls ...abi.ToolUse) []abi.ToolResult {
	results := session.Results(ctx, calls)
	for _, r := range results {
		fmt.Printf("== %s\n%s\n", r.ToolUseID, r.Text())
	}
	return results
}

func call(id, tool string, input map[string]any) abi.ToolUse {
	text, err := json.Marshal(input)
	if err != nil {
		log.Fatal(err) // it is plain data
	}
	return abi.ToolUse{ID: id, Name: tool, Input: text}
}

// taskOf reads the task's id out of what Bash answered for programs.
func taskOf(r abi.ToolResult) (string, error) {
	var answer struct {
		Task string `json:"task_id"`
	}
	if err := json.Unmarshal(r.Structured, &answer); err != nil || answer.Task == "" {
		return "", fmt.Errorf("the build did not start: %s", r.Text())
	}
	return answer.Task, nil
}

// tell shows what an embedder learns of tasks, whichever turn is on.
func tell(e host.Event) {
	if e.Kind == host.EventTask {
		fmt.Printf("-- task %s is %s\n", e.Task.ID, e.Task.State)
	}
}
