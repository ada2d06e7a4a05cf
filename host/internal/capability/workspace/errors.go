package workspace

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/toolquay/toolquay/abi"
)

// errChanged says that a name no longer leads to what it led to.
var errChanged = errors.New("it was replaced while it was being opened; try again")

// errReplaced says that what is under a name is not what new content was made for.
var errReplaced = errors.New("it was changed by somebody else meanwhile; read it again")

// errNotEmpty says that a directory that was to be removed or replaced is not empty.
var errNotEmpty = errors.New("the directory is not empty: something else put a file into it")

// fault gives a failure of the system a code and says which path it was about.
func fault(path string, err error) *abi.Error {
	if e, ok := errors.AsType[*abi.Error](err); ok {
		return e
	}
	err = bare(err)
	switch {
	case errors.Is(err, errChanged), errors.Is(err, errReplaced):
		return abi.Errorf(abi.CodeChanged, "%s: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return abi.Errorf(abi.CodeNotFound, "%s does not exist: %w", path, err)
	case errors.Is(err, syscall.ENOTDIR):
		return abi.Errorf(abi.CodeNotDirectory, "%s: a part of the path is not a directory: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return abi.Errorf(abi.CodeIO, "the system does not let the host read %s: %w; change its permissions or run the host as another user", path, err)
	case errors.Is(err, syscall.ELOOP):
		return abi.Errorf(abi.CodeIO, "%s has more than %d symbolic links on its way: %w", path, maxLinks, err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return abi.Errorf(abi.CodeInvalidInput, "a name in the path %.200q is too long: %w", path, err)
	}
	return abi.Errorf(abi.CodeIO, "%s: %w", path, err)
}

// bare takes off the path that package os puts around an error: ours is said
// already, and as the caller named it.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// writeFault is fault for a draft: nothing is changed by one that fails.
func writeFault(path string, err error) *abi.Error {
	if e, ok := errors.AsType[*abi.Error](err); ok {
		return e
	}
	err = bare(err)
	switch {
	case errors.Is(err, errReplaced), errors.Is(err, errNotEmpty):
		return abi.Errorf(abi.CodeChanged, "%s: %w", path, err)
	case errors.Is(err, syscall.ENOSPC):
		return abi.Errorf(abi.CodeIO, "%s was not written: %w; make room on its file system", path, err)
	case errors.Is(err, errQuota):
		return abi.Errorf(abi.CodeIO, "%s was not written: %w; make room, or have the quota raised", path, err)
	case errors.Is(err, syscall.EROFS):
		return abi.Errorf(abi.CodeIO, "%s was not written: it lies on a %w", path, err)
	case errors.Is(err, syscall.EBUSY):
		return abi.Errorf(abi.CodeIO, "%s was not written: %w; a file that is a mount point cannot be replaced, write the one that is mounted there", path, err)
	case errors.Is(err, fs.ErrPermission):
		return abi.Errorf(abi.CodeIO, "%s was not written: the system does not let the host put a file into its directory: %w; change the directory's permissions or run the host as another user", path, err)
	case errors.Is(err, errChanged), errors.Is(err, syscall.ENAMETOOLONG):
		return fault(path, err)
	}
	return abi.Errorf(abi.CodeIO, "%s was not written: %w", path, err)
}

// ErrUncertain is what the error of a [Draft.Commit] wraps that may have put its content
// in place. Without it the former content is there.
var ErrUncertain = errors.New("the new content may be in place")

// uncertainError is a failure after which that is so.
type uncertainError struct{ err error }

func (e *uncertainError) Error() string   { return e.err.Error() }
func (e *uncertainError) Unwrap() []error { return []error{ErrUncertain, e.err} }

// leftError adds to a failure what is left behind. It is of the failure's kind.
type leftError struct{ err, left error }

func (e *leftError) Error() string { return e.err.Error() + "; besides, " + e.left.Error() }
func (e *leftError) Unwrap() error { return e.err }

// joinLeft returns err, and left with it where there is one. The code is err's.
func joinLeft(err, left error) error {
	if left == nil {
		return err
	}
	if e, ok := errors.AsType[*abi.Error](err); ok {
		return abi.Errorf(e.Code, "%w", &leftError{err, left})
	}
	return &leftError{err, left}
}
