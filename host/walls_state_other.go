//go:build !linux

package host

import "os"

// dirState would tell whether a directory is as it was.
type dirState struct{}

// stateAtRest is never so here: what is not known of this system's file systems is not
// relied on.
func stateAtRest(*os.File) (dirState, bool) { return dirState{}, false }

// restingState knows none.
func restingState(string) (string, bool) { return "", false }

// stateOf knows no state.
func stateOf(string) (dirState, bool) { return dirState{}, false }
