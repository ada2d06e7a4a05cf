package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// process is toolquay, which works for a model in another process.
type process interface {
	// run makes the calls of one message, and returns their results.
	run(t *testing.T, uses []abi.ToolUse) []abi.ToolResult
	// due waits for the text of a scheduled prompt.
	due(t *testing.T) string
	// end ends it, and returns how often a person was asked.
	end(t *testing.T) (asked int)
}

// questions is how often a person is asked in the script, as TestAgent has it.
const questions = 9

// TestAgentOfProcesses plays the script of the worktree for toolquay run --stream and for toolquay
// mcp, as a program in any language would use them. Their clock is the real one, so the prompt may
// take a minute, in which they do the rest.
func TestAgentOfProcesses(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bwrap")
	testenv.NeedTool(t, "git")
	for name, start := range map[string]func(*testing.T, *exec.Cmd) process{"run --stream -": startStream, "mcp": startMCP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, s := t.TempDir(), mended()[0]
			cwd, config := filepath.Join(dir, s.name), filepath.Join(dir, "config")
			if err := os.Mkdir(cwd, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := s.prepare(t.Context(), cwd); err != nil {
				t.Fatal(err)
			}
			if err := writeSkill(filepath.Join(config, "toolquay")); err != nil {
				t.Fatal(err)
			}
			settings := fmt.Sprintf("[sandbox]\nwritable = [%q]\n", goCache(t))
			if err := os.WriteFile(filepath.Join(config, "toolquay", "settings.toml"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), testenv.GoProgram(t, "../../cmd/host"), strings.Fields(name)...)
			cmd.Dir, cmd.Stderr, cmd.WaitDelay = cwd, os.Stderr, testenv.Patience
			cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CACHE_HOME="+testenv.CacheHome(), "GOCACHE="+goCache(t))
			p := start(t, cmd)
			converse := func() {
				var results []abi.ToolResult
				for {
					var uses []abi.ToolUse
					if _, err := s.model.Reply(t.Context(), results, func(use abi.ToolUse) error { uses = append(uses, use); return nil }); err != nil {
						t.Fatal(err)
					}
					if len(uses) == 0 {
						return
					}
					results = p.run(t, uses)
				}
			}
			converse()
			if prompt := p.due(t); prompt != "See whether the mended test was committed." {
				t.Errorf("the prompt is %q", prompt)
			}
			converse()
			if asked := p.end(t); s.model.Err() != nil || asked != questions {
				t.Errorf("a person was asked %d times, want %d; %v", asked, questions, s.model.Err())
			}
			git := exec.CommandContext(t.Context(), "git", "for-each-ref", "--format=%(refname:short) %(subject)", "refs/heads/worktree")
			git.Dir = cwd
			if out, err := git.CombinedOutput(); err != nil || string(out) != "worktree/position Mend TestPositionString\n" {
				t.Errorf("the branches are %q, %v", out, err)
			}
		})
	}
}

// result is what the script looks at of a result, but for its texts.
func result(id string, failed bool, code abi.Code) abi.ToolResult {
	return abi.ToolResult{ToolUseID: id, IsError: failed, Error: &abi.Error{Code: code}}
}

// streamProcess is toolquay run --stream.
type streamProcess struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan streamLine
	// prompts came due, and asked counts the questions.
	prompts []string
	asked   int
}

// streamLine is what is read of a line.
type streamLine struct {
	Type     string   `json:"type"`
	Approval string   `json:"approval"`
	Prompt   string   `json:"prompt"`
	ID       string   `json:"tool_use_id"`
	IsError  bool     `json:"is_error"`
	Code     abi.Code `json:"code"`
	Content  []struct {
		Text string `json:"text"`
	} `json:"content"`
}

func startStream(t *testing.T, cmd *exec.Cmd) process {
	t.Helper()
	p := &streamProcess{cmd: cmd, lines: make(chan streamLine)}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for r := bufio.NewReader(out); ; {
			text, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var l streamLine
			if err := json.Unmarshal(text, &l); err != nil {
				l.Type = "error: " + err.Error()
			}
			p.lines <- l
		}
	}()
	t.Cleanup(func() {
		_ = p.in.Close() // a test that went well has done so
		for range p.lines {
			continue // what is still said concerns nobody
		}
	})
	return p
}

