package skills

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// MaxText is how much of a skill is loaded, in code points.
const MaxText = 100_000

// Loaded is a skill with its text.
type Loaded struct {
	// Skill is as it is now, which may be another than was found.
	Skill *Skill
	// Text has the arguments put in; at most MaxText characters of it, of Chars.
	Text  string
	Chars int
}

// Load reads a skill as it is now, and puts arguments into its text. The errors have codes:
// abi.CodeNotFound where it is gone by now, and abi.CodeDisabled where it may not be loaded any
// more.
func (s *Skill) Load(ctx context.Context, args string) (*Loaded, error) {
	if s.file == nil {
		text, err := s.fetched(ctx, args)
		if err != nil {
			return nil, err
		}
		var b begins
		b.add(counted(text))
		return &Loaded{s, b.text.String(), b.chars}, nil
	}
	now, body, err := s.again()
	if err != nil {
		return nil, err
	}
	now.ShadowedBy = s.ShadowedBy
	text, chars := fill(strings.TrimSpace(body)+"\n", args, s.file.command)
	return &Loaded{now, text, chars}, nil
}

// again reads the whole file.
func (s *Skill) again() (now *Skill, body string, err error) {
	p, err := s.file.source.open()
	if err != nil || p == nil {
		return nil, "", abi.Errorf(abi.CodeNotFound, "the skill %s is gone", s.Name)
	}
	defer p.close() //nolint:errcheck // it was read
	text, _, err := readText(p.fsys, s.file.name, MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", abi.Errorf(abi.CodeNotFound, "the skill %s is gone: its file was removed", s.Name)
	case err != nil:
		code := abi.CodeOf(err)
		if code == abi.CodeInternal {
			code = abi.CodeIO
		}
		return nil, "", abi.Errorf(code, "the skill %s cannot be read: %s", s.Name, plain(err))
	}
	now = &Skill{Own: s.file.own, Label: s.Label, Path: s.Path, file: s.file}
	body = now.read(text, true)
	if problem := now.Problem(); problem != nil {
		return nil, "", abi.Errorf(abi.CodeDisabled, "the skill %s cannot be used any more: %w", s.Name, problem)
	}
	if now.Name = s.Name; now.Hidden {
		return nil, "", now.hides()
	}
	if p.admit != nil {
		if err := p.admit(now); err != nil {
			return nil, "", abi.Errorf(abi.CodeDisabled, "the skill %s cannot be used any more: %w", s.Name, err)
		}
	}
	now.Dir, err = p.folder(s.file)
	return now, body, err
}

// folder is where a skill's folder really lies; empty for a command, and where there is no
// directory.
func (p *place) folder(f *file) (string, error) {
	if f.command || p.FS != nil {
		return "", nil
	}
	lies, err := filepath.EvalSymlinks(p.path(path.Dir(f.name)))
	if err != nil {
		return "", abi.Errorf(abi.CodeNotFound, "the folder %s cannot be followed: %s", visible.Line(p.path(path.Dir(f.name))), plain(err))
	}
	if visible.Line(lies) != lies {
		return "", abi.Errorf(abi.CodeDenied, "the folder of the skill, %s, has a name with characters that do not show", visible.Name(lies))
	}
	if p.Within == "" {
		return lies, nil
	}
	bound, err := filepath.EvalSymlinks(p.Within)
	if err != nil {
		return "", abi.Errorf(abi.CodeNotFound, "the directory %s cannot be followed: %s", visible.Line(p.Within), plain(err))
	}
	if sub, err := filepath.Rel(bound, lies); err != nil || !filepath.IsLocal(sub) {
		return "", abi.Errorf(abi.CodeDenied, "the folder of the skill leads out of %s", visible.Line(p.Within))
	}
	return lies, nil
}
