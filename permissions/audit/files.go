package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files of a log.
const (
	headName   = "head"
	lockName   = "lock"
	logPrefix  = "log-"
	logSuffix  = ".jsonl"
	maxSegment = 999_999
)

func segmentName(n int) string { return fmt.Sprintf("%s%06d%s", logPrefix, n, logSuffix) }

// segments lists the numbers of the segments in a directory, in order.
func segments(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), logPrefix)
		digits, ok2 := strings.CutSuffix(digits, logSuffix)
		n, err := strconv.Atoi(digits)
		if ok && ok2 && err == nil && n > 0 && entry.Name() == segmentName(n) {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found, nil
}

// path is where a file of the log lies.
func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }
