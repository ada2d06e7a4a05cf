package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The files of a log.
const (
	headName   = "head"
	lockName   = "lock"
	logPrefix  = "log-"
	logSuffix  = ".jsonl"
	fileMode   = 0o600
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

// openOwn opens a file of the log to be written. What is there must be the
// user's own regular file that nobody else can write to.
func openOwn(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, info, err := openRegular(path, flags|os.O_RDWR)
	if err != nil {
		return nil, nil, err
	}
	if err := ownFile(info); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, info, nil
}

// openRegular opens a regular file. It follows no link and waits for no FIFO:
// what lies at the path is looked at first, and the file that was opened must be
// the one that was looked at.
func openRegular(path string, flags int) (*os.File, fs.FileInfo, error) {
	before, err := os.Lstat(path)
	if err == nil && !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil && (flags&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	if before == nil {
		flags |= os.O_EXCL // nothing that was put there meanwhile
	}
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, fileMode)
	if before == nil && errors.Is(err, fs.ErrExist) {
		return openRegular(path, flags&^(os.O_CREATE|os.O_EXCL)) // another process was first
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && before != nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%s was replaced while it was opened", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// path is where a file of the log lies.
func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }
