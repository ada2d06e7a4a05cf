// Package search finds files natively, by name (search.names) and by content
// (search.contents), with ripgrep's semantics where they are known.
//
// What is searched: regular files below the directory that was named, hidden
// ones included (as with rg --hidden), the folders of version control systems
// (.git .svn .hg .bzr .jj .sl) left out. Links are not followed, so loops do no
// harm and nothing outside is reached; every file is opened relative to its
// directory's handle. The judge is asked about each directory before it is
// opened and about each file before anything of it is read or told; what it
// refuses is left out and counted.
//
// Search.contents honours .gitignore (inside a repository), .ignore and
// .git/info/exclude, those of the parents up to the repository's root included;
// search.names does on request. As in ripgrep, files that a glob of the request
// includes are searched though an ignore file names them, .ignore has more
// weight than .gitignore, and a path that is named itself is searched in any
// case. The user's global ignore file and .rgignore are not read.
//
// A glob is one of bash with globstar and dotglob, but: it names regular files
// only, so that links and directories are not listed; "a**" is "a*"; and "*" and
// "**" do not reach into the folders of version control, which a pattern may name.
// Fd takes "?" and classes for one byte where they are one code point here, and is
// blind to case unless told otherwise. Files come newest first, those of one time
// by path. What is deleted or replaced while a search runs is left out.
//
// Patterns are ripgrep's: the syntax of Rust's crate regex, with Unicode's \w, \d, \s
// and \b; bytes that are no UTF-8 match nothing but (?-u) classes. A pattern is looked
// for in each line, or across lines where that is asked for; look-around and
// back-references are refused. Plain text, alternations of it included, is found
// without the engine for expressions. A count is of lines and, where matches may span
// lines, of matches, as ripgrep counts them. Where ripgrep is not followed: a pattern has
// at most 4,096 bytes and compiles to at most 16 MiB; a line is searched up to 16 MiB, and
// a file across lines up to 64 MiB; files with a NUL byte in their first 8 KiB are
// binary and left out. Across lines ripgrep does not look behind the end of the match
// before, so that ^, \A and \b may match there, and it shows context around an empty
// match behind the last newline; neither is done here.
//
// One search has at most one file of over 1 MiB in memory to match across lines, once;
// of a line 16 MiB and a little more for each worker, twice where the line is not ASCII;
// and compiled expressions of 64 MiB together, or one of more. Beside the answer, which
// is bounded by itself, that is less than 128 MiB with two workers and 192 MiB with four,
// for all but expressions that repeat much; for those no guest has more than 128 MiB. A
// search that is cancelled ends within milliseconds, whatever it is doing.
//
// Text is UTF-8, or UTF-16 where a byte order mark says so; what is neither becomes
// U+FFFD in the output.
package search
