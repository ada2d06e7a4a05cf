// Package fs reads and writes files natively: fs.read by bytes or by lines, fs.stat,
// fs.list, fs.write and fs.replace.
//
// Planning resolves the path to a handle and its real path; doing acts on that
// handle, so a link that is swapped in between leads nowhere else. See package
// workspace for what is refused.
//
// A read by lines is of text: UTF-8, with a byte order mark or without, UTF-16 with
// one, or Latin-1. The first 256 KiB of a file say which, so that it is read the same
// way at any offset; what of a file in UTF-8 is none behind that is shown as U+FFFD.
// A NUL in the first 8 KiB is binary, and UTF-16 without a mark is too. Of what a
// model is shown the session learns byte for byte: lines that were cut, and those
// with characters that had to be replaced, do not count.
package fs
