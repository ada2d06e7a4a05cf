package process_test

import (
	"bytes"
	"os"
	"strconv"
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
	const count, settled, span, share = 50, 8 * time.Second, 4 * time.Second, 10
	s := supervisors(t)
	sleep := testenv.NeedTool(t, "sleep")
	for range count {
		_, err := s.Start(t.Context(), process.Command{Path: sleep, Args: []string{"sleep", "600"}, Limits: process.Limits{Processes: 100, Memory: 1 << 30}})
		if err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(settled)
	testenv.InTime(t, span/share, func() time.Duration { // of the processor
		before := childrenTime(t)
		time.Sleep(span)
		return childrenTime(t) - before
	})
}

// childrenTime is how long this process's children have had the processor.
func childrenTime(t *testing.T) time.Duration {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); string(fields[1]) != strconv.Itoa(os.Getpid()) {
			continue
		}
		threads, _ := os.ReadDir("/proc/" + e.Name() + "/task") // it may have ended
		for _, thread := range threads {
			content, _ := os.ReadFile("/proc/" + e.Name() + "/task/" + thread.Name() + "/schedstat")
			if fields := bytes.Fields(content); len(fields) > 0 {
				ran, _ := strconv.ParseInt(string(fields[0]), 10, 64)
				sum += time.Duration(ran)
			}
		}
	}
	return sum
}
