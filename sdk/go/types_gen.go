// Code generated from package abi by go generate ./abi. DO NOT EDIT.

package toolquay

import "github.com/toolquay/toolquay/sdk/go/wire"

// The codes of version 1. A reader treats one it does not know as
// [CodeInternal].
const (
	CodeInvalidInput  = wire.CodeInvalidInput  // the arguments do not fit the schema or each other
	CodeNotFound      = wire.CodeNotFound      // no such file, tool, task ...
	CodeIsDirectory   = wire.CodeIsDirectory   // a file was needed
	CodeNotDirectory  = wire.CodeNotDirectory  // a directory was needed
	CodeNotRegular    = wire.CodeNotRegular    // a device, FIFO, socket or kernel file
	CodeNotText       = wire.CodeNotText       // binary where text was needed
	CodeTooLarge      = wire.CodeTooLarge      // over a size limit
	CodeUnknownTool   = wire.CodeUnknownTool   // no tool of that name
	CodeDisabled      = wire.CodeDisabled      // the tool exists but is switched off
	CodeNotRead       = wire.CodeNotRead       // the session has not read what is to be written over
	CodeSameText      = wire.CodeSameText      // what is to be written is there already
	CodeNoMatch       = wire.CodeNoMatch       // the text to replace is not in the file
	CodeNotUnique     = wire.CodeNotUnique     // the text to replace is there more than once
	CodeDenied        = wire.CodeDenied        // a rule, hook or person said no
	CodeNeedsApproval = wire.CodeNeedsApproval // a person must decide and none did
	CodeUndeclared    = wire.CodeUndeclared    // a capability the manifest does not declare
	CodeNotGranted    = wire.CodeNotGranted    // declared, but nobody consented to it
	CodeProtocol      = wire.CodeProtocol      // a broken message or pointer
	CodeTrap          = wire.CodeTrap          // the guest trapped or exited
	CodeLimit         = wire.CodeLimit         // a limit of memory, output, log lines or calls
	CodeTimeout       = wire.CodeTimeout       // a limit of time
	CodeLoad          = wire.CodeLoad          // the module could not be loaded
	CodeReentry       = wire.CodeReentry       // a kept instance was called by itself
	CodeChanged       = wire.CodeChanged       // what was judged is no longer what is there
	CodeIO            = wire.CodeIO            // the system refused or failed
	CodeUnsupported   = wire.CodeUnsupported   // this host or platform has no such thing
	CodeCancelled     = wire.CodeCancelled     // the call was given up
	CodeInterrupted   = wire.CodeInterrupted   // the user wrote something new
	CodeInternal      = wire.CodeInternal      // a defect of the host
)

// The capability operations of version 1. A manifest declares each by name.
const (
	CapFSRead         = wire.CapFSRead
	CapFSStat         = wire.CapFSStat
	CapFSList         = wire.CapFSList
	CapFSWrite        = wire.CapFSWrite
	CapFSReplace      = wire.CapFSReplace
	CapDocsRead       = wire.CapDocsRead
	CapSearchNames    = wire.CapSearchNames
	CapSearchContents = wire.CapSearchContents

	// CapSessionCwd is no call: declaring it lets a result carry [ChangeCwd].
	CapSessionCwd = wire.CapSessionCwd
)

// The kinds of file the fs capabilities tell apart.
const (
	KindFile      = wire.KindFile
	KindDirectory = wire.KindDirectory
	KindSymlink   = wire.KindSymlink
	KindOther     = wire.KindOther
)

// The encodings that text files are told apart by. Text without a byte order mark
// that is no UTF-8 is Latin-1, unless it is binary.
const (
	EncodingUTF8    = wire.EncodingUTF8
	EncodingUTF8BOM = wire.EncodingUTF8BOM
	EncodingUTF16LE = wire.EncodingUTF16LE
	EncodingUTF16BE = wire.EncodingUTF16BE
	EncodingLatin1  = wire.EncodingLatin1
)

// The line endings of a text.
const (
	LineEndingLF   = wire.LineEndingLF
	LineEndingCRLF = wire.LineEndingCRLF

	// LineEndingMixed is both. Lines that are put in get the one that is in the
	// majority, LF where there is none.
	LineEndingMixed = wire.LineEndingMixed
)

