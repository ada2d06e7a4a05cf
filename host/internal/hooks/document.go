package hooks

import (
	"bytes"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// document is what a command gets on its standard input.
type document struct {
	SessionID string `json:"session_id"`
	TurnID    string `json:"turn_id"`
	permissions.Caller
	Cwd           string          `json:"cwd"`
	Mode          string          `json:"permission_mode"`
	Event         Event           `json:"hook_event_name"`
	Tool          string          `json:"tool_name"`
	ToolInput     json.RawMessage `json:"tool_input"`
	ToolUseID     string          `json:"tool_use_id"`
	Plugin        string          `json:"plugin,omitempty"`
	Server        string          `json:"mcp_server,omitempty"`
	ServerTool    string          `json:"mcp_tool,omitempty"`
	Binding       string          `json:"binding,omitempty"`
	Response      *response       `json:"tool_response,omitempty"`
	*callError                    // with PostToolUseFailure
	*taskDocument                 // with TaskCreated and TaskCompleted
	*Worktree                     // with WorktreeCreated and WorktreeRemoved
}

// taskDocument is the task that a hook is asked about.
type taskDocument struct {
	ID          string `json:"task_id"`
	Subject     string `json:"task_subject"`
	Description string `json:"task_description,omitempty"`
	Owner       string `json:"task_owner,omitempty"`
}

// callError is why a call could not run to its end.
type callError struct {
	Error         string   `json:"error,omitempty"`
	ErrorCode     abi.Code `json:"error_code,omitempty"`
	IsInterrupted bool     `json:"is_interrupt"`
}

func (in *Input) document() ([]byte, error) {
	d := document{
		SessionID: in.SessionID,
		TurnID:    in.TurnID,
		Caller:    in.Caller,
		Cwd:       in.Cwd,
		Mode:      string(in.Mode),
		Event:     in.Event,
		Tool:      in.Tool,
		ToolInput: in.ToolInput,
		ToolUseID: in.ToolUseID,
		Plugin:    in.Plugin, Server: in.Server, ServerTool: in.ServerTool,
		Binding: in.Binding,
	}
	switch in.Event {
	case PostToolUse:
		d.Response = newResponse(in.Result)
	case TaskCreated, TaskCompleted:
		d.taskDocument = &taskDocument{in.Task.ID, in.Task.Subject, in.Task.Description, in.Task.Owner}
	case WorktreeCreated, WorktreeRemoved:
		d.Worktree = in.Worktree
	case PostToolUseFailure:
		d.callError = &callError{}
		if in.Err != nil {
			d.Error, d.ErrorCode = in.Err.Error(), abi.CodeOf(in.Err)
		}
		d.IsInterrupted = d.ErrorCode == abi.CodeInterrupted
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return b.Bytes(), err
}