func (p *streamProcess) say(t *testing.T, lines ...any) {
	t.Helper()
	for _, line := range lines {
		if err := json.NewEncoder(p.in).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
}

// await reads lines, and answers questions, until one is of a type.
func (p *streamProcess) await(t *testing.T, kind string) (results []abi.ToolResult) {
	t.Helper()
	for late := time.After(2 * testenv.Patience); ; {
		select {
		case l, ok := <-p.lines:
			switch {
			case !ok:
				t.Fatalf("the command ended before the line %s", kind)
			case l.Type == "permission":
				p.asked++
				p.say(t, input{"type": "answer", "question": l.Approval, "answer": "allow"})
			case l.Type == "result":
				r := result(l.ID, l.IsError, l.Code)
				for _, block := range l.Content {
					r.Content = append(r.Content, abi.TextBlock(block.Text))
				}
				results = append(results, r)
			case l.Type == "cron":
				p.prompts = append(p.prompts, l.Prompt)
			case strings.HasPrefix(l.Type, "error"):
				t.Errorf("the command says %s", l.Type)
			}
			if l.Type == kind {
				return results
			}
		case <-late:
			t.Fatalf("no line %s", kind)
		}
	}
}

func (p *streamProcess) run(t *testing.T, uses []abi.ToolUse) []abi.ToolResult {
	t.Helper()
	for _, use := range uses {
		p.say(t, input{"type": "tool_use", "id": use.ID, "name": use.Name, "input": use.Input})
	}
	p.say(t, input{"type": "end"})
	return p.await(t, "done")
}

func (p *streamProcess) due(t *testing.T) string {
	t.Helper()
	if len(p.prompts) == 0 {
		p.await(t, "cron")
	}
	return strings.Join(p.prompts, "; ")
}

func (p *streamProcess) end(t *testing.T) int {
	t.Helper()
	if err := p.in.Close(); err != nil {
		t.Error(err)
	}
	for range p.lines {
		continue
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return p.asked
}

// mcpProcess is toolquay mcp.
type mcpProcess struct {
	session *mcp.ClientSession
	prompts []string
	asked   int
}

func startMCP(t *testing.T, cmd *exec.Cmd) process {
	t.Helper()
	p := new(mcpProcess)
	client := mcp.NewClient(&mcp.Implementation{Name: "agent"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			p.asked++ // calls come one at a time
			return &mcp.ElicitResult{Action: "accept", Content: input{"answer": "allow"}}, nil
		},
	})
	var err error
	if p.session, err = client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil); err != nil {
		t.Fatal(err)
	}
	p.run(t, []abi.ToolUse{{Name: "ToolSearch", Input: json.RawMessage(`{"query":"select:EnterWorktree,ExitWorktree,CronCreate,CronList"}`)}})
	return p
}

func (p *mcpProcess) run(t *testing.T, uses []abi.ToolUse) (results []abi.ToolResult) {
	t.Helper()
	for _, use := range uses {
		got, err := p.session.CallTool(t.Context(), &mcp.CallToolParams{Name: use.Name, Arguments: use.Input})
		if err != nil {
			t.Fatal(err)
		}
		code, _ := got.Meta["toolquay/code"].(string)
		r := result(use.ID, got.IsError, abi.Code(code))
		for _, content := range got.Content {
			text, ok := content.(*mcp.TextContent)
			switch about, prompt, due := strings.Cut(text.Text, ":]\n"); {
			case !ok:
				t.Errorf("%s gives %+v", use.Name, content)
			case due && strings.HasPrefix(about, "[The prompt that you scheduled as "):
				p.prompts = append(p.prompts, prompt)
			default:
				r.Content = append(r.Content, abi.TextBlock(text.Text))
			}
		}
		results = append(results, r)
	}
	return results
}

// due makes calls until a prompt stands behind a result: a server cannot tell one otherwise.
func (p *mcpProcess) due(t *testing.T) string {
	t.Helper()
	for end := time.Now().Add(2 * testenv.Patience); len(p.prompts) == 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no prompt comes due")
		}
		p.run(t, []abi.ToolUse{{Name: "CronList", Input: json.RawMessage(`{}`)}})
	}
	return strings.Join(p.prompts, "; ")
}

func (p *mcpProcess) end(t *testing.T) int {
	t.Helper()
	if err := p.session.Close(); err != nil {
		t.Error(err)
	}
	return p.asked
}
