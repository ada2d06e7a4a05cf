package fs

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

type readPlan struct {
	held
	args abi.ReadArgs
	max  int64         // code points of a read by lines
	time time.Duration // of a read by lines
	// files is told what the model is shown, and own what the call reads; nil where
	// that is nobody's affair. A rehearsal tells files nothing.
	files    capability.Knowledge
	own      capability.Knowledge
	rehearse bool
}

func (c *Capability) planRead(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	p := &readPlan{max: c.opts.MaxChars, time: c.opts.Time}
	if err := capability.ReadArgs(req, &p.args); err != nil {
		return nil, err
	}
	if err := checkRead(req, p.args); err != nil {
		return nil, err
	}
	var err error
	if p.held, err = hold(scope, p.args.Path); err != nil {
		return nil, err
	}
	p.own = scope.Own
	if p.args.Shown {
		p.files, p.rehearse = scope.Files, scope.Rehearse
	}
	return p, nil
}

func checkRead(req abi.Request, args abi.ReadArgs) error {
	if args.Offset < 0 || args.Length < 0 {
		return invalid(req, "offset %d and length %d must not be negative", args.Offset, args.Length)
	}
	l := args.Lines
	switch {
	case l == nil:
		return nil
	case args.Offset != 0 || args.Length != 0:
		return invalid(req, "a read is by lines or by a range of bytes, not both")
	case l.Offset < 0 || l.Limit < 0 || l.MaxLine < 0 || l.MaxChars < 0:
		return invalid(req, "lines: offset, limit, max_line and max_chars must not be negative")
	}
	return nil
}

// Do opens the file that was resolved. What is appended to it from then on is
// not read.
func (p *readPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	f, info, err := p.node.Open()
	if err != nil {
		return abi.Answer{}, err
	}
	ok := abi.ReadOK{Path: p.node.Real, Size: info.Size, ModTime: info.ModTime.UnixMilli()}
	observation := p.observation(&info)
	if observation.known() {
		ok.Unchanged = true
		return abi.Answer{OK: ok}, f.Close()
	}
	if p.args.Lines == nil {
		return p.bytes(f, ok, observation), nil
	}
	defer func() { _ = f.Close() }() // it was only read
	limited, cancel := context.WithTimeout(ctx, p.time)
	defer cancel()
	r, err := readLines(limited, io.NewSectionReader(f, 0, info.Size), info.Size, p.lineArgs(), observation.watch())
	if ended := interrupted(ctx); ended != nil {
		return abi.Answer{}, ended
	}
	if err != nil {
		return abi.Answer{}, p.explain(err)
	}
	if r.ok.TimedOut {
		r.ok.Timeout = p.time.Milliseconds()
		observation.another()
	}
	observation.tell()
	ok.Lines, ok.Encoding = &r.ok, r.enc.String()
	return abi.Answer{
		OK:       ok,
		Body:     abi.Bytes(r.out),
		BodyType: abi.PartText,
		Size:     int64(len(r.out)),
	}, nil
}

// bytes answers with a range of the file, which goes with the answer.
func (p *readPlan) bytes(f *os.File, ok abi.ReadOK, observation *observation) abi.Answer {
	n := max(0, ok.Size-p.args.Offset)
	if p.args.Length > 0 {
		n = min(n, p.args.Length)
	}
	body := &rangeBody{file: f, plan: p, pos: p.args.Offset, end: p.args.Offset + n, observation: observation, seen: observation.watch()}
	if body.seen != nil {
		body.seen.at = p.args.Offset
	}
	return abi.Answer{OK: ok, Body: body, BodyType: abi.PartBytes, Size: n}
}

func (p *readPlan) lineArgs() abi.LineArgs {
	args := *p.args.Lines
	args.Offset = max(args.Offset, 1)
	if args.MaxChars == 0 || args.MaxChars > p.max {
		args.MaxChars = p.max
	}
	return args
}

func (p *readPlan) explain(err error) error {
	switch {
	case errors.Is(err, errBinary):
		return abi.Errorf(abi.CodeNotText, "%s is binary, not text; read it by bytes", p.node.Target)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return abi.Errorf(abi.CodeChanged, "%s became shorter while it was read", p.node.Target)
	}
	if _, ok := errors.AsType[*abi.Error](err); ok {
		return err
	}
	return abi.Errorf(abi.CodeIO, "reading %s: %w", p.node.Target, err)
}
