//go:build !linux

package paths

import "os"

// State would tell whether a directory has changed. On this system nothing is known of
// the file systems, so that no state is relied on.
type State struct{}

// RestingState always reports false.
func RestingState(*os.File) (s State, lasts bool) { return State{}, false }

// RestingText always reports false.
func RestingText(string) (text string, lasts bool) { return "", false }

// restingAt always returns the zero state.
func restingAt(string) State { return State{} }

// StateOf always reports false.
func StateOf(string) (State, bool) { return State{}, false }
