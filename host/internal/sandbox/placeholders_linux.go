//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// placeholders are what a mount over a name that is not there lies on; see
// [placeholder]. They are made with the first sandbox that needs them and removed after
// the last one, also where these belong to several processes.
//
// Each process lists its own in a journal, before they are made, and keeps that file
// locked while it lives. A journal that is not locked is a dead process's: what it
// lists and no other does is removed by whoever comes next. Processes with other folders
// for their state work in the same project too: they find each other by way of the
// [meeting].
type placeholders struct {
	dir     string
	meeting meeting

	mu      sync.Mutex
	held    map[string]*holding
	journal *os.File
}

// holding is a placeholder that this process's sandboxes need.
type holding struct {
	count int
	// file is what was made, none while that is still to be done. What others made is
	// in nobody's journal and removed by nobody.
	file   fileID
	others bool
}

func openPlaceholders(ctx context.Context, dir string) (*placeholders, error) {
	if err := privatedir.Make(filepath.Join(dir, journalsName)); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	p := &placeholders{dir: dir, held: make(map[string]*holding)}
	return p, p.locked(ctx, p.sweep)
}

// hold makes placeholders, and keeps them until the release is closed. Those that
// are there it shares; a file that has come to be at a name it leaves alone.
func (p *placeholders) hold(ctx context.Context, list []placeholder) (*held, error) {
	h := &held{of: p, list: list}
	if len(list) == 0 {
		return h, nil
	}
	err := p.locked(ctx, func() error {
		for _, one := range list {
			if p.held[one.path] == nil {
				p.held[one.path] = &holding{}
			}
			p.held[one.path].count++
		}
		err := p.write()
		for _, one := range list {
			if err == nil {
				err = p.fill(one)
			}
		}
		if err == nil {
			err = p.write() // now it is known what was made
		}
		if err != nil {
			return errors.Join(err, p.drop(list))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// fill makes a placeholder, if nothing is there.
func (p *placeholders) fill(one placeholder) error {
	h := p.held[one.path]
	file, err := one.make()
	if errors.Is(err, fs.ErrExist) {
		return p.adopt(one.path, h)
	}
	if err != nil {
		return fmt.Errorf("keeping %s from being made: %w", one.path, err)
	}
	h.file, h.others = file, false
	return nil
}

// adopt shares what is there, if this process or another one of ours made it.
func (p *placeholders) adopt(path string, h *holding) error {
	file, err := look(path)
	if err != nil || file == h.file {
		return err
	}
	j, err := p.others()
	if err != nil {
		return err
	}
	if h.file, h.others = file, true; file != (fileID{}) {
		h.others = j.held[path] != file && j.left[path] != file
	}
	return nil
}

// others are the journals of other processes. The caller has the lock.
func (p *placeholders) others() (*journals, error) {
	files, err := journalsIn(p.dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range p.meeting.others(p.dir) {
		more, _ := journalsIn(dir) // it may be gone with its host
		files = append(files, more...)
	}
	return readJournals(files, p.journal)
}

// held are placeholders of one sandbox.
type held struct {
	of   *placeholders
	list []placeholder
}

// Close removes those that nobody else holds.
func (h *held) Close() error {
	list := h.list
	h.list = nil
	if len(list) == 0 {
		return nil
	}
	return h.of.locked(context.Background(), func() error { return h.of.drop(list) })
}

// drop lets go of placeholders. The caller has the lock.
func (p *placeholders) drop(list []placeholder) error {
	free := make(map[string]fileID)
	for _, one := range list {
		h := p.held[one.path]
		if h.count--; h.count > 0 {
			continue
		}
		delete(p.held, one.path)
		if !h.others && h.file != (fileID{}) {
			free[one.path] = h.file
		}
	}
	j, err := p.others()
	if err != nil {
		return err
	}
	return errors.Join(removeUnheld(free, j.held), p.write())
}

func removeUnheld(files, held map[string]fileID) error {
	var faults []error
	for path, file := range files {
		if _, still := held[path]; !still {
			faults = append(faults, remove(path, file))
		}
	}
	return errors.Join(faults...)
}

// sweep removes what dead processes left.
func (p *placeholders) sweep() error {
	j, err := p.others()
	if err != nil {
		return err
	}
	if err := removeUnheld(j.left, j.held); err != nil {
		return err
	}
	faults := make([]error, 0, len(j.dead))
	for _, journal := range j.dead {
		faults = append(faults, unlink(journal))
	}
	return errors.Join(append(faults, p.meeting.tidy())...)
}

// write puts what is held into this process's journal. The caller has the lock, and
// so has whoever reads it.
func (p *placeholders) write() error {
	list := make([]listed, 0, len(p.held))
	for path, h := range p.held {
		if !h.others {
			list = append(list, listed{path, h.file})
		}
	}
	content, err := json.Marshal(list)
	if err != nil {
		return err
	}
	// The way to the journal is there before it: nobody finds one whose process is killed
	// in between, and its folder would never be removed.
	if err := p.meeting.join(p.dir); err != nil {
		return err
	}
	if p.journal == nil {
		if p.journal, err = os.CreateTemp(filepath.Join(p.dir, journalsName), "*.json"); err != nil {
			return err
		}
		if err := filelock.Try(p.journal); err != nil {
			return err
		}
	}
	if _, err := p.journal.WriteAt(content, 0); err != nil {
		return err
	}
	return p.journal.Truncate(int64(len(content)))
}

// locked does something while no other process and no other goroutine does.
func (p *placeholders) locked(ctx context.Context, do func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := lock(ctx, filepath.Join(p.dir, lockName))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it holds nothing but the lock
	var leave func()
	if p.meeting, leave, err = enter(ctx); err != nil {
		return err
	}
	defer leave()
	return do()
}

// close forgets the journal, if nothing is held any more.
func (p *placeholders) close() error {
	return p.locked(context.Background(), func() error {
		if p.journal == nil || len(p.held) > 0 {
			return nil
		}
		err := errors.Join(os.Remove(p.journal.Name()), p.journal.Close())
		p.journal = nil
		return errors.Join(err, p.meeting.tidy())
	})
}
