// Code generated from package abi by go generate ./abi. DO NOT EDIT.

package wire

import "math"

// Version is the version of the direct ABI that this package describes. It is
// the first byte of every frame and the suffix of [ImportModule].
const (
	Version = 1
)

// MaxWait is the largest number of ids one wait may name.
const (
	MaxWait = 1024
)

const (
	// HeaderSize is the length of a frame's fixed header in bytes.
	HeaderSize = 8

	// PartHeaderSize is the length of a part's fixed header in bytes.
	PartHeaderSize = 8

	// MaxHead is the largest head in bytes. Heads are small by design: whatever
	// grows with the work travels as a part.
	MaxHead = 1 << 20

	// MaxParts is the largest number of parts in one frame.
	MaxParts = 4096

	// LengthToEnd as the length of a frame's last part means "up to the end of
	// the message". Only answers read through a handle may use it: their
	// length need not be known when their first byte is sent.
	LengthToEnd = math.MaxUint32
)

const (
	// PartBytes is opaque bytes.
	PartBytes PartType = 1

	// PartText is UTF-8 text.
	PartText PartType = 2

	// PartJSON is one JSON value.
	PartJSON PartType = 3
)

// The codes of version 1. A reader treats one it does not know as
// [CodeInternal].
const (
	CodeInvalidInput  Code = "invalid_input"  // the arguments do not fit the schema or each other
	CodeNotFound      Code = "not_found"      // no such file, tool, task ...
	CodeIsDirectory   Code = "is_directory"   // a file was needed
	CodeNotDirectory  Code = "not_directory"  // a directory was needed
	CodeNotRegular    Code = "not_regular"    // a device, FIFO, socket or kernel file
	CodeNotText       Code = "not_text"       // binary where text was needed
	CodeTooLarge      Code = "too_large"      // over a size limit
	CodeUnknownTool   Code = "unknown_tool"   // no tool of that name
	CodeDisabled      Code = "disabled"       // the tool exists but is switched off
	CodeNotRead       Code = "not_read"       // the session has not read what is to be written over
	CodeSameText      Code = "same_text"      // what is to be written is there already
	CodeNoMatch       Code = "no_match"       // the text to replace is not in the file
	CodeNotUnique     Code = "not_unique"     // the text to replace is there more than once
	CodeDenied        Code = "denied"         // a rule, hook or person said no
	CodeNeedsApproval Code = "needs_approval" // a person must decide and none did
	CodeUndeclared    Code = "undeclared"     // a capability the manifest does not declare
	CodeNotGranted    Code = "not_granted"    // declared, but nobody consented to it
	CodeProtocol      Code = "protocol"       // a broken message or pointer
	CodeTrap          Code = "trap"           // the guest trapped or exited
	CodeLimit         Code = "limit"          // a limit of memory, output, log lines or calls
	CodeTimeout       Code = "timeout"        // a limit of time
	CodeLoad          Code = "load"           // the module could not be loaded
	CodeReentry       Code = "reentry"        // a kept instance was called by itself
	CodeChanged       Code = "changed"        // what was judged is no longer what is there
	CodeIO            Code = "io"             // the system refused or failed
	CodeUnsupported   Code = "unsupported"    // this host or platform has no such thing
	CodeCancelled     Code = "cancelled"      // the call was given up
	CodeInterrupted   Code = "interrupted"    // the user wrote something new
	CodeInternal      Code = "internal"       // a defect of the host
)

// The capability operations of version 1. A manifest declares each by name.
const (
	CapFSRead         = "fs.read"
	CapFSStat         = "fs.stat"
	CapFSList         = "fs.list"
	CapFSWrite        = "fs.write"
	CapFSReplace      = "fs.replace"
	CapDocsRead       = "docs.read"
	CapSearchNames    = "search.names"
	CapSearchContents = "search.contents"

	// CapSessionCwd is no call: declaring it lets a result carry [ChangeCwd].
	CapSessionCwd = "session.cwd"
)

// The kinds of file the fs capabilities tell apart.
const (
	KindFile      = "file"
	KindDirectory = "directory"
	KindSymlink   = "symlink"
	KindOther     = "other"
)

// The encodings that text files are told apart by. Text without a byte order mark
// that is no UTF-8 is Latin-1, unless it is binary.
const (
	EncodingUTF8    = "utf-8"
	EncodingUTF8BOM = "utf-8-bom"
	EncodingUTF16LE = "utf-16le"
	EncodingUTF16BE = "utf-16be"
	EncodingLatin1  = "latin-1"
)

// The line endings of a text.
const (
	LineEndingLF   = "lf"
	LineEndingCRLF = "crlf"

	// LineEndingMixed is both. Lines that are put in get the one that is in the
	// majority, LF where there is none.
	LineEndingMixed = "mixed"
)

// ExpectAbsent is what a write expects of a file that it makes.
const (
	ExpectAbsent = "absent"
)

// The output modes of search.contents.
const (
	ModeContent = "content"
	ModeFiles   = "files_with_matches"
	ModeCount   = "count"
)

// The kinds of document that docs.read knows.
const (
	DocPDF      = "pdf"
	DocImage    = "image"
	DocNotebook = "notebook"
)

// The content blocks a result is made of.
const (
	BlockText          BlockType = "text"
	BlockImage         BlockType = "image"
	BlockDocument      BlockType = "document"
	BlockToolReference BlockType = "tool_reference"
)

// ChangeCwd sets the session's working directory; its value is a JSON string.
const (
	ChangeCwd ChangeKind = "cwd"
)

const (
	// MaxOutput bounds the output that one progress report passes on, in bytes. Of
	// what is longer the end is kept, because that is what people look at; a call
	// with more to show reports it in pieces.
	MaxOutput = 64 << 10

	// MaxReportText bounds the message of a progress report and of a log line, in
	// bytes.
	MaxReportText = 64 << 10

	// MaxReport bounds the message that progress takes, in bytes: there is room for
	// MaxOutput with every byte of it escaped.
	MaxReport = 448 << 10
)

// What a guest cannot know by itself. Both operations touch nothing: a manifest declares
// them, and nobody has to grant them (see [NeedsGrant]).
const (
	// CapClockNow tells the time. It takes no arguments; the answer's head is [ClockOK],
	// without a body.
	CapClockNow = "clock.now"

	// CapRandomBytes draws random numbers that nobody can foresee. Its arguments are
	// [RandomArgs]; the answer's head is [RandomOK], its body the bytes.
	CapRandomBytes = "random.bytes"
)

// MaxRandom is how many bytes one random.bytes answers at most.
const (
	MaxRandom = 64 << 10
)

// The operations on a session itself that a plugin's tools may be granted. Tools in the box,
// and an embedder's own, may use all operations on sessions.
const (
	// CapSessionTodo reads or replaces the list of todos of the agent that calls.
	CapSessionTodo = "session.todo"

	// CapSessionTask reads and changes the work items that the agents of a session, or of its
	// team, share.
	CapSessionTask = "session.task"

	// CapSessionMessage tells the person something, with files where there are some. It takes
	// [MessageArgs]; the answer's head is [MessageOK]; it has no body.
	CapSessionMessage = "session.message"
)

// The statuses of a message to the person.
const (
	// MessageNormal answers the person, and is the default.
	MessageNormal = "normal"

	// MessageProactive is what nobody asked for.
	MessageProactive = "proactive"
)

// The bounds of a message to the person.
const (
	// MaxMessage is the longest message, in code points.
	MaxMessage = 50_000

	// MaxAttachments is how many files may belong to one, and MaxAttachment their largest
	// size in bytes.
	MaxAttachments = 10
	MaxAttachment  = 25 << 20
)

// The states of a [Todo] and a [WorkItem].
const (
	WorkPending    = "pending"
	WorkInProgress = "in_progress"
	WorkCompleted  = "completed"

	// WorkDeleted is the state that removes a work item.
	WorkDeleted = "deleted"
)

// The operations of session.task.
const (
	WorkCreate = "create"
	WorkGet    = "get"
	WorkUpdate = "update"
	WorkList   = "list"
)

// Known reports whether c is a code of this version.
func (c Code) Known() bool {
	switch c {
	case CodeInvalidInput,
		CodeNotFound,
		CodeIsDirectory,
		CodeNotDirectory,
		CodeNotRegular,
		CodeNotText,
		CodeTooLarge,
		CodeUnknownTool,
		CodeDisabled,
		CodeNotRead,
		CodeSameText,
		CodeNoMatch,
		CodeNotUnique,
		CodeDenied,
		CodeNeedsApproval,
		CodeUndeclared,
		CodeNotGranted,
		CodeProtocol,
		CodeTrap,
		CodeLimit,
		CodeTimeout,
		CodeLoad,
		CodeReentry,
		CodeChanged,
		CodeIO,
		CodeUnsupported,
		CodeCancelled,
		CodeInterrupted,
		CodeInternal:
		return true
	}
	return false
}

