//go:build !tinygo

package toolquay

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// maxFrames bounds the functions that the stack of a panic names.
const maxFrames = 32

// panicPlace tells where the panic that is being recovered began, such as
// " (table.go:12, in main.rows)", and the stack from there up to the tool's Run.
func panicPlace() (place, stack string) {
	var pcs [2 * maxFrames]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	var b strings.Builder
	panicking := false
	for n := 0; n < maxFrames; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case !panicking || strings.HasPrefix(f.Function, "runtime."):
		case strings.Contains(f.Function, "/sdk/go.guarded["):
			return place, b.String()
		default:
			at := f.File + ":" + strconv.Itoa(f.Line)
			if place == "" {
				place = " (" + path.Base(at) + ", in " + f.Function + ")"
			}
			b.WriteString(f.Function + "\n\t" + at + "\n")
			n++
		}
		if !more {
			break
		}
	}
	return place, b.String()
}
