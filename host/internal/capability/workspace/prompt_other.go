//go:build (linux && !amd64 && !arm64) || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

// Elsewhere the kernel cannot be asked for what it can answer without waiting.

func isPrompt(int) bool { return false }

func (*Dir) openPrompt(string) (fd int, info Info, ok bool) { return -1, Info{}, false }

func (*rawFile) readPrompt([]byte) (n int, done bool) { return 0, false }