// PartType says what a part's bytes are.
type PartType uint8

// Code names a kind of failure across the guest border, so that neither side
// has to read it out of a message.
type Code string

// BlockType says what a content block is.
type BlockType string

// ChangeKind names what a [Change] changes.
type ChangeKind string

// Error is a failure that keeps its code across the guest border.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// AppendJSON appends v as a JSON object.
func (v *Error) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("code", string(v.Code))
	o.string("message", v.Message)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Error) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "code":
			v.Code = Code(d.String())
		case "message":
			v.Message = d.String()
		default:
			d.Skip()
		}
	})
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
	Config map[string]Raw `json:"config,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *CallHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("tool", v.Tool)
	o.string("id", v.ID)
	if v.Cwd != "" {
		o.string("cwd", v.Cwd)
	}
	if v.UserModified {
		o.bool("user_modified", v.UserModified)
	}
	if len(v.Config) > 0 {
		o.rawMap("config", v.Config)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *CallHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "tool":
			v.Tool = d.String()
		case "id":
			v.ID = d.String()
		case "cwd":
			v.Cwd = d.String()
		case "user_modified":
			v.UserModified = d.Bool()
		case "config":
			d.Object(func(key string) {
				if v.Config == nil {
					v.Config = make(map[string]Raw)
				}
				v.Config[key] = d.Raw()
			})
		default:
			d.Skip()
		}
	})
}

// ResultHead is the head of the message that call returns.
type ResultHead struct {
	Content []BlockHead `json:"content,omitempty"`
	// Structured is a JSON part.
	Structured *Source `json:"structured,omitempty"`
	// IsError marks a result that tells of a failure in its content.
	IsError bool `json:"is_error,omitempty"`
	// Error ends the call with a failure that has a code; content may be empty.
	Error    *Error    `json:"error,omitempty"`
	Changes  []Change  `json:"changes,omitempty"`
	Messages []Message `json:"messages,omitempty"`
	Meta     Raw       `json:"meta,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ResultHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if len(v.Content) > 0 {
		o.list("content", len(v.Content), func(i int, dst []byte) []byte { return v.Content[i].AppendJSON(dst) })
	}
	if v.Structured != nil {
		o.value("structured", v.Structured.AppendJSON)
	}
	if v.IsError {
		o.bool("is_error", v.IsError)
	}
	if v.Error != nil {
		o.value("error", v.Error.AppendJSON)
	}
	if len(v.Changes) > 0 {
		o.list("changes", len(v.Changes), func(i int, dst []byte) []byte { return v.Changes[i].AppendJSON(dst) })
	}
	if len(v.Messages) > 0 {
		o.list("messages", len(v.Messages), func(i int, dst []byte) []byte { return v.Messages[i].AppendJSON(dst) })
	}
	if len(v.Meta) > 0 {
		o.raw("meta", v.Meta)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ResultHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "content":
			d.Array(func() {
				var x BlockHead
				x.DecodeJSON(d)
				v.Content = append(v.Content, x)
			})
		case "structured":
			if !d.Null() {
				v.Structured = new(Source)
				v.Structured.DecodeJSON(d)
			}
		case "is_error":
			v.IsError = d.Bool()
		case "error":
			if !d.Null() {
				v.Error = new(Error)
				v.Error.DecodeJSON(d)
			}
		case "changes":
			d.Array(func() {
				var x Change
				x.DecodeJSON(d)
				v.Changes = append(v.Changes, x)
			})
		case "messages":
			d.Array(func() {
				var x Message
				x.DecodeJSON(d)
				v.Messages = append(v.Messages, x)
			})
		case "meta":
			v.Meta = d.Raw()
		default:
			d.Skip()
		}
	})
}

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

// AppendJSON appends v as a JSON object.
func (v *Source) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Part != nil {
		o.int("part", int64(*v.Part))
	}
	if v.Handle != nil {
		o.int("handle", int64(*v.Handle))
	}
	if v.Length != 0 {
		o.int("length", v.Length)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Source) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "part":
			if !d.Null() {
				x := int(d.Int(math.MinInt, math.MaxInt))
				v.Part = &x
			}
		case "handle":
			if !d.Null() {
				x := uint32(d.Int(0, math.MaxUint32))
				v.Handle = &x
			}
		case "length":
			v.Length = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// BlockHead describes one content block; Source is joined in order.
type BlockHead struct {
	Type      BlockType `json:"type"`
	Source    []Source  `json:"source,omitempty"`
	MediaType string    `json:"media_type,omitempty"`
	Title     string    `json:"title,omitempty"`
	ToolName  string    `json:"tool_name,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *BlockHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("type", string(v.Type))
	if len(v.Source) > 0 {
		o.list("source", len(v.Source), func(i int, dst []byte) []byte { return v.Source[i].AppendJSON(dst) })
	}
	if v.MediaType != "" {
		o.string("media_type", v.MediaType)
	}
	if v.Title != "" {
		o.string("title", v.Title)
	}
	if v.ToolName != "" {
		o.string("tool_name", v.ToolName)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *BlockHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "type":
			v.Type = BlockType(d.String())
		case "source":
			d.Array(func() {
				var x Source
				x.DecodeJSON(d)
				v.Source = append(v.Source, x)
			})
		case "media_type":
			v.MediaType = d.String()
		case "title":
			v.Title = d.String()
		case "tool_name":
			v.ToolName = d.String()
		default:
			d.Skip()
		}
	})
}

// Change is one effect of a call on its session.
type Change struct {
	Kind  ChangeKind `json:"kind"`
	Value Raw        `json:"value"`
}

// AppendJSON appends v as a JSON object.
func (v *Change) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("kind", string(v.Kind))
	o.raw("value", v.Value)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Change) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "kind":
			v.Kind = ChangeKind(d.String())
		case "value":
			v.Value = d.Raw()
		default:
			d.Skip()
		}
	})
}

// Message is a text a tool adds to the conversation.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// AppendJSON appends v as a JSON object.
func (v *Message) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("role", v.Role)
	o.string("text", v.Text)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Message) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "role":
			v.Role = d.String()
		case "text":
			v.Text = d.String()
		default:
			d.Skip()
		}
	})
}

// RequestHead is the head of a message that submit takes. Its parts are the
// request's bulk.
type RequestHead struct {
	// Capability is the operation, such as "fs.read".
	Capability string `json:"capability"`
	// Args are the operation's arguments, a JSON object.
	Args Raw `json:"args,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *RequestHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("capability", v.Capability)
	if len(v.Args) > 0 {
		o.raw("args", v.Args)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *RequestHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "capability":
			v.Capability = d.String()
		case "args":
			v.Args = d.Raw()
		default:
			d.Skip()
		}
	})
}

// AnswerHead is the head of a message that read yields: either OK or Error. A
// body, if there is one, is the frame's first part.
type AnswerHead struct {
	OK    Raw    `json:"ok,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *AnswerHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if len(v.OK) > 0 {
		o.raw("ok", v.OK)
	}
	if v.Error != nil {
		o.value("error", v.Error.AppendJSON)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *AnswerHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "ok":
			v.OK = d.Raw()
		case "error":
			if !d.Null() {
				v.Error = new(Error)
				v.Error.DecodeJSON(d)
			}
		default:
			d.Skip()
		}
	})
}

// ProgressHead is the head of a message that progress takes.
type ProgressHead struct {
	Progress *Progress `json:"progress,omitempty"`
	Log      *Log      `json:"log,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ProgressHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Progress != nil {
		o.value("progress", v.Progress.AppendJSON)
	}
	if v.Log != nil {
		o.value("log", v.Log.AppendJSON)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ProgressHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "progress":
			if !d.Null() {
				v.Progress = new(Progress)
				v.Progress.DecodeJSON(d)
			}
		case "log":
			if !d.Null() {
				v.Log = new(Log)
				v.Log.DecodeJSON(d)
			}
		default:
			d.Skip()
		}
	})
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

// AppendJSON appends v as a JSON object.
func (v *Progress) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Message != "" {
		o.string("message", v.Message)
	}
	if v.Done != 0 {
		o.float("done", v.Done)
	}
	if v.Total != 0 {
		o.float("total", v.Total)
	}
	if v.Output != "" {
		o.string("output", v.Output)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Progress) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "message":
			v.Message = d.String()
		case "done":
			v.Done = d.Float()
		case "total":
			v.Total = d.Float()
		case "output":
			v.Output = d.String()
		default:
			d.Skip()
		}
	})
}

