package ui

import (
	"os"

	"golang.org/x/sys/windows"
)

// moves reports whether a console can be drawn on: where it understands escape
// sequences.
func moves(f *os.File) bool {
	var mode uint32
	err := windows.GetConsoleMode(windows.Handle(f.Fd()), &mode)
	return err == nil && mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0
}
