package workspace

import (
	"errors"
	"sync"
)

// manyDrafts is the number of drafts from which their whole file system is synced at once. Fewer are synced one by
// one, which is faster if other programs have written much.
const manyDrafts = 32

// SyncAll calls [Draft.Sync] for many drafts, and lets them wait for the disk together.
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

// together calls functions in parallel, up to 32 at a time, and joins their errors.
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
