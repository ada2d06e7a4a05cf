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

// files are the files as the command sees them: those of a staged tree, or of this process if that
// is nil. Paths are the command's.
type files struct{ staged capability.StagedTree }

// at returns the path by which this process finds what the command sees at path.
func (v files) at(path string) string {
	if v.staged == nil {
		return path
	}
	return v.staged.At(filepath.Clean(path))
}

func (v files) resolve(path string) (string, error) {
	if v.staged == nil {
		return filepath.EvalSymlinks(path)
	}
	return v.staged.Resolve(path)
}

// repository is where one keeps its reference logs: of its worktree's HEAD, and of
// what worktrees have in common.
type repository struct{ own, common string }

const (
	headLog = "/HEAD"
	heads   = "/refs/heads/"
	remotes = "/refs/remotes/"
)

// repositoryOf finds the repository that a directory lies in, as git does and without
// starting it.
func (v files) repositoryOf(dir string) (repository, bool) {
	for {
		git := filepath.Join(dir, ".git")
		if text, ok := v.readFrom(git, 0); ok {
			git = from(dir, strings.TrimSpace(strings.TrimPrefix(text, "gitdir: ")))
		}
		if _, ok := v.readFrom(filepath.Join(git, "HEAD"), 0); ok { // an empty directory is none
			if path, err := v.resolve(git); err == nil {
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

// lengths returns the lengths of a repository's logs. Of one with too many branches, which it
// then reports, only HEAD's is followed.
func (v files) lengths(r repository) (sizes map[string]int64, all bool) {
	sizes, all = make(map[string]int64), true
	refs := v.at(filepath.Join(r.common, "refs"))
	_ = filepath.WalkDir(refs, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not told of
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
	if info, err := os.Lstat(v.at(r.own + headLog)); err == nil {
		sizes[r.own+headLog] = info.Size()
	}
	return sizes, all
}

// from is a path as seen from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readFrom reads a file from an offset on: of no link, and of nothing that could be
// waited for.
func (v files) readFrom(path string, offset int64) (string, bool) {
	f, _, err := privatedir.OpenRegular(v.at(path), os.O_RDONLY)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, offset, maxRead))
	return string(text), err == nil
}