// Log is one line for the operator's log.
type Log struct {
	// Level is debug, info, warn or error.
	Level   string `json:"level"`
	Message string `json:"message"`
}

// AppendJSON appends v as a JSON object.
func (v *Log) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("level", v.Level)
	o.string("message", v.Message)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Log) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "level":
			v.Level = d.String()
		case "message":
			v.Message = d.String()
		default:
			d.Skip()
		}
	})
}

// AssessHead is the head of the message that assess receives. Part 0 is the
// input, as canonical JSON.
type AssessHead struct {
	Tool string `json:"tool"`
	Cwd  string `json:"cwd,omitempty"`
	// Facts are about those of the call's own paths that its rules allow; empty
	// when only traits are asked for, on submission.
	Facts  []Fact         `json:"facts,omitempty"`
	Config map[string]Raw `json:"config,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *AssessHead) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("tool", v.Tool)
	if v.Cwd != "" {
		o.string("cwd", v.Cwd)
	}
	if len(v.Facts) > 0 {
		o.list("facts", len(v.Facts), func(i int, dst []byte) []byte { return v.Facts[i].AppendJSON(dst) })
	}
	if len(v.Config) > 0 {
		o.rawMap("config", v.Config)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *AssessHead) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "tool":
			v.Tool = d.String()
		case "cwd":
			v.Cwd = d.String()
		case "facts":
			d.Array(func() {
				var x Fact
				x.DecodeJSON(d)
				v.Facts = append(v.Facts, x)
			})
		case "config":
			d.Object(func(key string) {
				if v.Config == nil {
					v.Config = make(map[string]Raw)
				}
				v.Config[key] = d.Raw()
			})
		default:
			d.Skip()
		}
	})
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

// AppendJSON appends v as a JSON object.
func (v *Fact) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.bool("exists", v.Exists)
	if v.Kind != "" {
		o.string("kind", v.Kind)
	}
	if v.Size != 0 {
		o.int("size", v.Size)
	}
	if v.Read {
		o.bool("read", v.Read)
	}
	if v.Changed {
		o.bool("changed", v.Changed)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Fact) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "exists":
			v.Exists = d.Bool()
		case "kind":
			v.Kind = d.String()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		case "read":
			v.Read = d.Bool()
		case "changed":
			v.Changed = d.Bool()
		default:
			d.Skip()
		}
	})
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

// AppendJSON appends v as a JSON object.
func (v *Assessment) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.ReadOnly != nil {
		o.bool("read_only", *v.ReadOnly)
	}
	if v.ConcurrencySafe != nil {
		o.bool("concurrency_safe", *v.ConcurrencySafe)
	}
	if v.Destructive != nil {
		o.bool("destructive", *v.Destructive)
	}
	if v.Enabled != nil {
		o.bool("enabled", *v.Enabled)
	}
	if v.Invalid != nil {
		o.value("invalid", v.Invalid.AppendJSON)
	}
	if v.Check != nil {
		o.value("check", v.Check.AppendJSON)
	}
	if len(v.Touches) > 0 {
		o.list("touches", len(v.Touches), func(i int, dst []byte) []byte { return v.Touches[i].AppendJSON(dst) })
	}
	if v.Rendering != "" {
		o.string("rendering", v.Rendering)
	}
	if v.Lines != nil {
		o.value("lines", v.Lines.AppendJSON)
	}
	if v.ClassifierText != "" {
		o.string("classifier_text", v.ClassifierText)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Assessment) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "read_only":
			if !d.Null() {
				x := d.Bool()
				v.ReadOnly = &x
			}
		case "concurrency_safe":
			if !d.Null() {
				x := d.Bool()
				v.ConcurrencySafe = &x
			}
		case "destructive":
			if !d.Null() {
				x := d.Bool()
				v.Destructive = &x
			}
		case "enabled":
			if !d.Null() {
				x := d.Bool()
				v.Enabled = &x
			}
		case "invalid":
			if !d.Null() {
				v.Invalid = new(Invalid)
				v.Invalid.DecodeJSON(d)
			}
		case "check":
			if !d.Null() {
				v.Check = new(Check)
				v.Check.DecodeJSON(d)
			}
		case "touches":
			d.Array(func() {
				var x Touch
				x.DecodeJSON(d)
				v.Touches = append(v.Touches, x)
			})
		case "rendering":
			v.Rendering = d.String()
		case "lines":
			if !d.Null() {
				v.Lines = new(Lines)
				v.Lines.DecodeJSON(d)
			}
		case "classifier_text":
			v.ClassifierText = d.String()
		default:
			d.Skip()
		}
	})
}

// Lines are templates for the lines that people are shown of a call, such as
// "{pattern}[ in {path}]". A line stands behind the tool's name, so it does not repeat it.
//
// Each of them may use the fields of the input. Some lines have names of their own, which
// win over a field of the same name; that is then written {input.name}.
type Lines struct {
	// Queued is shown while the call waits for its turn; empty is Use.
	Queued string `toml:"queued" json:"queued,omitempty"`
	// Use says what the call does, once it runs and in questions about it. Empty is the
	// field that the tool's Title names.
	Use string `toml:"use" json:"use,omitempty"`
	// Progress says how far the call has come; empty is the message of its report, or else
	// the last line of its output. It has {message}, {done} and {total} of the report, and
	// {lines}, {bytes} and {tail} of the output so far.
	Progress string `toml:"progress" json:"progress,omitempty"`
	// Result says what came of it; empty is nothing. It has {text}, the first line of the
	// result's text, and {result.field} for the structured content.
	Result string `toml:"result" json:"result,omitempty"`
	// Rejection is the line of a call that was denied or was ended from outside, and Error that
	// of a call that failed. Where there is no template, people see how the text that the model
	// gets begins. Both templates have {error}, which is that text, and {code}; Error also has
	// {result.field}.
	Rejection string `toml:"rejection" json:"rejection,omitempty"`
	Error     string `toml:"error" json:"error,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *Lines) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Queued != "" {
		o.string("queued", v.Queued)
	}
	if v.Use != "" {
		o.string("use", v.Use)
	}
	if v.Progress != "" {
		o.string("progress", v.Progress)
	}
	if v.Result != "" {
		o.string("result", v.Result)
	}
	if v.Rejection != "" {
		o.string("rejection", v.Rejection)
	}
	if v.Error != "" {
		o.string("error", v.Error)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Lines) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "queued":
			v.Queued = d.String()
		case "use":
			v.Use = d.String()
		case "progress":
			v.Progress = d.String()
		case "result":
			v.Result = d.String()
		case "rejection":
			v.Rejection = d.String()
		case "error":
			v.Error = d.String()
		default:
			d.Skip()
		}
	})
}

// Touch is one file or directory that a call reads or writes, with all below it.
type Touch struct {
	// Path may be relative to the session's working directory.
	Path string `json:"path"`
	// Write says that it is written, and perhaps read.
	Write bool `json:"write,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *Touch) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Write {
		o.bool("write", v.Write)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Touch) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "write":
			v.Write = d.Bool()
		default:
			d.Skip()
		}
	})
}

// Invalid is a tool's own refusal of an input that fits its schema.
type Invalid struct {
	Message string `json:"message"`
	// Code is the tool's own number for it, 0 if it has none.
	Code int `json:"code,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *Invalid) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("message", v.Message)
	if v.Code != 0 {
		o.int("code", int64(v.Code))
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Invalid) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "message":
			v.Message = d.String()
		case "code":
			v.Code = int(d.Int(math.MinInt, math.MaxInt))
		default:
			d.Skip()
		}
	})
}

// Check is a tool's own verdict on a call. A plugin that is not built in can
// only tighten: its allow counts as no answer.
type Check struct {
	// Verdict is allow, ask, deny or passthrough.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *Check) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("verdict", v.Verdict)
	if v.Reason != "" {
		o.string("reason", v.Reason)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Check) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "verdict":
			v.Verdict = d.String()
		case "reason":
			v.Reason = d.String()
		default:
			d.Skip()
		}
	})
}

