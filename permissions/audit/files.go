package audit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
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

// segment is the segment that is open for appending.
type segment struct {
	file   *os.File
	info   fs.FileInfo // identifies the file
	synced bool        // it is synced when another takes its place
	began  time.Time   // when its first line was written, once it was asked for
}

// open opens a segment in place of the one that is open.
func (s *segment) open(dir string, n, flags int) error {
	f, info, err := privatedir.OpenOwn(filepath.Join(dir, segmentName(n)), flags|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	if s.file != nil {
		if s.synced {
			err = s.file.Sync() // nobody else will
		}
		_ = s.file.Close()
	}
	s.file, s.info, s.began = f, info, time.Time{}
	return err
}

// older reports whether the first line of the segment, which has so many bytes, was written
// longer ago than age; an age of 0 is none.
func (s *segment) older(age time.Duration, size int64, now time.Time) bool {
	if age <= 0 {
		return false
	}
	if s.began.IsZero() {
		first, err := openingOf(s.file, size)
		if err != nil {
			return false // it is full some time
		}
		s.began = first.time
	}
	return now.Sub(s.began) > age
}

// current reports whether the segment is still the file at its path, and of that size. A
// segment that was archived is gone from its path.
func (s *segment) current(size int64) bool {
	info, err := os.Lstat(s.file.Name())
	return err == nil && info.Size() == size && os.SameFile(info, s.info)
}
