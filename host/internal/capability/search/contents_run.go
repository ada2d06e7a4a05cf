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
)

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
