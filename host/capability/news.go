package capability

import (
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// News is something that a call did to its session, for those who follow it. One field is set.
type News struct {
	Todos *TodosNews
	Work  *WorkNews
	Said  *Said
	// Output is the structured output that the session was begun for, or the latest of several.
	Output json.RawMessage
	// Worktree is that the session has entered a worktree or left it.
	Worktree *WorktreeNews
}

// TodosNews is an agent's whole list of todos as it now is.
type TodosNews struct {
	Todos []abi.Todo `json:"todos"`
}

// The changes of a [WorkNews].
const (
	WorkCreated = "created"
	WorkUpdated = "updated"
	WorkDeleted = "deleted"
)

// WorkNews is one change of the work items that agents share.
type WorkNews struct {
	// Change is one of the changes above, and Item as it then is, or last was.
	Change string       `json:"change"`
	Item   abi.WorkItem `json:"item"`
}

// Said is what a model, or a plugin's tool, tells the person.
type Said struct {
	// Message is in Markdown.
	Message string `json:"message"`
	// Status is "normal" for an answer, or "proactive" for what nobody asked for.
	Status      string           `json:"status"`
	Attachments []SaidAttachment `json:"attachments,omitempty"`
	// Plugin is the one whose tool says it; empty for the model, and for the embedder's tools.
	Plugin string    `json:"plugin,omitempty"`
	Sent   time.Time `json:"sent_at"`
}

// SaidAttachment is a file that belongs to a [Said].
type SaidAttachment struct {
	// Path is absolute, and Size in bytes.
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	IsImage bool   `json:"is_image,omitempty"`
}

// ModeNews is a change of a session's permission mode.
type ModeNews struct {
	Mode   permissions.Mode `json:"mode"`
	Before permissions.Mode `json:"before"`
}

// The changes of a [WorktreeNews].
const (
	WorktreeEntered = "entered"
	WorktreeKept    = "kept"
	WorktreeRemoved = "removed"
)

// WorktreeNews is that a session has entered a worktree of git, or has left one that was kept or
// removed.
type WorktreeNews struct {
	// Change is one of the changes above.
	Change string `json:"change"`
	// Path is the worktree, absolute, and Branch its branch.
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
}