// ReadArgs are the arguments of fs.read. Paths of all operations may be
// relative to the session's working directory.
//
// The answer's head is [ReadOK]; its body the bytes, or with Lines the lines as
// UTF-8 text.
type ReadArgs struct {
	Path string `json:"path"`
	// Offset and Length are a range in bytes; a Length of 0 reads to the end.
	Offset int64 `json:"offset,omitempty"`
	Length int64 `json:"length,omitempty"`
	// Lines reads by lines instead.
	Lines *LineArgs `json:"lines,omitempty"`
	// Shown says that the model gets to see what is read, so that the session takes
	// the file for read: see fs.write. A file that was shown in the same way and has
	// not changed is not read again, once: see [ReadOK].
	Shown bool `json:"shown,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ReadArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Offset != 0 {
		o.int("offset", v.Offset)
	}
	if v.Length != 0 {
		o.int("length", v.Length)
	}
	if v.Lines != nil {
		o.value("lines", v.Lines.AppendJSON)
	}
	if v.Shown {
		o.bool("shown", v.Shown)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ReadArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "offset":
			v.Offset = d.Int(math.MinInt64, math.MaxInt64)
		case "length":
			v.Length = d.Int(math.MinInt64, math.MaxInt64)
		case "lines":
			if !d.Null() {
				v.Lines = new(LineArgs)
				v.Lines.DecodeJSON(d)
			}
		case "shown":
			v.Shown = d.Bool()
		default:
			d.Skip()
		}
	})
}

// LineArgs ask for a file's text line by line. The host splits at LF, takes a
// CR before it away, and decodes what [ReadOK] names as the file's encoding. Lines
// are joined with LF, without one at the end.
type LineArgs struct {
	// Offset is the first line, 1-based; 0 means 1.
	Offset int64 `json:"offset,omitempty"`
	// Limit is the most lines to return; 0 is no bound but MaxChars.
	Limit int64 `json:"limit,omitempty"`
	// MaxLine cuts longer lines after so many code points; 0 does not.
	MaxLine int64 `json:"max_line,omitempty"`
	// MaxChars ends the text before the line that would pass so many code
	// points in all, numbers included; 0 is the host's own bound.
	MaxChars int64 `json:"max_chars,omitempty"`
	// Number puts the line number, right-aligned to 6 columns, and a tab before
	// each line.
	Number bool `json:"number,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *LineArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Offset != 0 {
		o.int("offset", v.Offset)
	}
	if v.Limit != 0 {
		o.int("limit", v.Limit)
	}
	if v.MaxLine != 0 {
		o.int("max_line", v.MaxLine)
	}
	if v.MaxChars != 0 {
		o.int("max_chars", v.MaxChars)
	}
	if v.Number {
		o.bool("number", v.Number)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *LineArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "offset":
			v.Offset = d.Int(math.MinInt64, math.MaxInt64)
		case "limit":
			v.Limit = d.Int(math.MinInt64, math.MaxInt64)
		case "max_line":
			v.MaxLine = d.Int(math.MinInt64, math.MaxInt64)
		case "max_chars":
			v.MaxChars = d.Int(math.MinInt64, math.MaxInt64)
		case "number":
			v.Number = d.Bool()
		default:
			d.Skip()
		}
	})
}

// ReadOK is the answer to fs.read.
type ReadOK struct {
	// Path is the file that was read, absolute and without links.
	Path string `json:"path"`
	// Size is the file's size in bytes.
	Size int64 `json:"size"`
	// ModTime is in milliseconds since 1970.
	ModTime int64    `json:"mod_time_ms"`
	Lines   *LinesOK `json:"lines,omitempty"`
	// Encoding is that of the text, one of the encodings below; empty without Lines.
	Encoding string `json:"encoding,omitempty"`
	// Unchanged says that the model was shown just this before, and that the file is
	// as it was then. There is no body.
	Unchanged bool `json:"unchanged,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ReadOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.int("size", v.Size)
	o.int("mod_time_ms", v.ModTime)
	if v.Lines != nil {
		o.value("lines", v.Lines.AppendJSON)
	}
	if v.Encoding != "" {
		o.string("encoding", v.Encoding)
	}
	if v.Unchanged {
		o.bool("unchanged", v.Unchanged)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ReadOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		case "mod_time_ms":
			v.ModTime = d.Int(math.MinInt64, math.MaxInt64)
		case "lines":
			if !d.Null() {
				v.Lines = new(LinesOK)
				v.Lines.DecodeJSON(d)
			}
		case "encoding":
			v.Encoding = d.String()
		case "unchanged":
			v.Unchanged = d.Bool()
		default:
			d.Skip()
		}
	})
}

// LinesOK tells what a read by lines returned.
type LinesOK struct {
	// First is the number of the first line returned and Count how many were.
	First int64 `json:"first"`
	Count int64 `json:"count"`
	// Total is the file's number of lines, where its end was reached; else 0
	// and More is set.
	Total int64 `json:"total,omitempty"`
	More  bool  `json:"more,omitempty"`
	// CutLines counts the lines that MaxLine cut.
	CutLines int64 `json:"cut_lines,omitempty"`
	// Stopped says that MaxChars, not Limit, ended the text.
	Stopped bool `json:"stopped,omitempty"`
	// TimedOut says that the host ended the read at its limit of Timeout milliseconds,
	// and More is set. The body has the lines that were read by then. Without any,
	// Passed is the number of lines before Offset that were passed over.
	TimedOut bool  `json:"timed_out,omitempty"`
	Timeout  int64 `json:"timeout_ms,omitempty"`
	Passed   int64 `json:"passed,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *LinesOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.int("first", v.First)
	o.int("count", v.Count)
	if v.Total != 0 {
		o.int("total", v.Total)
	}
	if v.More {
		o.bool("more", v.More)
	}
	if v.CutLines != 0 {
		o.int("cut_lines", v.CutLines)
	}
	if v.Stopped {
		o.bool("stopped", v.Stopped)
	}
	if v.TimedOut {
		o.bool("timed_out", v.TimedOut)
	}
	if v.Timeout != 0 {
		o.int("timeout_ms", v.Timeout)
	}
	if v.Passed != 0 {
		o.int("passed", v.Passed)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *LinesOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "first":
			v.First = d.Int(math.MinInt64, math.MaxInt64)
		case "count":
			v.Count = d.Int(math.MinInt64, math.MaxInt64)
		case "total":
			v.Total = d.Int(math.MinInt64, math.MaxInt64)
		case "more":
			v.More = d.Bool()
		case "cut_lines":
			v.CutLines = d.Int(math.MinInt64, math.MaxInt64)
		case "stopped":
			v.Stopped = d.Bool()
		case "timed_out":
			v.TimedOut = d.Bool()
		case "timeout_ms":
			v.Timeout = d.Int(math.MinInt64, math.MaxInt64)
		case "passed":
			v.Passed = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// StatArgs are the arguments of fs.stat, which follows links. The answer's head
// is [StatOK]; it has no body.
type StatArgs struct {
	Path string `json:"path"`
	// Hash asks for the content's SHA-256, which needs all of it read.
	Hash bool `json:"hash,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *StatArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Hash {
		o.bool("hash", v.Hash)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *StatArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "hash":
			v.Hash = d.Bool()
		default:
			d.Skip()
		}
	})
}

// StatOK is the answer to fs.stat.
type StatOK struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time_ms"`
	// Hash is the SHA-256 in hexadecimal of a regular file, where it was asked for.
	Hash string `json:"hash,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *StatOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.string("kind", v.Kind)
	o.int("size", v.Size)
	o.int("mod_time_ms", v.ModTime)
	if v.Hash != "" {
		o.string("hash", v.Hash)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *StatOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "kind":
			v.Kind = d.String()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		case "mod_time_ms":
			v.ModTime = d.Int(math.MinInt64, math.MaxInt64)
		case "hash":
			v.Hash = d.String()
		default:
			d.Skip()
		}
	})
}

// ListArgs are the arguments of fs.list. The answer's head is [ListOK]; its
// body a JSON array of [Entry], sorted by name.
type ListArgs struct {
	Path string `json:"path"`
	// Limit is the most entries; 0 is the host's bound of 10,000.
	Limit int `json:"limit,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ListArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Limit != 0 {
		o.int("limit", int64(v.Limit))
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ListArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "limit":
			v.Limit = int(d.Int(math.MinInt, math.MaxInt))
		default:
			d.Skip()
		}
	})
}

