package engine

import (
	"errors"
	"strings"
	"testing"
)

// TestLastWords: of what a guest wrote before it ended, the panic with its place counts,
// as the runtimes of languages write it.
func TestLastWords(t *testing.T) {
	t.Parallel()
	const stack = "\ngoroutine 1 [running]:\npanic({0x1, 0x2})\n\t/go/src/runtime/panic.go:787 +0x10\nruntime.goPanicIndex(0x5)\n\t/go/src/runtime/panic.go:115 +0x6\n" +
		"main.rows(...)\n\t/src/table.go:12\nmain.main()\n\t/src/main.go:7 +0x2\n"
	tests := map[string]struct{ written, want string }{
		"nothing":            {"", ""},
		"lines":              {"one\ntwo", "two"},
		"Rust":               {"working\n\nthread 'main' panicked at src/lib.rs:4:5:\nno such row\nnote: run with `RUST_BACKTRACE=1`\n", "thread 'main' panicked at src/lib.rs:4:5: no such row"},
		"Go":                 {"panic: no such row\n" + stack, "panic: no such row at /src/table.go:12"},
		"Go's runtime":       {"panic: runtime error: index out of range [5] with length 3\n" + stack, "panic: runtime error: index out of range [5] with length 3 at /src/table.go:12"},
		"a deadlock":         {"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\nmain.main()\n\t/src/main.go:7 +0x2\n", "fatal error: all goroutines are asleep - deadlock! at /src/main.go:7"},
		"a panic, no stack":  {"panic: at TinyGo's\nlast", "panic: at TinyGo's"},
		"a panic about that": {"panic: the other panicked at noon", "panic: the other panicked at noon"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r Run
			r.logLines.write([]byte(tt.written))
			if got := r.LastWords(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	var r Run
	r.Heard("panicked at src/lib.rs:4:5:\nno such row")
	r.Heard("later")
	if got, want := r.LastWords(), "panicked at src/lib.rs:4:5:\nno such row"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTraceIsBounded(t *testing.T) {
	t.Parallel()
	if got := Trace(errors.New("wasm error: unreachable")); got != "" {
		t.Errorf("got %q", got)
	}
	if got := Trace(errors.New("wasm error: unreachable\nwasm stack trace:\n\t.rows(i32)")); got != "stack trace of the module:\n\t.rows(i32)" {
		t.Errorf("got %q", got)
	}
	if got := Trace(errors.New("x\nwasm stack trace:" + strings.Repeat("ä", maxTrace))); len(got) > maxTrace+100 {
		t.Errorf("it has %d bytes", len(got))
	}
}
