package abi

import "encoding/json"

// Source names bytes of a result without repeating them: a part of the same
// frame, or what is left of a capability's answer, which then never enters the
// guest. Either Part or Handle is set.
type Source struct {
	// Part is the index of a part of this frame.
	Part *int `json:"part,omitempty"`
	// Handle is the id of a capability call whose answer's body is meant: what
	// the guest has not read yet of the answer's first part.
	Handle *uint32 `json:"handle,omitempty"`
	// Length, with a handle, takes only so many bytes, fewer where there are no
	// more, and leaves the rest to the sources behind it in the result. 0 takes all.
	Length int64 `json:"length,omitempty"`
}

// CallHead is the head of the message that call receives. Part 0 is the input,
// as canonical JSON.
type CallHead struct {
	Tool string `json:"tool"`
	// ID is the call's id, for logs.
	ID string `json:"id"`
	// Cwd is the session's working directory, an absolute path.
	Cwd string `json:"cwd,omitempty"`
	// UserModified says that a person wrote the input in place of the model's.
	UserModified bool `json:"user_modified,omitempty"`
	// Config is the plugin's configuration as the operator set it.
	Config map[string]json.RawMessage `json:"config,omitempty"`
}

// ResultHead is the head of the message that call returns.
type ResultHead struct {
	Content []BlockHead `json:"content,omitempty"`
	// Structured is a JSON part.
	Structured *Source `json:"structured,omitempty"`
	// IsError marks a result that tells of a failure in its content.
	IsError bool `json:"is_error,omitempty"`
	// Error ends the call with a failure that has a code; content may be empty.
	Error    *Error          `json:"error,omitempty"`
	Changes  []Change        `json:"changes,omitempty"`
	Messages []Message       `json:"messages,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
}

// BlockHead describes one content block; Source is joined in order.
type BlockHead struct {
	Type      BlockType `json:"type"`
	Source    []Source  `json:"source,omitempty"`
	MediaType string    `json:"media_type,omitempty"`
	Title     string    `json:"title,omitempty"`
	ToolName  string    `json:"tool_name,omitempty"`
}

// RequestHead is the head of a message that submit takes. Its parts are the
// request's bulk.
type RequestHead struct {
	// Capability is the operation, such as "fs.read".
	Capability string `json:"capability"`
	// Args are the operation's arguments, a JSON object.
	Args json.RawMessage `json:"args,omitempty"`
}

// AnswerHead is the head of a message that read yields: either OK or Error. A
// body, if there is one, is the frame's first part.
type AnswerHead struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Error *Error          `json:"error,omitempty"`
}

// ProgressHead is the head of a message that progress takes.
type ProgressHead struct {
	Progress *Progress `json:"progress,omitempty"`
	Log      *Log      `json:"log,omitempty"`
}

// Progress is how far a call has come, for people.
type Progress struct {
	Message string `json:"message,omitempty"`
	// Done and Total count in whatever unit the tool likes; 0 is unknown.
	Done  float64 `json:"done,omitempty"`
	Total float64 `json:"total,omitempty"`
	// Output is what the call has put out since it last told. Of more than 64 KiB
	// the end is kept.
	Output string `json:"output,omitempty"`
}

// Log is one line for the operator's log.
type Log struct {
	// Level is debug, info, warn or error.
	Level   string `json:"level"`
	Message string `json:"message"`
}

// AssessHead is the head of the message that assess receives. Part 0 is the
// input, as canonical JSON.
type AssessHead struct {
	Tool string `json:"tool"`
	Cwd  string `json:"cwd,omitempty"`
	// Facts are about those of the call's own paths that its rules allow; empty
	// when only traits are asked for, on submission.
	Facts  []Fact                     `json:"facts,omitempty"`
	Config map[string]json.RawMessage `json:"config,omitempty"`
}

// Fact is what the host knows about one path of a call.
type Fact struct {
	// Path is the path as the input has it.
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Kind is file, directory or other.
	Kind string `json:"kind,omitempty"`
	Size int64  `json:"size,omitempty"`
	// Read says that this session has read the file; Changed, that the file is
	// no longer what was read.
	Read    bool `json:"read,omitempty"`
	Changed bool `json:"changed,omitempty"`
}

// Assessment is the head of the message that assess returns. What is absent is
// not answered, and counts as the manifest's word or the unsafe answer.
type Assessment struct {
	ReadOnly        *bool `json:"read_only,omitempty"`
	ConcurrencySafe *bool `json:"concurrency_safe,omitempty"`
	Destructive     *bool `json:"destructive,omitempty"`
	Enabled         *bool `json:"enabled,omitempty"`
	// Invalid refuses the input.
	Invalid *Invalid `json:"invalid,omitempty"`
	// Check is the tool's own verdict.
	Check *Check `json:"check,omitempty"`
	// Touches are all that the call reads and writes, at most 1,024, for a tool
	// whose manifest says locks = "input". Without any it may be anything.
	Touches []Touch `json:"touches,omitempty"`
	// Rendering is one line for people: what this call is about to do. It is shown as it
	// is, where Lines have no template for that.
	Rendering string `json:"rendering,omitempty"`
	// Lines are templates for this call in place of those in the manifest.
	Lines *Lines `json:"lines,omitempty"`
	// ClassifierText is what a judge is shown of this call, as it is; see [Tool].
	ClassifierText string `json:"classifier_text,omitempty"`
}

// Touch is one file or directory that a call reads or writes, with all below it.
type Touch struct {
	// Path may be relative to the session's working directory.
	Path string `json:"path"`
	// Write says that it is written, and perhaps read.
	Write bool `json:"write,omitempty"`
}

// Invalid is a tool's own refusal of an input that fits its schema.
type Invalid struct {
	Message string `json:"message"`
	// Code is the tool's own number for it, 0 if it has none.
	Code int `json:"code,omitempty"`
}

// Check is a tool's own verdict on a call. A plugin that is not built in can
// only tighten: its allow counts as no answer.
type Check struct {
	// Verdict is allow, ask, deny or passthrough.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
}
