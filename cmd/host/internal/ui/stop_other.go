//go:build !unix

package ui

// onStop does nothing: programs are not stopped and continued here.
func onStop(func() (release func())) (end func()) { return func() {} }
