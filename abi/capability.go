package abi

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

// StatArgs are the arguments of fs.stat, which follows links. The answer's head
// is [StatOK]; it has no body.
type StatArgs struct {
	Path string `json:"path"`
	// Hash asks for the content's SHA-256, which needs all of it read.
	Hash bool `json:"hash,omitempty"`
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

// ListArgs are the arguments of fs.list. The answer's head is [ListOK]; its
// body a JSON array of [Entry], sorted by name.
type ListArgs struct {
	Path string `json:"path"`
	// Limit is the most entries; 0 is the host's bound of 10,000.
	Limit int `json:"limit,omitempty"`
}

// ListOK is the answer to fs.list.
type ListOK struct {
	Path      string `json:"path"`
	Count     int    `json:"count"`
	Truncated bool   `json:"truncated,omitempty"`
}

// Entry is one name in a directory. Links are not followed.
type Entry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Size    int64  `json:"size,omitempty"`
	ModTime int64  `json:"mod_time_ms,omitempty"`
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

// Found is one file that matched a glob.
type Found struct {
	// Path is relative to the session's cwd where it lies below it, else
	// absolute.
	Path    string `json:"path"`
	ModTime int64  `json:"mod_time_ms"`
}

// The output modes of search.contents.
const (
	ModeContent = "content"
	ModeFiles   = "files_with_matches"
	ModeCount   = "count"
)

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
