//go:build unix

package ui

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// onStop takes what is drawn live off the terminal while the program is stopped
// by Ctrl-Z, so that the shell finds its place. The returned function ends that.
func onStop(p *Printer) (end func()) {
	stops := make(chan os.Signal, 1)
	quit := make(chan struct{})
	signal.Notify(stops, unix.SIGTSTP)
	go func() {
		for {
			select {
			case <-stops:
				release := p.Hold()
				_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // returns when it goes on
				release()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(stops)
		close(quit)
	}
}

// moves reports whether a terminal can be drawn on: any that has a name can.
func moves(*os.File) bool { return os.Getenv("TERM") != "" }
