// Package fs reads files natively: fs.read by bytes or by lines, fs.stat and
// fs.list.
//
// Planning resolves the path to a handle and its real path; doing acts on that
// handle, so a link that is swapped in between leads nowhere else. See package
// workspace for what is refused.
package fs
