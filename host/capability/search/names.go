package search

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/ignore/glob"
)

type namesPlan struct {
	root
	glob   *glob.Glob
	prefix bool // the pattern began with directories that are part of the root
	ignore bool
	limit  int
	search *Capability
}

func (c *Capability) planNames(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.NamesArgs
	if err := decode(req, &args); err != nil {
		return nil, err
	}
	p := &namesPlan{ignore: args.Ignore, search: c}
	base, rest, err := splitPattern(args.Path, args.Pattern)
	if err != nil {
		return nil, err
	}
	p.prefix = base != args.Path
	if p.glob, err = glob.Compile(rest, glob.Options{Braces: true}); err != nil {
		return nil, invalid("%w", err)
	}
	if p.limit, err = c.limit(args.Limit, 0); err != nil {
		return nil, err
	}
	if p.root, err = c.root(scope, base); err != nil {
		return nil, err
	}
	return p, nil
}

// splitPattern moves the directories that a pattern begins with to the path, so
// that only what lies below them is walked.
func splitPattern(path, pattern string) (base, rest string, err error) {
	rest = filepath.ToSlash(pattern)
	if filepath.Separator == '/' {
		rest = pattern // a backslash is an escape
	}
	if rest == "" {
		return "", "", invalid("the pattern is empty; \"**\" finds every file")
	}
	base = path
	if filepath.IsAbs(pattern) {
		root := filepath.VolumeName(pattern) + string(filepath.Separator)
		base, rest = root, strings.TrimLeft(rest[len(root):], "/")
	}
	for {
		part, after, more := strings.Cut(rest, "/")
		if !more || strings.ContainsAny(part, `*?[{\`) {
			break
		}
		switch {
		case part == "" || part == ".":
		case base == "":
			base = part
		default:
			base = join(base, part) // not cleaned: what ".." means, links decide
		}
		rest = after
	}
	if slices.Contains(strings.Split(rest, "/"), "..") {
		return "", "", invalid("the pattern %q has \"..\" behind a wildcard; begin with it, or set the path", pattern)
	}
	return base, rest, nil
}

// Do walks the tree.
func (p *namesPlan) Do(ctx context.Context, judge capability.Judge) (abi.Answer, error) {
	out := &newest{limit: p.limit}
	w := &walk{root: p.root, judge: judge, workers: p.search.opts.Workers, ignore: p.ignore}
	w.want = func(path, resolved string, dir bool, g *ignores) bool {
		rel, _ := relative(p.node.Target, path)
		if dir && !p.glob.MayContain(rel) || !dir && !p.glob.Match(rel) {
			return false
		}
		return !g.ignored(resolved, dir)
	}
	w.visit = func(_ context.Context, f file) error {
		info, err := f.dir.Stat(f.name)
		if err == nil && info.Kind == abi.KindFile {
			out.add(abi.Found{Path: shown(p.cwd, f.path), ModTime: info.ModTime.UnixMilli()}, info.ModTime.UnixNano())
		}
		return err
	}
	if err := p.run(ctx, w); err != nil {
		return abi.Answer{}, err
	}
	return p.answer(w, out)
}

// run walks, unless the pattern's own directories do not exist: then nothing
// matches, which is no failure.
func (p *namesPlan) run(ctx context.Context, w *walk) error {
	err := p.node.Err()
	if err == nil && p.node.Info.Kind != abi.KindDirectory {
		err = abi.Errorf(abi.CodeNotDirectory, "%s is not a directory; name the one to search", p.node.Target)
	}
	if err != nil {
		if code := abi.CodeOf(err); p.prefix && (code == abi.CodeNotFound || code == abi.CodeNotDirectory) {
			return nil
		}
		return err
	}
	return w.run(ctx)
}

func (p *namesPlan) answer(w *walk, out *newest) (abi.Answer, error) {
	found := out.sorted()
	body, err := json.Marshal(found)
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "encoding the names: %w", err)
	}
	return abi.Answer{
		OK: abi.NamesOK{
			Path:       p.node.Real,
			Count:      len(found),
			Total:      out.total,
			Truncated:  out.total > len(found),
			Denied:     int(w.denied.Load()),
			Unreadable: int(w.unreadable.Load()),
		},
		Body:     abi.Bytes(body),
		BodyType: abi.PartJSON,
		Size:     int64(len(body)),
	}, nil
}

// newest keeps the files that were changed last, in memory bound by the limit.
type newest struct {
	limit int
	mu    sync.Mutex
	total int
	list  []dated
}

type dated struct {
	abi.Found
	nanos int64
}

func (n *newest) add(f abi.Found, nanos int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.total++
	if n.list = append(n.list, dated{f, nanos}); len(n.list) >= 2*n.limit {
		n.trim()
	}
}

func (n *newest) trim() {
	slices.SortFunc(n.list, func(a, b dated) int {
		switch {
		case a.nanos > b.nanos:
			return -1
		case a.nanos < b.nanos:
			return 1
		}
		return comparePaths(a.Path, b.Path)
	})
	n.list = n.list[:min(n.limit, len(n.list))]
}

func (n *newest) sorted() []abi.Found {
	n.trim()
	out := make([]abi.Found, len(n.list))
	for i := range n.list {
		out[i] = n.list[i].Found
	}
	return out
}
