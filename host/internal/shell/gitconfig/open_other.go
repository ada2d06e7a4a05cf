//go:build !unix

package gitconfig

// unblocked is not needed: there are no FIFOs among files.
const unblocked = 0
