package abi

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
const ExpectAbsent = "absent"

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
