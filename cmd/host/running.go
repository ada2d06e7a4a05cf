package main

import (
	"os"
	"slices"
	"strconv"

	"github.com/toolquay/toolquay/permissions/settings"
)

// maxConcurrency is the variable for how many calls of a turn run at once. It weighs
// as much as a flag.
const maxConcurrency = "TOOLQUAY_MAX_CONCURRENCY"

// scheduling is what the command line and its environment say of the scheduler.
func (f *globalFlags) scheduling() (s settings.Scheduler, err error) {
	if mode := f.scheduler; mode != "" {
		if !slices.Contains([]string{settings.ByLocks, settings.ByBatch}, mode) {
			return s, usageError("--scheduler %q: write %s or %s", mode, settings.ByLocks, settings.ByBatch)
		}
		s.Mode = settings.Key[string]{Value: mode, Set: true}
	}
	if text := os.Getenv(maxConcurrency); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > settings.MaxConcurrent {
			return s, usageError("%s is %.40q: write how many calls may run at once, from 1 to %d", maxConcurrency, text, settings.MaxConcurrent)
		}
		s.MaxConcurrent = settings.Key[int]{Value: n, Set: true}
	}
	return s, nil
}

// checkSession refuses ids that people could not tell apart, or type.
func checkSession(id string) error {
	const longest = 128
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	if len(id) > longest || slices.ContainsFunc([]rune(id), odd) {
		return usageError("--session %.140q: an id has at most %d letters, digits, dots, - and _", id, longest)
	}
	return nil
}
