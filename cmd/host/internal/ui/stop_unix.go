//go:build unix

package ui

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// onStop takes what is drawn live off the terminal while the program is stopped
// by Ctrl-Z, so that the shell finds its place. The returned function ends that.
func onStop(hold func() (release func())) (end func()) {
	stops, goes := make(chan os.Signal, 1), make(chan os.Signal, 1)
	quit := make(chan struct{})
	signal.Notify(stops, unix.SIGTSTP)
	signal.Notify(goes, unix.SIGCONT)
	go func() {
		for {
			select {
			case <-stops:
				release := hold()
				select {
				case <-goes: // of a stop that had no part in this
				default:
				}
				// It returns before the other threads are stopped, and often before its own,
				// on a busy machine long before. The first process of a container cannot be
				// stopped.
				if pid := os.Getpid(); pid != 1 && unix.Kill(pid, unix.SIGSTOP) == nil {
					select {
					case <-goes:
					case <-quit:
					}
				}
				release()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(stops)
		signal.Stop(goes)
		close(quit)
	}
}

// moves reports whether a terminal can be drawn on: any that has a name can.
func moves(*os.File) bool { return os.Getenv("TERM") != "" }
