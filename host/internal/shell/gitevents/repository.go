package gitevents

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// files are the files as the command sees them. Paths are the command's.
type files struct{ capability.StagedTree }

// repository has the directories of a repository's reference logs: own for the HEAD of the work
// tree, common for the references that all work trees share.
type repository struct{ own, common string }

const (
	headLog = "/HEAD"
	heads   = "/refs/heads/"
	remotes = "/refs/remotes/"
)

// repositoryOf finds the repository that contains a directory, as git does, without running git.
func (v files) repositoryOf(dir string) (repository, bool) {
	for {
		git := filepath.Join(dir, ".git")
		if text, ok := v.readFrom(git, 0); ok {
			git = from(dir, strings.TrimSpace(strings.TrimPrefix(text, "gitdir: ")))
		}
		if _, ok := v.readFrom(filepath.Join(git, "HEAD"), 0); ok { // an empty directory is no repository
			if path, err := v.Resolve(git); err == nil {
				git = path
			}
			common := git
			if text, ok := v.readFrom(filepath.Join(git, "commondir"), 0); ok {
				common = from(git, strings.TrimSpace(text))
			}
			return repository{filepath.Join(git, "logs"), filepath.Join(common, "logs")}, true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return repository{}, false
		}
		dir = above
	}
}

// lengths returns the lengths of a repository's logs by their paths. If there are more than
// maxLogs, it has only that of HEAD, and all is false.
func (v files) lengths(r repository) (sizes map[string]int64, all bool) {
	sizes, all = make(map[string]int64), true
	refs := v.At(filepath.Join(r.common, "refs"))
	_ = filepath.WalkDir(refs, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // events of a log that cannot be read are not reported
		}
		if info, err := e.Info(); err == nil {
			sizes[r.common+"/refs"+filepath.ToSlash(strings.TrimPrefix(name, refs))] = info.Size()
		}
		if all = len(sizes) <= maxLogs; !all {
			clear(sizes)
			return fs.SkipAll
		}
		return nil
	})
	if info, err := os.Lstat(v.At(r.own + headLog)); err == nil {
		sizes[r.own+headLog] = info.Size()
	}
	return sizes, all
}

// from returns a path relative to a directory as a clean one.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readFrom reads a regular file from an offset on. It follows no link at the end of the path, and
// does not block.
func (v files) readFrom(path string, offset int64) (string, bool) {
	f, _, err := privatedir.OpenRegular(v.At(path), os.O_RDONLY)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, offset, maxRead))
	return string(text), err == nil
}