// ExpectAbsent is what a write expects of a file that it makes.
const (
	ExpectAbsent = wire.ExpectAbsent
)

// The output modes of search.contents.
const (
	ModeContent = wire.ModeContent
	ModeFiles   = wire.ModeFiles
	ModeCount   = wire.ModeCount
)

// The kinds of document that docs.read knows.
const (
	DocPDF      = wire.DocPDF
	DocImage    = wire.DocImage
	DocNotebook = wire.DocNotebook
)

// The content blocks a result is made of.
const (
	BlockText          = wire.BlockText
	BlockImage         = wire.BlockImage
	BlockDocument      = wire.BlockDocument
	BlockToolReference = wire.BlockToolReference
)

// What a guest cannot know by itself. Both operations touch nothing: a manifest declares
// them, and nobody has to grant them (see [NeedsGrant]).
const (
	// CapClockNow tells the time. It takes no arguments; the answer's head is [ClockOK],
	// without a body.
	CapClockNow = wire.CapClockNow

	// CapRandomBytes draws random numbers that nobody can foresee. Its arguments are
	// [RandomArgs]; the answer's head is [RandomOK], its body the bytes.
	CapRandomBytes = wire.CapRandomBytes
)

// MaxRandom is how many bytes one random.bytes answers at most.
const (
	MaxRandom = wire.MaxRandom
)

// The operations on a session itself that a plugin's tools may be granted. Tools in the box,
// and an embedder's own, may use all operations on sessions.
const (
	// CapSessionTodo reads or replaces the list of todos of the agent that calls.
	CapSessionTodo = wire.CapSessionTodo

	// CapSessionTask reads and changes the work items that the agents of a session, or of its
	// team, share.
	CapSessionTask = wire.CapSessionTask

	// CapSessionMessage tells the person something, with files where there are some. It takes
	// [MessageArgs]; the answer's head is [MessageOK]; it has no body.
	CapSessionMessage = wire.CapSessionMessage
)

// The statuses of a message to the person.
const (
	// MessageNormal answers the person, and is the default.
	MessageNormal = wire.MessageNormal

	// MessageProactive is what nobody asked for.
	MessageProactive = wire.MessageProactive
)

// The bounds of a message to the person.
const (
	// MaxMessage is the longest message, in code points.
	MaxMessage = wire.MaxMessage

	// MaxAttachments is how many files may belong to one, and MaxAttachment their largest
	// size in bytes.
	MaxAttachments = wire.MaxAttachments
	MaxAttachment  = wire.MaxAttachment
)

// The states of a [Todo] and a [WorkItem].
const (
	WorkPending    = wire.WorkPending
	WorkInProgress = wire.WorkInProgress
	WorkCompleted  = wire.WorkCompleted

	// WorkDeleted is the state that removes a work item.
	WorkDeleted = wire.WorkDeleted
)

// The operations of session.task.
const (
	WorkCreate = wire.WorkCreate
	WorkGet    = wire.WorkGet
	WorkUpdate = wire.WorkUpdate
	WorkList   = wire.WorkList
)

// Code names a kind of failure across the guest border, so that neither side
// has to read it out of a message.
type Code = wire.Code

// Error is a failure that keeps its code across the guest border.
type Error = wire.Error

// Progress is how far a call has come, for people.
type Progress = wire.Progress

// Fact is what the host knows about one path of a call.
type Fact = wire.Fact

// Assessment is the head of the message that assess returns. What is absent is
// not answered, and counts as the manifest's word or the unsafe answer.
type Assessment = wire.Assessment

// Lines are templates for the lines that people are shown of a call, such as
// "{pattern}[ in {path}]". A line stands behind the tool's name, so it does not repeat it.
//
// Each of them may use the fields of the input. Some lines have names of their own, which
// win over a field of the same name; that is then written {input.name}.
type Lines = wire.Lines

// Touch is one file or directory that a call reads or writes, with all below it.
type Touch = wire.Touch

// Invalid is a tool's own refusal of an input that fits its schema.
type Invalid = wire.Invalid

// Check is a tool's own verdict on a call. A plugin that is not built in can
// only tighten: its allow counts as no answer.
type Check = wire.Check

// ReadArgs are the arguments of fs.read. Paths of all operations may be
// relative to the session's working directory.
//
// The answer's head is [ReadOK]; its body the bytes, or with Lines the lines as
// UTF-8 text.
type ReadArgs = wire.ReadArgs

