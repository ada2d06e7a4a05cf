package search

import (
	"context"
	"strings"

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
	if err := capability.ReadArgs(req, &p.args); err != nil {
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
