//go:build !unix

package ui

// onStop does nothing: programs are not stopped and continued here.
func onStop(*Printer) (end func()) { return func() {} }
