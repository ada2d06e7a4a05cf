package search

import (
	"context"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// walk is how a tree is gone through, for the files in it that are wanted and may be read.
type walk struct {
	root  root
	judge capability.Judge
	// judgeDir judges directories and prepares the judgement of the files in them;
	// nil where judge is to be asked about each.
	judgeDir capability.JudgeDir
	workers  int
	// ignore says that ignore files are honoured.
	ignore bool
	// share is how many files one worker takes at a time.
	share int
	// in returns what is wanted of a directory, before anything in it is judged.
	in func(dir paths, g *ignores) chooser
	// visit is called for each file, by several goroutines at once.
	visit func(ctx context.Context, f file) error

	denied, unreadable atomic.Int64
}

// mayEnter judges a directory; plain is true of the files in it that need no judgement
// of their own, nil is of none.
func (w *walk) mayEnter(dir paths) (ok bool, plain func(name string) bool) {
	if w.judgeDir == nil {
		return w.judge(dir.access(true)), nil
	}
	return w.judgeDir(dir.access(true))
}

// file visits a file of a directory; plain is what was said of the directory's.
func (w *walk) file(ctx context.Context, dir paths, f file, plain func(name string) bool) error {
	if (plain == nil || !plain(f.name)) && !w.judge(dir.child(f.name).access(false)) {
		w.denied.Add(1)
		return nil
	}
	err := w.visit(ctx, f)
	if err != nil && ctx.Err() != nil {
		return interrupted(ctx)
	}
	if err != nil {
		w.miss(err)
	}
	return nil
}

// miss counts what could not be read, unless it is gone or was swapped meanwhile.
func (w *walk) miss(err error) {
	if !isGone(err) {
		w.unreadable.Add(1)
	}
}

// isGone reports whether an entry is no longer what its directory said, which is no
// failure of a walk.
func isGone(err error) bool {
	code := abi.CodeOf(err)
	return code == abi.CodeNotRegular || code == abi.CodeNotFound || code == abi.CodeNotDirectory
}