// ListOK is the answer to fs.list.
type ListOK struct {
	Path      string `json:"path"`
	Count     int    `json:"count"`
	Truncated bool   `json:"truncated,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ListOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.int("count", int64(v.Count))
	if v.Truncated {
		o.bool("truncated", v.Truncated)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ListOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "count":
			v.Count = int(d.Int(math.MinInt, math.MaxInt))
		case "truncated":
			v.Truncated = d.Bool()
		default:
			d.Skip()
		}
	})
}

// Entry is one name in a directory. Links are not followed.
type Entry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Size    int64  `json:"size,omitempty"`
	ModTime int64  `json:"mod_time_ms,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *Entry) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("name", v.Name)
	o.string("kind", v.Kind)
	if v.Size != 0 {
		o.int("size", v.Size)
	}
	if v.ModTime != 0 {
		o.int("mod_time_ms", v.ModTime)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Entry) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "name":
			v.Name = d.String()
		case "kind":
			v.Kind = d.String()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		case "mod_time_ms":
			v.ModTime = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// WriteArgs are the arguments of fs.write, which puts a file's whole content in
// place, at once or not at all, and makes the directories above it that are missing.
// Part 0 is the content.
//
// It fails, in this order and with nothing changed, with [CodeNotRead] where the
// session has not read the whole file, and with [CodeChanged] where the file is not
// what was expected. A file that has this content already is not written: see
// [WriteOK].Unchanged.
//
// The answer's head is [WriteOK]; its body the change as a unified diff.
type WriteArgs struct {
	Path string `json:"path"`
	// Expect is the former content: the SHA-256 in hexadecimal, [ExpectAbsent], or
	// empty for what the session has read, where a file that is missing is made. With
	// a hash it is enough that the session has seen some of the file, or that this call
	// has read all of it by fs.read, in one piece or several. The session then knows no
	// more of the new content than it knew before.
	Expect string `json:"expect,omitempty"`
	// Bytes writes the part as it is. Without it the part is UTF-8 text, which takes
	// on the encoding and the line ending of the file it replaces; the lines of a new
	// file end with LF.
	Bytes bool `json:"bytes,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *WriteArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Expect != "" {
		o.string("expect", v.Expect)
	}
	if v.Bytes {
		o.bool("bytes", v.Bytes)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *WriteArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "expect":
			v.Expect = d.String()
		case "bytes":
			v.Bytes = d.Bool()
		default:
			d.Skip()
		}
	})
}

// ReplaceArgs are the arguments of fs.replace, which replaces text in a file where
// it lies, in the host: files up to 1 GiB, of which a guest sees nothing. Part 0 is
// the text to replace, part 1 what takes its place, both UTF-8 with LF; an empty part
// 0 makes a file, or fills an empty one.
//
// Straight and curly quotes match each other where the exact text is not there; what
// is put in gets the file's own. It fails, in this order and with nothing changed,
// with [CodeNotFound], [CodeNotRead] where the text to replace is not in what the
// session has read, [CodeChanged], [CodeSameText] where both texts are one,
// [CodeNoMatch], and [CodeNotUnique] where the text is there more than once, without
// All.
//
// The answer's head is [WriteOK]; its body the change as a unified diff.
type ReplaceArgs struct {
	Path string `json:"path"`
	// Expect is as in [WriteArgs].
	Expect string `json:"expect,omitempty"`
	// All replaces every occurrence.
	All bool `json:"all,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ReplaceArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Expect != "" {
		o.string("expect", v.Expect)
	}
	if v.All {
		o.bool("all", v.All)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ReplaceArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "expect":
			v.Expect = d.String()
		case "all":
			v.All = d.Bool()
		default:
			d.Skip()
		}
	})
}

// WriteOK is the answer to fs.write and fs.replace.
type WriteOK struct {
	// Path is the file that was written, absolute and without links.
	Path    string `json:"path"`
	Created bool   `json:"created,omitempty"`
	// Unchanged says that the file has had this content before, and was not written.
	// The body is empty, and nothing is kept in the history. Only fs.write answers so.
	Unchanged bool `json:"unchanged,omitempty"`
	// Size is the new size in bytes and Hash the SHA-256 of the new content, in
	// hexadecimal.
	Size int64  `json:"size"`
	Hash string `json:"hash"`
	// Encoding and LineEnding are those of text; empty with Bytes. LineEnding is
	// empty where there is a single line, too.
	Encoding   string `json:"encoding,omitempty"`
	LineEnding string `json:"line_ending,omitempty"`
	// Replaced counts occurrences; 0 for fs.write.
	Replaced int `json:"replaced,omitempty"`
	// Added and Removed count the lines of the diff.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// DiffCut says that the body is not all of the diff, which is bounded.
	DiffCut bool `json:"diff_cut,omitempty"`
	// OtherNames counts the other hard links that the file had: they still name the
	// former content.
	OtherNames int `json:"other_names,omitempty"`
	// History names the record by which the write can be undone; empty where none
	// is kept.
	History string `json:"history,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *WriteOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Created {
		o.bool("created", v.Created)
	}
	if v.Unchanged {
		o.bool("unchanged", v.Unchanged)
	}
	o.int("size", v.Size)
	o.string("hash", v.Hash)
	if v.Encoding != "" {
		o.string("encoding", v.Encoding)
	}
	if v.LineEnding != "" {
		o.string("line_ending", v.LineEnding)
	}
	if v.Replaced != 0 {
		o.int("replaced", int64(v.Replaced))
	}
	o.int("added", int64(v.Added))
	o.int("removed", int64(v.Removed))
	if v.DiffCut {
		o.bool("diff_cut", v.DiffCut)
	}
	if v.OtherNames != 0 {
		o.int("other_names", int64(v.OtherNames))
	}
	if v.History != "" {
		o.string("history", v.History)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *WriteOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "created":
			v.Created = d.Bool()
		case "unchanged":
			v.Unchanged = d.Bool()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		case "hash":
			v.Hash = d.String()
		case "encoding":
			v.Encoding = d.String()
		case "line_ending":
			v.LineEnding = d.String()
		case "replaced":
			v.Replaced = int(d.Int(math.MinInt, math.MaxInt))
		case "added":
			v.Added = int(d.Int(math.MinInt, math.MaxInt))
		case "removed":
			v.Removed = int(d.Int(math.MinInt, math.MaxInt))
		case "diff_cut":
			v.DiffCut = d.Bool()
		case "other_names":
			v.OtherNames = int(d.Int(math.MinInt, math.MaxInt))
		case "history":
			v.History = d.String()
		default:
			d.Skip()
		}
	})
}

// DocsArgs are the arguments of docs.read, which has a PDF, an image or a notebook
// turned into what a model can be shown. The file is parsed in a guest of its own,
// which can reach nothing but its bytes.
//
// The answer's head is [DocsOK]; its body the blocks' bytes, one after the other:
// see [Source] for how they pass into a result.
type DocsArgs struct {
	Path string `json:"path"`
	// Pages names pages of a PDF, 1-based, such as "3", "1-5,8" or "10-"; at most 20.
	// Without it there are up to 10.
	Pages string `json:"pages,omitempty"`
	// Shown is as in [ReadArgs]: the model gets to see the document.
	Shown bool `json:"shown,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *DocsArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	if v.Pages != "" {
		o.string("pages", v.Pages)
	}
	if v.Shown {
		o.bool("shown", v.Shown)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *DocsArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "pages":
			v.Pages = d.String()
		case "shown":
			v.Shown = d.Bool()
		default:
			d.Skip()
		}
	})
}