// LineArgs ask for a file's text line by line. The host splits at LF, takes a
// CR before it away, and decodes what [ReadOK] names as the file's encoding. Lines
// are joined with LF, without one at the end.
type LineArgs = wire.LineArgs

// ReadOK is the answer to fs.read.
type ReadOK = wire.ReadOK

// LinesOK tells what a read by lines returned.
type LinesOK = wire.LinesOK

// StatArgs are the arguments of fs.stat, which follows links. The answer's head
// is [StatOK]; it has no body.
type StatArgs = wire.StatArgs

// StatOK is the answer to fs.stat.
type StatOK = wire.StatOK

// ListArgs are the arguments of fs.list. The answer's head is [ListOK]; its
// body a JSON array of [Entry], sorted by name.
type ListArgs = wire.ListArgs

// ListOK is the answer to fs.list.
type ListOK = wire.ListOK

// Entry is one name in a directory. Links are not followed.
type Entry = wire.Entry

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
type WriteArgs = wire.WriteArgs

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
type ReplaceArgs = wire.ReplaceArgs

// WriteOK is the answer to fs.write and fs.replace.
type WriteOK = wire.WriteOK

// DocsArgs are the arguments of docs.read, which has a PDF, an image or a notebook
// turned into what a model can be shown. The file is parsed in a guest of its own,
// which can reach nothing but its bytes.
//
// The answer's head is [DocsOK]; its body the blocks' bytes, one after the other:
// see [Source] for how they pass into a result.
type DocsArgs = wire.DocsArgs

// DocsOK is the answer to docs.read.
type DocsOK = wire.DocsOK

// BlockType says what a content block is.
type BlockType = wire.BlockType

// DocBlock is one content block of a document.
type DocBlock = wire.DocBlock

// NamesArgs are the arguments of search.names. The answer's head is [NamesOK];
// its body a JSON array of [Found], newest first.
type NamesArgs = wire.NamesArgs

// NamesOK is the answer to search.names.
type NamesOK = wire.NamesOK

// Found is one file that matched a glob.
type Found = wire.Found

// ContentsArgs are the arguments of search.contents. The answer's head is
// [ContentsOK]; its body text in ripgrep's shape for the mode: "path:line:text"
// with "-" around context lines and "--" between groups, "path", or
// "path:count".
type ContentsArgs = wire.ContentsArgs

// ContentsOK is the answer to search.contents.
type ContentsOK = wire.ContentsOK

// ClockOK is the answer to clock.now.
type ClockOK = wire.ClockOK

// RandomArgs are the arguments of random.bytes.
type RandomArgs = wire.RandomArgs

// RandomOK is the answer to random.bytes.
type RandomOK = wire.RandomOK

// MessageArgs are the arguments of session.message.
type MessageArgs = wire.MessageArgs

// MessageOK is the answer to session.message.
type MessageOK = wire.MessageOK

// MessageAttachment is a file that belongs to a message.
type MessageAttachment = wire.MessageAttachment

// A Todo is one item of an agent's list of todos.
type Todo = wire.Todo

// TodosArgs are the arguments of session.todo. Part 0 is a JSON array of [Todo], which
// replaces the whole list of the agent that makes the call. A list has at most 200 items of
// at most 2,000 characters each, and at most one of them is in progress. With Read, no part
// is sent and the list does not change.
//
// The answer's head is [TodosOK]; its body [TodoLists] in JSON.
type TodosArgs = wire.TodosArgs

// TodosOK is the answer to session.todo.
type TodosOK = wire.TodosOK

// TodoLists are a list of todos as it now is, and as it was before the call.
type TodoLists = wire.TodoLists

// WorkItem is a piece of work that agents share.
type WorkItem = wire.WorkItem

// WorkChange is what a new task is to be, or what of one is to change. Nil fields stay as
// they are.
type WorkChange = wire.WorkChange

// WorkArgs are the arguments of session.task. The answer's head is [WorkOK]. With
// [WorkList] its body is a JSON array of [WorkItem] without descriptions and metadata, in
// the order of their numbers; tasks whose metadata has _internal are left out, and so is
// from BlockedBy what is completed.
type WorkArgs = wire.WorkArgs

// WorkOK is the answer to session.task.
type WorkOK = wire.WorkOK
