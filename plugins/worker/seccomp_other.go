//go:build !linux || (!amd64 && !arm64)

package worker

import (
	"errors"
	"runtime"
)

// filterKnown says that there is no filter for this system: a process of its own,
// with what limits there are, is what a plugin gets here.
const filterKnown = false

// stage is how far a child has come, and with it what it may still do.
type stage int

const (
	stageLoading stage = iota
	stageRunning
)

// confine fails: there is no filter for this system.
func confine(stage) error {
	return errors.New("there is none for " + runtime.GOOS + "/" + runtime.GOARCH)
}

// Confinement says, for people, what this machine offers to confine a worker
// with, and whether a system call filter is among it.
func Confinement() (text string, filtered bool) {
	if runtime.GOOS == "windows" {
		return "a process of its own; no resource limits and no system call filter on Windows", false
	}
	return "resource limits; no system call filter on " + runtime.GOOS + "/" + runtime.GOARCH, false
}
