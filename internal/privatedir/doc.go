// Package privatedir makes directories that are the user's own and closed to
// everybody else, for what must not be tampered with, and opens the files in them.
package privatedir