// DocsOK is the answer to docs.read.
type DocsOK struct {
	// Path is the file that was read, absolute and without links.
	Path string `json:"path"`
	// Kind is one of the kinds of document.
	Kind string `json:"kind"`
	// Pages is how many pages a PDF has, or how many cells a notebook.
	Pages int `json:"pages,omitempty"`
	// Blocks are what is shown, in order.
	Blocks []DocBlock `json:"blocks,omitempty"`
	// Notes are for the model, a sentence each: what was left out, scaled or broken.
	Notes []string `json:"notes,omitempty"`
	// Unchanged is as in [ReadOK].
	Unchanged bool `json:"unchanged,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *DocsOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.string("kind", v.Kind)
	if v.Pages != 0 {
		o.int("pages", int64(v.Pages))
	}
	if len(v.Blocks) > 0 {
		o.list("blocks", len(v.Blocks), func(i int, dst []byte) []byte { return v.Blocks[i].AppendJSON(dst) })
	}
	if len(v.Notes) > 0 {
		o.strings("notes", v.Notes)
	}
	if v.Unchanged {
		o.bool("unchanged", v.Unchanged)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *DocsOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "kind":
			v.Kind = d.String()
		case "pages":
			v.Pages = int(d.Int(math.MinInt, math.MaxInt))
		case "blocks":
			d.Array(func() {
				var x DocBlock
				x.DecodeJSON(d)
				v.Blocks = append(v.Blocks, x)
			})
		case "notes":
			d.Array(func() { v.Notes = append(v.Notes, d.String()) })
		case "unchanged":
			v.Unchanged = d.Bool()
		default:
			d.Skip()
		}
	})
}

// DocBlock is one content block of a document.
type DocBlock struct {
	// Type is text, image or document.
	Type      BlockType `json:"type"`
	MediaType string    `json:"media_type,omitempty"`
	Title     string    `json:"title,omitempty"`
	// Size is how many bytes of the body are the block's.
	Size int64 `json:"size"`
}

// AppendJSON appends v as a JSON object.
func (v *DocBlock) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("type", string(v.Type))
	if v.MediaType != "" {
		o.string("media_type", v.MediaType)
	}
	if v.Title != "" {
		o.string("title", v.Title)
	}
	o.int("size", v.Size)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *DocBlock) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "type":
			v.Type = BlockType(d.String())
		case "media_type":
			v.MediaType = d.String()
		case "title":
			v.Title = d.String()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// NamesArgs are the arguments of search.names. The answer's head is [NamesOK];
// its body a JSON array of [Found], newest first.
type NamesArgs struct {
	// Path is the directory to search; empty is the session's cwd.
	Path string `json:"path,omitempty"`
	// Pattern is a glob with *, ?, [...], {a,b} and **, relative to Path, or
	// absolute.
	Pattern string `json:"pattern"`
	// Limit is the most names; 0 is the host's bound of 10,000.
	Limit int `json:"limit,omitempty"`
	// Ignore leaves out what .gitignore and .ignore files name.
	Ignore bool `json:"ignore,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *NamesArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Path != "" {
		o.string("path", v.Path)
	}
	o.string("pattern", v.Pattern)
	if v.Limit != 0 {
		o.int("limit", int64(v.Limit))
	}
	if v.Ignore {
		o.bool("ignore", v.Ignore)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *NamesArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "pattern":
			v.Pattern = d.String()
		case "limit":
			v.Limit = int(d.Int(math.MinInt, math.MaxInt))
		case "ignore":
			v.Ignore = d.Bool()
		default:
			d.Skip()
		}
	})
}

// NamesOK is the answer to search.names.
type NamesOK struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
	// Total is how many matched, or 0 where the walk was cut short.
	Total     int  `json:"total"`
	Truncated bool `json:"truncated,omitempty"`
	// Denied counts what rules left out, Unreadable what the system did.
	Denied     int `json:"denied,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// TimedOut says that the host ended the search at its limit of Timeout
	// milliseconds. The body has what was found by then.
	TimedOut bool  `json:"timed_out,omitempty"`
	Timeout  int64 `json:"timeout_ms,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *NamesOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.int("count", int64(v.Count))
	o.int("total", int64(v.Total))
	if v.Truncated {
		o.bool("truncated", v.Truncated)
	}
	if v.Denied != 0 {
		o.int("denied", int64(v.Denied))
	}
	if v.Unreadable != 0 {
		o.int("unreadable", int64(v.Unreadable))
	}
	if v.TimedOut {
		o.bool("timed_out", v.TimedOut)
	}
	if v.Timeout != 0 {
		o.int("timeout_ms", v.Timeout)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *NamesOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "count":
			v.Count = int(d.Int(math.MinInt, math.MaxInt))
		case "total":
			v.Total = int(d.Int(math.MinInt, math.MaxInt))
		case "truncated":
			v.Truncated = d.Bool()
		case "denied":
			v.Denied = int(d.Int(math.MinInt, math.MaxInt))
		case "unreadable":
			v.Unreadable = int(d.Int(math.MinInt, math.MaxInt))
		case "timed_out":
			v.TimedOut = d.Bool()
		case "timeout_ms":
			v.Timeout = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// Found is one file that matched a glob.
type Found struct {
	// Path is relative to the session's cwd where it lies below it, else
	// absolute.
	Path    string `json:"path"`
	ModTime int64  `json:"mod_time_ms"`
}

// AppendJSON appends v as a JSON object.
func (v *Found) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.int("mod_time_ms", v.ModTime)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Found) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "mod_time_ms":
			v.ModTime = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// ContentsArgs are the arguments of search.contents. The answer's head is
// [ContentsOK]; its body text in ripgrep's shape for the mode: "path:line:text"
// with "-" around context lines and "--" between groups, "path", or
// "path:count".
type ContentsArgs struct {
	Pattern string `json:"pattern"`
	// Path is the file or directory to search; empty is the session's cwd.
	Path string `json:"path,omitempty"`
	// Globs filter files as ripgrep's -g does; "!" excludes, the last match
	// decides.
	Globs []string `json:"globs,omitempty"`
	// Type is a name of ripgrep's type list, such as "go".
	Type string `json:"type,omitempty"`
	// Mode is one of the output modes; empty is [ModeFiles].
	Mode            string `json:"mode,omitempty"`
	Before          int    `json:"before,omitempty"`
	After           int    `json:"after,omitempty"`
	LineNumbers     bool   `json:"line_numbers,omitempty"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty"`
	// Multiline lets matches span lines and "." match newlines.
	Multiline bool `json:"multiline,omitempty"`
	// Limit is the most output entries (lines, or files) and Offset how many to
	// skip; a Limit of 0 is the host's bound.
	Limit  int `json:"limit,omitempty"`
	Offset int `json:"offset,omitempty"`
	// MaxColumns cuts longer lines, in bytes; 0 does not.
	MaxColumns int `json:"max_columns,omitempty"`
	// Shown says that the model gets to see the lines, so that the session takes them
	// for read: see fs.replace. It counts with [ModeContent] only.
	Shown bool `json:"shown,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ContentsArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("pattern", v.Pattern)
	if v.Path != "" {
		o.string("path", v.Path)
	}
	if len(v.Globs) > 0 {
		o.strings("globs", v.Globs)
	}
	if v.Type != "" {
		o.string("type", v.Type)
	}
	if v.Mode != "" {
		o.string("mode", v.Mode)
	}
	if v.Before != 0 {
		o.int("before", int64(v.Before))
	}
	if v.After != 0 {
		o.int("after", int64(v.After))
	}
	if v.LineNumbers {
		o.bool("line_numbers", v.LineNumbers)
	}
	if v.CaseInsensitive {
		o.bool("case_insensitive", v.CaseInsensitive)
	}
	if v.Multiline {
		o.bool("multiline", v.Multiline)
	}
	if v.Limit != 0 {
		o.int("limit", int64(v.Limit))
	}
	if v.Offset != 0 {
		o.int("offset", int64(v.Offset))
	}
	if v.MaxColumns != 0 {
		o.int("max_columns", int64(v.MaxColumns))
	}
	if v.Shown {
		o.bool("shown", v.Shown)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ContentsArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "pattern":
			v.Pattern = d.String()
		case "path":
			v.Path = d.String()
		case "globs":
			d.Array(func() { v.Globs = append(v.Globs, d.String()) })
		case "type":
			v.Type = d.String()
		case "mode":
			v.Mode = d.String()
		case "before":
			v.Before = int(d.Int(math.MinInt, math.MaxInt))
		case "after":
			v.After = int(d.Int(math.MinInt, math.MaxInt))
		case "line_numbers":
			v.LineNumbers = d.Bool()
		case "case_insensitive":
			v.CaseInsensitive = d.Bool()
		case "multiline":
			v.Multiline = d.Bool()
		case "limit":
			v.Limit = int(d.Int(math.MinInt, math.MaxInt))
		case "offset":
			v.Offset = int(d.Int(math.MinInt, math.MaxInt))
		case "max_columns":
			v.MaxColumns = int(d.Int(math.MinInt, math.MaxInt))
		case "shown":
			v.Shown = d.Bool()
		default:
			d.Skip()
		}
	})
}

// ContentsOK is the answer to search.contents.
type ContentsOK struct {
	Path string `json:"path"`
	// Files and Matches count what the body shows; Matches is 0 with
	// [ModeFiles]. Entries counts the body's lines, "--" included.
	Files   int `json:"files"`
	Matches int `json:"matches"`
	Entries int `json:"entries"`
	// Truncated says that Limit left entries out.
	Truncated  bool `json:"truncated,omitempty"`
	Denied     int  `json:"denied,omitempty"`
	Unreadable int  `json:"unreadable,omitempty"`
	// Searched counts the files that were opened.
	Searched int `json:"searched"`
	// TimedOut says that the host ended the search at its limit of Timeout
	// milliseconds. The body has what was found by then; where a file was not searched
	// to its end, its count covers the part that was.
	TimedOut bool  `json:"timed_out,omitempty"`
	Timeout  int64 `json:"timeout_ms,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *ContentsOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.int("files", int64(v.Files))
	o.int("matches", int64(v.Matches))
	o.int("entries", int64(v.Entries))
	if v.Truncated {
		o.bool("truncated", v.Truncated)
	}
	if v.Denied != 0 {
		o.int("denied", int64(v.Denied))
	}
	if v.Unreadable != 0 {
		o.int("unreadable", int64(v.Unreadable))
	}
	o.int("searched", int64(v.Searched))
	if v.TimedOut {
		o.bool("timed_out", v.TimedOut)
	}
	if v.Timeout != 0 {
		o.int("timeout_ms", v.Timeout)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ContentsOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "files":
			v.Files = int(d.Int(math.MinInt, math.MaxInt))
		case "matches":
			v.Matches = int(d.Int(math.MinInt, math.MaxInt))
		case "entries":
			v.Entries = int(d.Int(math.MinInt, math.MaxInt))
		case "truncated":
			v.Truncated = d.Bool()
		case "denied":
			v.Denied = int(d.Int(math.MinInt, math.MaxInt))
		case "unreadable":
			v.Unreadable = int(d.Int(math.MinInt, math.MaxInt))
		case "searched":
			v.Searched = int(d.Int(math.MinInt, math.MaxInt))
		case "timed_out":
			v.TimedOut = d.Bool()
		case "timeout_ms":
			v.Timeout = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// ClockOK is the answer to clock.now.
type ClockOK struct {
	// Unix is the time in nanoseconds since 1970, in UTC.
	Unix int64 `json:"unix_ns"`
	// Monotonic counts nanoseconds and is never put back. It begins anywhere, so that
	// only differences mean anything, and only within one call.
	Monotonic int64 `json:"monotonic_ns"`
}

// AppendJSON appends v as a JSON object.
func (v *ClockOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.int("unix_ns", v.Unix)
	o.int("monotonic_ns", v.Monotonic)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *ClockOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "unix_ns":
			v.Unix = d.Int(math.MinInt64, math.MaxInt64)
		case "monotonic_ns":
			v.Monotonic = d.Int(math.MinInt64, math.MaxInt64)
		default:
			d.Skip()
		}
	})
}

