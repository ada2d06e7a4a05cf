package process_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// What waits for commands that do nothing costs nearly nothing: 50 supervisors take about a
// hundredth of a processor together. The bound is ten times that, for busy machines; what looks
// twenty times a second takes two hundred times as much.
func TestIdleCommandsCostNothing(t *testing.T) {
	testenv.SkipUnlessThorough(t)
	t.Parallel()
	const count, settled, span, share = 50, 8 * time.Second, 4 * time.Second, 10
	s := supervisors(t)
	sleep := testenv.NeedTool(t, "sleep")
	watchers := map[int]bool{}
	for range count {
		p, err := s.Start(t.Context(), process.Command{Path: sleep, Args: []string{"sleep", "600"}, Limits: process.Limits{Processes: 100, Memory: 1 << 30}})
		if err != nil {
			t.Fatal(err)
		}
		watchers[parentOf(t, p.Pid())] = true
	}
	if watchers[os.Getpid()] {
		t.Fatal("a command has no supervisor")
	}
	if len(watchers) != count {
		t.Fatalf("%d commands have %d supervisors, want one each", count, len(watchers))
	}
	time.Sleep(settled)
	testenv.InTime(t, span/share, func() time.Duration { // of the processor
		before := ran(t, watchers)
		time.Sleep(span)
		return ran(t, watchers) - before
	})
}

// ran is how long processes have had the processor.
func ran(t *testing.T, processes map[int]bool) time.Duration {
	t.Helper()
	var sum time.Duration
	for pid := range processes {
		tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
		threads, err := os.ReadDir(tasks)
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			content, _ := os.ReadFile(tasks + thread.Name() + "/schedstat") // it may have ended
			if fields := bytes.Fields(content); len(fields) > 0 {
				nanoseconds, _ := strconv.ParseInt(string(fields[0]), 10, 64)
				sum += time.Duration(nanoseconds)
			}
		}
	}
	return sum
}

// parentOf is the process that has started another one.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}
