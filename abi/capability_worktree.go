package abi

// CapSessionWorktree has the session work in a worktree of git of its own, or leave it. A
// plugin's tools cannot be granted it. It takes [WorktreeArgs]; the answer's head is
// [WorktreeOK]; it has no body.
const CapSessionWorktree = "session.worktree"

// What [WorktreeArgs] can say to do.
const (
	WorktreeEnter = "enter"
	// WorktreeKeep leaves the worktree as it is, and WorktreeRemove removes it with its branch.
	WorktreeKeep   = "keep"
	WorktreeRemove = "remove"
)

// WorktreeArgs are the arguments of session.worktree.
type WorktreeArgs struct {
	// Do is WorktreeEnter, WorktreeKeep or WorktreeRemove.
	Do string `json:"do"`
	// Name is that of the worktree to enter; an empty one is made up. Its parts, between
	// slashes, have letters, digits, dots, underscores and dashes; it has 64 characters at most.
	Name string `json:"name,omitempty"`
	// Discard removes the worktree although files or commits are lost with it.
	Discard bool `json:"discard,omitempty"`
}

// WorktreeOK is the answer to session.worktree.
type WorktreeOK struct {
	// Path is the worktree, and Branch its branch. Branch is empty where a hook made the
	// worktree.
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	// Original is where the session was before, and is again once it has left.
	Original string `json:"original"`
	// Files and Commits count what was lost with a worktree that was removed.
	Files   int `json:"files,omitempty"`
	Commits int `json:"commits,omitempty"`
	// Notes are what else is to be known, such as what the worktree lacks.
	Notes []string `json:"notes,omitempty"`
}
