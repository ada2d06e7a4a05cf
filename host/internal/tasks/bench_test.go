package tasks_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/internal/testenv"
)

// thousand enters 1,000 tasks, of which 32 run.
func thousand(tb testing.TB, r *tasks.Registry) {
	tb.Helper()
	dir := tb.TempDir()
	for i := range tasks.DefaultMaxKept {
		output := filepath.Join(dir, strconv.Itoa(i))
		write(tb, output, "output\n")
		task := begin(tb, r, fmt.Sprint("task ", i), output)
		if i < tasks.DefaultMaxKept-tasks.DefaultMaxRunning {
			task.End(capability.TaskOutcome{Exit: new(0)})
		}
	}
}

// TestListed is the promise that 1,000 tasks are listed in 10 ms.
func TestListed(t *testing.T) {
	r := memory(t, tasks.Options{})
	thousand(t, r)
	testenv.InTime(t, 10*time.Millisecond, func() time.Duration {
		return testenv.Took(func() {
			if n := len(r.List()); n != tasks.DefaultMaxKept {
				t.Errorf("%d tasks", n)
			}
		})
	})
}

// BenchmarkList is 1,000 tasks as the session lists them, and as another process does
// that looks while the session is in use, and afterwards.
func BenchmarkList(b *testing.B) {
	r := newRoom(b, tasks.Options{})
	thousand(b, r.Registry)
	b.Run("within", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.List()
		}
	})
	look := func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			if list, err := tasks.Read(r.folder.Path()); err != nil || len(list) != tasks.DefaultMaxKept {
				b.Fatal(len(list), err)
			}
		}
	}
	b.Run("another process, in use", look)
	if err := r.folder.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("another process", look)
}

var needle = regexp.MustCompile(`needle|error \d+`)

// BenchmarkRead is what one look at a task costs that has written a line since.
func BenchmarkRead(b *testing.B) {
	for _, filter := range []string{"", "."} {
		b.Run("filter "+filter, func(b *testing.B) {
			r := newReader(b)
			for b.Loop() {
				write(b, r.path, "a line of output\n")
				if got, err := r.next(filter); err != nil || len(got.Text) != 17 {
					b.Fatal(got, err)
				}
			}
		})
	}
	b.Run("filter over 16 MiB", func(b *testing.B) {
		r := newReader(b)
		write(b, r.path, strings.Repeat("a line of output that is not it\n", 1<<19))
		b.SetBytes(16 << 20)
		for b.Loop() {
			if _, err := r.Read(b.Context(), r.task.ID(), capability.TaskRead{Filter: needle, Peek: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLife is a task that begins and ends, in memory and on the disk.
func BenchmarkLife(b *testing.B) {
	for name, r := range map[string]*tasks.Registry{"memory": memory(b, tasks.Options{}), "disk": newRoom(b, tasks.Options{}).Registry} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				begin(b, r, "lives", "").End(capability.TaskOutcome{})
			}
		})
	}
}
