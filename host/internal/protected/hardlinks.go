package protected

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// HardLinks are the files with several names of which a deny or ask rule names some. They
// are looked for when they are first needed, and then kept. It is safe for concurrent use.
type HardLinks struct {
	ctx      context.Context //nolint:containedctx // the session's: what was found lasts as long
	policies Policies
	memory   *Memory

	once sync.Once
	was  linked
}

// Policies says what the policy is.
type Policies interface{ Policy() *permissions.Policy }

// linked is what was found of such files.
type linked struct {
	names map[string][]string // those that a rule names, by [paths.HardLinked]
	left  int                 // how many files may still be looked at; below 0 there were too many
}

// Begin prepares to look for them by the policy of that time. It comes before all else.
func (h *HardLinks) Begin(ctx context.Context, policies Policies, memory *Memory) {
	h.ctx, h.policies, h.memory = ctx, policies, memory
}

func (h *HardLinks) found() *linked {
	h.once.Do(func() { h.was = find(h.ctx, h.policies.Policy(), h.memory) })
	return &h.was
}

func find(ctx context.Context, policy *permissions.Policy, memory *Memory) linked {
	files := memory.Lookups()
	rules := policy.SandboxPolicy(nil).Following(files.Follow)
	places := rules.FindRuled(files.Names)
	walk := memory.NewWalk(ctx, policy, rules, Bounds{})
	l := linked{names: make(map[string][]string), left: MaxNames}
	if walk.Ruled(rules.Walks()) != nil || len(walk.Unwalked) > 0 {
		l.left = -1
	}
	held := files.Existing(slices.Concat(places.Hidden, places.Protected, walk.Hidden, walk.Protected))
	l.left = each(held, l.left, func(path, file string) { l.names[file] = append(l.names[file], path) })
	return l
}

// each goes through the files with several names below directories, and returns how many
// files may still be looked at. A directory that cannot be listed holds no readable file.
func each(dirs []string, left int, take func(path, file string)) int {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err == nil && entry.Type().IsRegular() {
				if file, several := paths.HardLinked(path); several {
					take(path, file)
				}
			}
			return nil
		})
	}
	return left
}

// None reports whether there surely are no such files.
func (h *HardLinks) None() bool {
	l := h.found()
	return len(l.names) == 0 && l.left >= 0
}

// Aliased adds to accesses the other names of the same file that a rule names: a hard link
// to a file that a rule denies is that file. Nothing is looked for unless an access is to a
// file with several names.
func (h *HardLinks) Aliased(accesses []permissions.Access) []permissions.Access {
	out := accesses
	for _, a := range accesses {
		if a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite || a.Real == "" || a.Tree {
			continue
		}
		file, several := paths.HardLinked(a.Real)
		if !several {
			continue
		}
		l := h.found()
		for _, name := range l.names[file] {
			if a.Real != name {
				a.Real = name // Target stays what was asked for: a refusal tells nothing else
				out = append(slices.Clip(out), a)
			}
		}
		if l.left < 0 {
			a.Real = "" // it may be another name of anything, so nothing allows it
			out = append(slices.Clip(out), a)
		}
	}
	return out
}

// OtherNames returns names below directories of files that a rule knows by other names. It
// fails where there are too many files to look through.
func (h *HardLinks) OtherNames(dirs []string) ([]string, error) {
	l := h.found()
	if h.None() {
		return nil, nil
	}
	var out []string
	left := each(dirs, l.left, func(path, file string) {
		if own := l.names[file]; own != nil && !slices.Contains(own, path) {
			out = append(out, path)
		}
	})
	if left < 0 {
		return nil, abi.Errorf(abi.CodeTooLarge, "a file that a rule holds back has several names, and there are over %d files to look through for them; remove the other hard links, or work in a smaller directory", MaxNames)
	}
	return out, nil
}
