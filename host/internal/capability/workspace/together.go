package workspace

import (
	"errors"
	"sync"
)

// manyDrafts is from how many on the whole file system is written out for them: fewer are quicker by themselves
// where others have much to be written, too.
const manyDrafts = 32

// SyncAll is [Draft.Sync] for many: the system waits for the disk once for several.
func SyncAll(drafts []*Draft) error {
	if len(drafts) >= manyDrafts {
		syncSystems(drafts)
	}
	list := make([]func() error, len(drafts))
	for i, d := range drafts {
		list[i] = d.Sync
	}
	return together(list)
}

// together does things side by side, some at a time.
func together(list []func() error) error {
	const most = 32
	errs := make([]error, len(list))
	next := make(chan int)
	var work sync.WaitGroup
	for range min(most, len(list)) {
		work.Go(func() {
			for i := range next {
				errs[i] = list[i]()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	work.Wait()
	return errors.Join(errs...)
}
