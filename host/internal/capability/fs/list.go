package fs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

type listPlan struct {
	held
	limit int
	stage capability.Stage
	// children is what is staged in the directory, by name.
	children map[string]capability.Staged
}

func (c *Capability) planList(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.ListArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if args.Limit < 0 {
		return nil, invalid(req, "limit %d must not be negative", args.Limit)
	}
	p := &listPlan{limit: c.opts.MaxEntries, stage: scope.Stage}
	if args.Limit > 0 {
		p.limit = min(args.Limit, p.limit)
	}
	var err error
	if p.held, err = hold(scope, args.Path); err != nil {
		return nil, err
	}
	p.tree = p.node.Info.Kind == abi.KindDirectory
	return p, nil
}

// Do lists the names that come first, leaving out those that judge refuses.
func (p *listPlan) Do(ctx context.Context, judge capability.Judge) (abi.Answer, error) {
	dir, err := p.node.OpenDir()
	if err != nil {
		return abi.Answer{}, err
	}
	if dir != nil {
		defer func() { _ = dir.Close() }() // it was only read
	}
	if p.children, err = workspace.Children(p.stage, p.node.Real); err != nil {
		return abi.Answer{}, err
	}
	names, truncated, err := p.names(ctx, dir, judge)
	if err != nil {
		return abi.Answer{}, err
	}
	entries := make([]abi.Entry, 0, len(names))
	for _, name := range names {
		info, err := p.stat(dir, name)
		if err != nil {
			continue // gone since
		}
		entries = append(entries, abi.Entry{
			Name: name, Kind: info.Kind, Size: info.Size, ModTime: info.ModTime.UnixMilli(),
		})
	}
	body, err := json.Marshal(entries)
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "encoding the list: %w", err)
	}
	return abi.Answer{
		OK:       abi.ListOK{Path: p.node.Real, Count: len(entries), Truncated: truncated},
		Body:     abi.Bytes(body),
		BodyType: abi.PartJSON,
		Size:     int64(len(body)),
	}, nil
}

// names reads a directory of any size in memory bound by the limit: it keeps at
// most twice as many names, and sorts the later half away when they are that
// many.
func (p *listPlan) names(ctx context.Context, dir *workspace.Dir, judge capability.Judge) (names []string, truncated bool, err error) {
	trim := func() {
		slices.SortFunc(names, cmp.Compare)
		if len(names) > p.limit {
			names, truncated = names[:p.limit], true
		}
	}
	for name, staged := range p.children {
		if !staged.Removed() && judge(p.access(name)) {
			names = append(names, name)
		}
	}
	if dir == nil {
		trim()
		return names, truncated, nil
	}
	for {
		if err := interrupted(ctx); err != nil {
			return nil, false, err
		}
		batch, err := dir.ReadDir(1024)
		for _, e := range batch {
			if _, staged := p.children[e.Name()]; !staged && judge(p.access(e.Name())) {
				names = append(names, e.Name())
			}
		}
		if len(names) >= 2*p.limit {
			trim()
		}
		switch {
		case errors.Is(err, io.EOF):
			trim()
			return names, truncated, nil
		case err != nil:
			return nil, false, err
		}
	}
}

// stat tells what a name in the directory is, for the session.
func (p *listPlan) stat(dir *workspace.Dir, name string) (workspace.Info, error) {
	if staged, ok := p.children[name]; ok {
		return workspace.InfoOf(staged)
	}
	return dir.Stat(name)
}

func (p *listPlan) access(name string) permissions.Access {
	return permissions.Access{
		Kind:   permissions.AccessRead,
		Target: filepath.Join(p.node.Target, name),
		Real:   filepath.Join(p.node.Real, name),
	}
}
