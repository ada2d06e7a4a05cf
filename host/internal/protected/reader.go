package protected

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// readAtOnce is how many names are read of a directory at a time.
	readAtOnce = 4096
	// longestPath bounds the path of a directory that is read: names in it, and mounts over
	// them, must stay below the kernel's limit for paths.
	longestPath = 3500
)

var (
	errTooManyNames = errors.New("there are too many names to look at")
	errLongPath     = errors.New("the path is too long to look at")
)

// reader reads directories for one walk, those that changed since an earlier one.
type reader struct {
	rules *permissions.SandboxPolicy
	left  int // how many names may still be looked at
	// only are the directories below which the earlier walk is of use; nil is everywhere.
	only        []string
	before, now *snapshot
	at          func(path string) string
	// fresh tells which directories are still as the earlier walk found them; nil until it
	// is asked for.
	fresh map[string]bool
}

// read returns the content of a directory. With links, every link in it counts as odd.
func (r *reader) read(path string, links bool) (*directory, error) {
	if len(path) > longestPath {
		return nil, errLongPath
	}
	dir := r.known(path)
	if dir == nil {
		found, lasts, err := r.readDisk(path, links)
		if err != nil {
			return nil, err
		}
		if dir = found; lasts && len(r.now.dirs) < maxRemembered {
			r.now.dirs[path] = dir
		}
	}
	if dir.names > r.left {
		return nil, errTooManyNames
	}
	r.left -= dir.names
	return dir, nil
}

// known returns what the earlier walk found in a directory, if that has not changed.
func (r *reader) known(path string) *directory {
	dir := r.before.dirs[path]
	if dir == nil {
		return nil
	}
	if r.fresh == nil {
		r.fresh = r.before.unchanged(r.only, r.at)
	}
	if !r.fresh[path] {
		return nil
	}
	if len(r.now.dirs) < maxRemembered {
		r.now.dirs[path] = dir
	}
	return dir
}

// readDisk reads a directory from the disk. Lasts says that every later change will show
// in its state.
func (r *reader) readDisk(path string, links bool) (dir *directory, lasts bool, err error) {
	d, err := os.Open(r.at(path))
	if err != nil {
		return nil, false, paths.NotDirectory(err)
	}
	defer d.Close()
	dir = &directory{}
	dir.state, lasts = paths.RestingState(d) // first, so that changes while it is read show, too
	look := r.rules.Directory(path)
	prefix := strings.TrimSuffix(path, "/") + "/"
	var layout gitLayout
	for {
		entries, err := d.ReadDir(readAtOnce)
		dir.names += len(entries)
		switch {
		case dir.names > r.left:
			return nil, false, errTooManyNames
		case errors.Is(err, io.EOF):
			was := r.before.dirs[path]
			dir.worktree, dir.bare = layout.worktree, layout.bare() || was != nil && was.bare
			return dir, lasts, nil
		case err != nil:
			return nil, false, paths.NotDirectory(err)
		}
		for _, entry := range entries { // most are plain and no directories
			name := entry.Name()
			layout.add(name, entry.IsDir())
			link := entry.Type()&fs.ModeSymlink != 0
			switch {
			case !look.Plain(name), link && links:
				dir.odd = append(dir.odd, entryName{prefix + name, entry.IsDir(), link})
			case entry.IsDir():
				dir.dirs = append(dir.dirs, prefix+name)
			}
		}
	}
}

// found returns what this walk is to leave for the next. Unless it went everywhere, that
// includes what the earlier one found elsewhere.
func (r *reader) found(everywhere bool) *snapshot {
	for path, dir := range r.before.dirs {
		if everywhere || len(r.now.dirs) >= maxRemembered {
			break
		}
		if r.now.dirs[path] == nil {
			r.now.dirs[path] = dir
		}
	}
	return r.now
}

// gitLayout is what the names in a directory tell about git.
type gitLayout struct{ worktree, head, objects, refs, config, hooks bool }

func (l *gitLayout) add(name string, dir bool) {
	switch name {
	case gitName:
		l.worktree = true
	case "HEAD", "commondir":
		l.head = true
	case "objects":
		l.objects = true
	case "refs":
		l.refs = true
	case "config", "config.worktree":
		l.config = l.config || !dir
	case "hooks":
		l.hooks = dir
	}
}

// bare reports whether it looks like git's own directory. Some of what makes one may be
// missing: a command may have removed it, to bring it back later.
func (l *gitLayout) bare() bool {
	content := l.objects || l.refs
	return l.head && (content || l.config || l.hooks) || l.config && (content || l.hooks) || l.objects && l.refs && l.hooks
}