// RandomArgs are the arguments of random.bytes.
type RandomArgs struct {
	// Length is how many bytes are wanted, up to [MaxRandom].
	Length int `json:"length"`
}

// AppendJSON appends v as a JSON object.
func (v *RandomArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.int("length", int64(v.Length))
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *RandomArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "length":
			v.Length = int(d.Int(math.MinInt, math.MaxInt))
		default:
			d.Skip()
		}
	})
}

// RandomOK is the answer to random.bytes.
type RandomOK struct {
	Length int `json:"length"`
}

// AppendJSON appends v as a JSON object.
func (v *RandomOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.int("length", int64(v.Length))
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *RandomOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "length":
			v.Length = int(d.Int(math.MinInt, math.MaxInt))
		default:
			d.Skip()
		}
	})
}

// MessageArgs are the arguments of session.message.
type MessageArgs struct {
	// Message is in Markdown: at most [MaxMessage] code points, and not blank.
	Message string `json:"message"`
	// Attachments are the paths of files that belong to it. They are judged as files that are
	// read, and the tool must have fs.read for them.
	Attachments []string `json:"attachments,omitempty"`
	// Status is one of the statuses above; empty is MessageNormal.
	Status string `json:"status,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *MessageArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("message", v.Message)
	if len(v.Attachments) > 0 {
		o.strings("attachments", v.Attachments)
	}
	if v.Status != "" {
		o.string("status", v.Status)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *MessageArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "message":
			v.Message = d.String()
		case "attachments":
			d.Array(func() { v.Attachments = append(v.Attachments, d.String()) })
		case "status":
			v.Status = d.String()
		default:
			d.Skip()
		}
	})
}

// MessageOK is the answer to session.message.
type MessageOK struct {
	Attachments []MessageAttachment `json:"attachments,omitempty"`
	// Sent is when the person was told, as RFC 3339 has it, in UTC.
	Sent string `json:"sent_at"`
}

// AppendJSON appends v as a JSON object.
func (v *MessageOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if len(v.Attachments) > 0 {
		o.list("attachments", len(v.Attachments), func(i int, dst []byte) []byte { return v.Attachments[i].AppendJSON(dst) })
	}
	o.string("sent_at", v.Sent)
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *MessageOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "attachments":
			d.Array(func() {
				var x MessageAttachment
				x.DecodeJSON(d)
				v.Attachments = append(v.Attachments, x)
			})
		case "sent_at":
			v.Sent = d.String()
		default:
			d.Skip()
		}
	})
}

// MessageAttachment is a file that belongs to a message.
type MessageAttachment struct {
	// Path is absolute, and Size in bytes.
	Path string `json:"path"`
	Size int64  `json:"size"`
	// IsImage says that its content is an image.
	IsImage bool `json:"is_image,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *MessageAttachment) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("path", v.Path)
	o.int("size", v.Size)
	if v.IsImage {
		o.bool("is_image", v.IsImage)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *MessageAttachment) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "path":
			v.Path = d.String()
		case "size":
			v.Size = d.Int(math.MinInt64, math.MaxInt64)
		case "is_image":
			v.IsImage = d.Bool()
		default:
			d.Skip()
		}
	})
}

// A Todo is one item of an agent's list of todos.
type Todo struct {
	ID      string `json:"id,omitempty"`
	Content string `json:"content"`
	// Status is WorkPending, WorkInProgress or WorkCompleted.
	Status string `json:"status"`
	// ActiveForm says what is going on while it is in progress.
	ActiveForm string `json:"activeForm,omitempty"`
	// Priority is high, medium, low or empty.
	Priority string `json:"priority,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *Todo) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.ID != "" {
		o.string("id", v.ID)
	}
	o.string("content", v.Content)
	o.string("status", v.Status)
	if v.ActiveForm != "" {
		o.string("activeForm", v.ActiveForm)
	}
	if v.Priority != "" {
		o.string("priority", v.Priority)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *Todo) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "id":
			v.ID = d.String()
		case "content":
			v.Content = d.String()
		case "status":
			v.Status = d.String()
		case "activeForm":
			v.ActiveForm = d.String()
		case "priority":
			v.Priority = d.String()
		default:
			d.Skip()
		}
	})
}

// TodosArgs are the arguments of session.todo. Part 0 is a JSON array of [Todo], which
// replaces the whole list of the agent that makes the call. A list has at most 200 items of
// at most 2,000 characters each, and at most one of them is in progress. With Read, no part
// is sent and the list does not change.
//
// The answer's head is [TodosOK]; its body [TodoLists] in JSON.
type TodosArgs struct {
	Read bool `json:"read,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *TodosArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Read {
		o.bool("read", v.Read)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *TodosArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "read":
			v.Read = d.Bool()
		default:
			d.Skip()
		}
	})
}

