package search

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/ignore/glob"
)

// namesShare is how many files one worker looks at before another may take some:
// that takes about a millisecond.
const namesShare = 1024

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
	if err := capability.ReadArgs(req, &args); err != nil {
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
	out := &newest{limit: p.limit, cwd: p.cwd}
	w := &walk{root: p.root, judge: judge, judgeDir: p.judgeDir, workers: p.search.opts.Workers, ignore: p.ignore, share: namesShare, in: p.in}
	w.visit = func(_ context.Context, f file) error {
		info, err := f.stat()
		if err == nil && info.Kind == abi.KindFile {
			out.add(f, info.ModTime)
		}
		return err
	}
	timedOut, err := p.search.inTime(ctx, func(ctx context.Context) error { return p.run(ctx, w) })
	if err != nil {
		return abi.Answer{}, err
	}
	return p.answer(w, out, timedOut)
}

// in returns what the pattern wants of a directory.
func (p *namesPlan) in(dir paths, g *ignores) chooser {
	rel, _ := relative(p.node.Target, dir.target)
	if rel == "." {
		rel = ""
	}
	return &matching{glob: p.glob, names: p.glob.In(rel), rel: rel, real: dir.resolved, ignores: g}
}

// matching is a pattern as it speaks of the entries of one directory.
type matching struct {
	glob      *glob.Glob
	names     glob.Names
	rel, real string
	ignores   *ignores
}

func (m *matching) want(name string, dir bool) bool {
	if dir && !m.glob.MayContain(strings.TrimPrefix(m.rel+"/"+name, "/")) || !dir && !m.names.Match(name) {
		return false
	}
	return !m.ignores.ignored(m.real, name, dir)
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

func (p *namesPlan) answer(w *walk, out *newest, timedOut bool) (abi.Answer, error) {
	found, total := out.sorted(), int(out.total.Load())
	body, err := json.Marshal(found)
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "encoding the names: %w", err)
	}
	ok := abi.NamesOK{
		Path:       p.node.Real,
		Count:      len(found),
		Total:      total,
		Truncated:  total > len(found),
		Denied:     int(w.denied.Load()),
		Unreadable: int(w.unreadable.Load()),
	}
	if timedOut {
		ok.Total, ok.TimedOut, ok.Timeout = 0, true, p.search.opts.Time.Milliseconds()
	}
	return abi.Answer{
		OK:       ok,
		Body:     abi.Bytes(body),
		BodyType: abi.PartJSON,
		Size:     int64(len(body)),
	}, nil
}

// newest keeps the files that were changed last, in memory bound by the limit.
type newest struct {
	limit int
	cwd   string
	total atomic.Int64
	// last is the last of limit files that were found; nil before there are as many.
	// What comes behind it is not among the newest.
	last atomic.Pointer[dated]
	mu   sync.Mutex
	list []dated
}

type dated struct {
	path    string
	changed time.Time
}

// compare orders what was changed last first, and what was changed at once by path:
// in trees that were unpacked most files have one time.
func (d dated) compare(e dated) int {
	if c := e.changed.Compare(d.changed); c != 0 {
		return c
	}
	return comparePaths(d.path, e.path)
}

func (n *newest) add(f file, changed time.Time) {
	n.total.Add(1)
	last := n.last.Load()
	if last != nil && changed.Before(last.changed) {
		return
	}
	d := dated{shown(n.cwd, f.path()), changed}
	if last != nil && d.compare(*last) > 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list = append(n.list, d); len(n.list) >= 2*n.limit {
		n.trim()
		last := n.list[len(n.list)-1]
		n.last.Store(&last)
	}
}

func (n *newest) trim() {
	slices.SortFunc(n.list, dated.compare)
	n.list = n.list[:min(n.limit, len(n.list))]
}

func (n *newest) sorted() []abi.Found {
	n.trim()
	out := make([]abi.Found, len(n.list))
	for i, d := range n.list {
		out[i] = abi.Found{Path: d.path, ModTime: d.changed.UnixMilli()}
	}
	return out
}
