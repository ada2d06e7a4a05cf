package search

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/pattern"
)

// maxContextLines is the most lines of context around a match.
const maxContextLines = 10_000

type contentsPlan struct {
	root
	args    abi.ContentsArgs
	mode    string
	matcher matcher
	across  bool // matches can span lines
	filter  filter
	style   style
	limit   int
	need    int                  // entries of one file that can matter
	files   capability.Knowledge // is told which lines are shown; nil is not
	search  *Capability
}

func (c *Capability) planContents(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	p := &contentsPlan{search: c}
	if err := decode(req, &p.args); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	var err error
	if p.limit, err = c.limit(p.args.Limit, p.args.Offset); err != nil {
		return nil, err
	}
	p.need = p.limit + p.args.Offset
	if p.args.Shown && p.mode == abi.ModeContent && !scope.Rehearse {
		p.files = scope.Files
	}
	if p.root, err = c.root(scope, p.args.Path); err != nil {
		return nil, err
	}
	if p.filter, err = newFilter(p.root, p.args.Globs, p.args.Type); err == nil {
		o := pattern.Options{IgnoreCase: p.args.CaseInsensitive, Multiline: p.args.Multiline, Count: p.mode == abi.ModeCount}
		p.matcher, err = compile(ctx, c.opts.Engine, p.args.Pattern, o)
	}
	if err != nil {
		_ = p.root.Close() // nothing was written through it
		return nil, err
	}
	p.across = p.matcher.across()
	return p, nil
}

// Close lets go of where the search starts, and of the pattern.
func (p *contentsPlan) Close() error {
	p.matcher.close()
	return p.root.Close()
}

func (p *contentsPlan) check() error {
	a := &p.args
	switch p.mode = a.Mode; p.mode {
	case "":
		p.mode = abi.ModeFiles
	case abi.ModeContent, abi.ModeFiles, abi.ModeCount:
	default:
		return invalid("there is no mode %q; use %s, %s or %s", a.Mode, abi.ModeContent, abi.ModeFiles, abi.ModeCount)
	}
	if a.Before < 0 || a.After < 0 || a.MaxColumns < 0 {
		return invalid("before %d, after %d and max_columns %d must not be negative", a.Before, a.After, a.MaxColumns)
	}
	if max(a.Before, a.After) > maxContextLines {
		return invalid("before %d and after %d must not be over %d", a.Before, a.After, maxContextLines)
	}
	if strings.Contains(a.Pattern, "\x00") {
		return invalid("the pattern holds a NUL byte; binary files are not searched")
	}
	p.style = style{numbers: a.LineNumbers, maxColumns: a.MaxColumns}
	return nil
}

// context reports whether lines around matches are shown, and so gaps between.
func (p *contentsPlan) context() bool {
	return p.mode == abi.ModeContent && (p.args.Before > 0 || p.args.After > 0)
}

// Do searches. The path of a file that was named itself is shown too, as with
// rg --with-filename, so that every answer has one shape.
func (p *contentsPlan) Do(ctx context.Context, judge capability.Judge) (abi.Answer, error) {
	if err := p.node.Err(); err != nil {
		return abi.Answer{}, err
	}
	order := byPath
	if p.mode == abi.ModeFiles {
		order = byTime
	}
	run := &contentsRun{
		plan: p,
		out:  &answers{order: order, offset: p.args.Offset, limit: p.limit},
	}
	ok := abi.ContentsOK{Path: p.node.Real}
	timedOut, err := p.search.inTime(ctx, func(ctx context.Context) error { return run.do(ctx, judge, &ok) })
	if err != nil {
		return abi.Answer{}, err
	}
	if timedOut {
		ok.TimedOut, ok.Timeout = true, p.search.opts.Time.Milliseconds()
	}
	ok.Searched = int(run.searched.Load())
	text := run.out.text(p.context(), &ok, p.teller())
	return abi.Answer{
		OK:       ok,
		Body:     abi.Bytes(text),
		BodyType: abi.PartText,
		Size:     int64(len(text)),
	}, nil
}

// contentsRun is one search under way.
type contentsRun struct {
	plan     *contentsPlan
	out      *answers
	searched atomic.Int64
	stop     context.CancelCauseFunc // ends the walk for what is no file's fault
}

func (r *contentsRun) do(ctx context.Context, judge capability.Judge, ok *abi.ContentsOK) error {
	p := r.plan
	if p.node.Info.Kind == abi.KindFile {
		return r.single(ctx)
	}
	w := &walk{root: p.root, judge: judge, judgeDir: p.judgeDir, workers: p.search.opts.Workers, ignore: true, share: contentsShare}
	w.in, w.visit = p.filter.in, r.visit
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	err := w.run(ctx)
	if f, ok := errors.AsType[fatal](context.Cause(ctx)); err != nil && ok {
		return f.error
	}
	ok.Denied, ok.Unreadable = int(w.denied.Load()), int(w.unreadable.Load())
	return err
}

// single searches the one file that was named, whatever globs and ignore files
// say of it.
func (r *contentsRun) single(ctx context.Context) error {
	p := r.plan
	f, info, err := p.node.Open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	r.searched.Add(1)
	out := &found{path: strings.ToValidUTF8(shown(p.cwd, p.node.Target), "\uFFFD"), stamp: info.Stamp()}
	out.file.real, out.file.name = filepath.Split(p.node.Real)
	err = scanFile(ctx, p, io.NewSectionReader(f, 0, info.Size), info.Size, out)
	if errors.Is(err, errBinary) {
		return abi.Errorf(abi.CodeNotText, "%s is binary, and only text is searched", p.node.Target)
	}
	if f, ok := errors.AsType[fatal](err); ok {
		return f.error
	}
	r.add(out)
	return err
}

func (r *contentsRun) add(out *found) {
	if len(out.entries) > 0 {
		r.out.add(out)
	}
}

func (r *contentsRun) visit(ctx context.Context, f file) error {
	out := &found{file: f, cwd: r.plan.cwd}
	if r.plan.mode != abi.ModeFiles && !r.out.wants(out) {
		return nil
	}
	src, info, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // it was only read
	if out.mod = info.ModTime; !r.out.wants(out) {
		return nil
	}
	out.stamp = info.Stamp()
	r.searched.Add(1)
	switch err := scanFile(ctx, r.plan, src, info.Size, out); {
	case errors.Is(err, errBinary):
		return nil
	case err != nil:
		if _, ok := errors.AsType[fatal](err); ok {
			r.stop(err)
		}
		if abi.CodeOf(err) == abi.CodeTimeout {
			r.add(out) // what was found by then
		}
		return err
	}
	r.add(out)
	return nil
}