// TodosOK is the answer to session.todo.
type TodosOK struct {
	// Count is how many items the list now has.
	Count int `json:"count"`
	// Cleared says that all items were completed: the list is empty now.
	Cleared bool `json:"cleared,omitempty"`
	// Unchecked says that three or more items are completed and none of them is a check
	// of the work.
	Unchecked bool `json:"unchecked,omitempty"`
	// Notes are what else is to be known, such as that a damaged list was put aside.
	Notes []string `json:"notes,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *TodosOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.int("count", int64(v.Count))
	if v.Cleared {
		o.bool("cleared", v.Cleared)
	}
	if v.Unchecked {
		o.bool("unchecked", v.Unchecked)
	}
	if len(v.Notes) > 0 {
		o.strings("notes", v.Notes)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *TodosOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "count":
			v.Count = int(d.Int(math.MinInt, math.MaxInt))
		case "cleared":
			v.Cleared = d.Bool()
		case "unchecked":
			v.Unchecked = d.Bool()
		case "notes":
			d.Array(func() { v.Notes = append(v.Notes, d.String()) })
		default:
			d.Skip()
		}
	})
}

// TodoLists are a list of todos as it now is, and as it was before the call.
type TodoLists struct {
	Todos  []Todo `json:"todos"`
	Before []Todo `json:"before"`
}

// AppendJSON appends v as a JSON object.
func (v *TodoLists) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.list("todos", len(v.Todos), func(i int, dst []byte) []byte { return v.Todos[i].AppendJSON(dst) })
	o.list("before", len(v.Before), func(i int, dst []byte) []byte { return v.Before[i].AppendJSON(dst) })
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *TodoLists) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "todos":
			d.Array(func() {
				var x Todo
				x.DecodeJSON(d)
				v.Todos = append(v.Todos, x)
			})
		case "before":
			d.Array(func() {
				var x Todo
				x.DecodeJSON(d)
				v.Before = append(v.Before, x)
			})
		default:
			d.Skip()
		}
	})
}

// WorkItem is a piece of work that agents share.
type WorkItem struct {
	// ID is "1", "2" and so on; none is used twice.
	ID          string `json:"id"`
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
	ActiveForm  string `json:"activeForm,omitempty"`
	// Status is one of the states above, and Owner the agent that works on it.
	Status string `json:"status"`
	Owner  string `json:"owner,omitempty"`
	// Blocks are the items that wait for this one, and BlockedBy those that it waits for.
	Blocks    []string `json:"blocks"`
	BlockedBy []string `json:"blockedBy"`
	// Metadata is an object of the model's own.
	Metadata map[string]Raw `json:"metadata,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *WorkItem) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("id", v.ID)
	o.string("subject", v.Subject)
	if v.Description != "" {
		o.string("description", v.Description)
	}
	if v.ActiveForm != "" {
		o.string("activeForm", v.ActiveForm)
	}
	o.string("status", v.Status)
	if v.Owner != "" {
		o.string("owner", v.Owner)
	}
	o.strings("blocks", v.Blocks)
	o.strings("blockedBy", v.BlockedBy)
	if len(v.Metadata) > 0 {
		o.rawMap("metadata", v.Metadata)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *WorkItem) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "id":
			v.ID = d.String()
		case "subject":
			v.Subject = d.String()
		case "description":
			v.Description = d.String()
		case "activeForm":
			v.ActiveForm = d.String()
		case "status":
			v.Status = d.String()
		case "owner":
			v.Owner = d.String()
		case "blocks":
			d.Array(func() { v.Blocks = append(v.Blocks, d.String()) })
		case "blockedBy":
			d.Array(func() { v.BlockedBy = append(v.BlockedBy, d.String()) })
		case "metadata":
			d.Object(func(key string) {
				if v.Metadata == nil {
					v.Metadata = make(map[string]Raw)
				}
				v.Metadata[key] = d.Raw()
			})
		default:
			d.Skip()
		}
	})
}

// WorkChange is what a new task is to be, or what of one is to change. Nil fields stay as
// they are.
type WorkChange struct {
	Subject     *string `json:"subject,omitempty"`
	Description *string `json:"description,omitempty"`
	ActiveForm  *string `json:"activeForm,omitempty"`
	// Status is a state or, to remove the task with its edges, [WorkDeleted]. A task that
	// becomes [WorkInProgress] is owned by the agent that makes the call, unless Owner
	// names another. New tasks are pending.
	Status *string `json:"status,omitempty"`
	// Owner is an agent; empty is none.
	Owner *string `json:"owner,omitempty"`
	// AddBlocks are tasks that are to wait for this one, and AddBlockedBy tasks that this
	// one is to wait for. No task may wait for itself, in however many steps.
	AddBlocks    []string `json:"addBlocks,omitempty"`
	AddBlockedBy []string `json:"addBlockedBy,omitempty"`
	// Metadata is merged into what there is; null removes a key.
	Metadata map[string]Raw `json:"metadata,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *WorkChange) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Subject != nil {
		o.string("subject", *v.Subject)
	}
	if v.Description != nil {
		o.string("description", *v.Description)
	}
	if v.ActiveForm != nil {
		o.string("activeForm", *v.ActiveForm)
	}
	if v.Status != nil {
		o.string("status", *v.Status)
	}
	if v.Owner != nil {
		o.string("owner", *v.Owner)
	}
	if len(v.AddBlocks) > 0 {
		o.strings("addBlocks", v.AddBlocks)
	}
	if len(v.AddBlockedBy) > 0 {
		o.strings("addBlockedBy", v.AddBlockedBy)
	}
	if len(v.Metadata) > 0 {
		o.rawMap("metadata", v.Metadata)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *WorkChange) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "subject":
			if !d.Null() {
				x := d.String()
				v.Subject = &x
			}
		case "description":
			if !d.Null() {
				x := d.String()
				v.Description = &x
			}
		case "activeForm":
			if !d.Null() {
				x := d.String()
				v.ActiveForm = &x
			}
		case "status":
			if !d.Null() {
				x := d.String()
				v.Status = &x
			}
		case "owner":
			if !d.Null() {
				x := d.String()
				v.Owner = &x
			}
		case "addBlocks":
			d.Array(func() { v.AddBlocks = append(v.AddBlocks, d.String()) })
		case "addBlockedBy":
			d.Array(func() { v.AddBlockedBy = append(v.AddBlockedBy, d.String()) })
		case "metadata":
			d.Object(func(key string) {
				if v.Metadata == nil {
					v.Metadata = make(map[string]Raw)
				}
				v.Metadata[key] = d.Raw()
			})
		default:
			d.Skip()
		}
	})
}

// WorkArgs are the arguments of session.task. The answer's head is [WorkOK]. With
// [WorkList] its body is a JSON array of [WorkItem] without descriptions and metadata, in
// the order of their numbers; tasks whose metadata has _internal are left out, and so is
// from BlockedBy what is completed.
type WorkArgs struct {
	// Do is one of the operations.
	Do string `json:"do"`
	// ID names the task of [WorkGet] and [WorkUpdate].
	ID string `json:"id,omitempty"`
	// Change is what [WorkCreate] and [WorkUpdate] do.
	Change *WorkChange `json:"change,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *WorkArgs) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	o.string("do", v.Do)
	if v.ID != "" {
		o.string("id", v.ID)
	}
	if v.Change != nil {
		o.value("change", v.Change.AppendJSON)
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *WorkArgs) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "do":
			v.Do = d.String()
		case "id":
			v.ID = d.String()
		case "change":
			if !d.Null() {
				v.Change = new(WorkChange)
				v.Change.DecodeJSON(d)
			}
		default:
			d.Skip()
		}
	})
}

// WorkOK is the answer to session.task.
type WorkOK struct {
	// Task is the task as it now is; nil where [WorkGet] found none, where it was deleted,
	// and with [WorkList].
	Task *WorkItem `json:"task,omitempty"`
	// Updated names the fields that [WorkUpdate] changed, and From and To how the status
	// did, to [WorkDeleted] too; both are empty where it did not.
	Updated []string `json:"updated,omitempty"`
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	// Unchecked says that the task was completed, that three or more are, and that none
	// of them is a check of the work.
	Unchecked bool `json:"unchecked,omitempty"`
	// Notes are what else is to be known, such as what the task waits for.
	Notes []string `json:"notes,omitempty"`
	// Count is how many tasks [WorkList] lists, and Hidden how many more there are.
	Count  int `json:"count,omitempty"`
	Hidden int `json:"hidden,omitempty"`
}

// AppendJSON appends v as a JSON object.
func (v *WorkOK) AppendJSON(dst []byte) []byte {
	o := beginObject(dst)
	if v.Task != nil {
		o.value("task", v.Task.AppendJSON)
	}
	if len(v.Updated) > 0 {
		o.strings("updated", v.Updated)
	}
	if v.From != "" {
		o.string("from", v.From)
	}
	if v.To != "" {
		o.string("to", v.To)
	}
	if v.Unchecked {
		o.bool("unchecked", v.Unchecked)
	}
	if len(v.Notes) > 0 {
		o.strings("notes", v.Notes)
	}
	if v.Count != 0 {
		o.int("count", int64(v.Count))
	}
	if v.Hidden != 0 {
		o.int("hidden", int64(v.Hidden))
	}
	return o.end()
}

// DecodeJSON reads v from a JSON object; keys it does not know are skipped.
func (v *WorkOK) DecodeJSON(d *Decoder) {
	d.Object(func(key string) {
		switch key {
		case "task":
			if !d.Null() {
				v.Task = new(WorkItem)
				v.Task.DecodeJSON(d)
			}
		case "updated":
			d.Array(func() { v.Updated = append(v.Updated, d.String()) })
		case "from":
			v.From = d.String()
		case "to":
			v.To = d.String()
		case "unchecked":
			v.Unchecked = d.Bool()
		case "notes":
			d.Array(func() { v.Notes = append(v.Notes, d.String()) })
		case "count":
			v.Count = int(d.Int(math.MinInt, math.MaxInt))
		case "hidden":
			v.Hidden = int(d.Int(math.MinInt, math.MaxInt))
		default:
			d.Skip()
		}
	})
}
