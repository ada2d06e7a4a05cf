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
// case. The user's global ignore file is not read.
//
// Patterns are those of package regexp: RE2 syntax, close to ripgrep's own, but
// \w, \d and \b know ASCII only. Text is UTF-8; what is not decodes to U+FFFD
// in the output.
package search
