// Package privatedir makes directories that are the user's own and closed to
// everybody else, for what must not be tampered with.
package privatedir
