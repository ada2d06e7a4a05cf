package workspace

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/toolquay/toolquay/abi"
)

// errChanged says that a name no longer leads to what it led to.
var errChanged = errors.New("it was replaced while it was being opened; try again")

// fault gives a failure of the system a code and says which path it was about.
func fault(path string, err error) *abi.Error {
	if e, ok := errors.AsType[*abi.Error](err); ok {
		return e
	}
	err = bare(err)
	switch {
	case errors.Is(err, errChanged):
		return abi.Errorf(abi.CodeChanged, "%s: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return abi.Errorf(abi.CodeNotFound, "%s does not exist: %w", path, err)
	case errors.Is(err, syscall.ENOTDIR):
		return abi.Errorf(abi.CodeNotDirectory, "%s: a part of the path is not a directory: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return abi.Errorf(abi.CodeIO, "the system does not let the host read %s: %w; change its permissions or run the host as another user", path, err)
	case errors.Is(err, syscall.ELOOP):
		return abi.Errorf(abi.CodeIO, "%s leads over more than %d symbolic links: %w", path, maxLinks, err)
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
