package skills

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// headSize is how much of a file is read to list it: the longest front matter, and some of what
// follows.
const headSize = maxMatter + 8<<10

// readText reads at most so many bytes of a file as text, and reports whether that is all of it.
func readText(fsys fs.FS, name string, most int64) (text string, whole bool, err error) {
	f, info, err := openRegular(fsys, name)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", false, err
	}
	if whole = int64(len(raw)) <= most; !whole {
		if most >= MaxFile {
			return "", false, abi.Errorf(abi.CodeTooLarge, "it has more than %d bytes; it had %d when it was opened", MaxFile, info.Size())
		}
		raw = raw[:most]
		raw = wholeRunes(raw)
	}
	text, err = normal(raw)
	return text, whole, err
}

// wholeRunes is a text without the character that its end cuts.
func wholeRunes(raw []byte) []byte {
	for i := len(raw) - 1; i >= max(0, len(raw)-utf8.UTFMax); i-- {
		if utf8.RuneStart(raw[i]) {
			if !utf8.FullRune(raw[i:]) {
				return raw[:i]
			}
			break
		}
	}
	return raw
}

// normal is a text without a byte order mark, and with one kind of line end.
func normal(raw []byte) (string, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return "", abi.Errorf(abi.CodeNotText, "it is not text in UTF-8")
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), nil
}

// look makes a skill of what its file begins with.
func (p *place) look(f *file) *Skill {
	s := &Skill{Own: f.own, Label: p.Label, Path: p.path(f.name), file: f}
	text, whole, err := readText(p.fsys, f.name, headSize)
	if err != nil {
		s.fatal("it cannot be read: %s", plain(err))
		return s
	}
	s.read(text, whole)
	if p.admit != nil && !s.stands.broken {
		s.stands.refused = p.admit(s)
	}
	return s
}

// read takes over what a text says of the skill, and returns the rest of it.
func (s *Skill) read(text string, whole bool) (body string) {
	front, body, first, closed := split(text)
	m := &matter{}
	switch {
	case !closed && !whole:
		m.fatal(first-1, "the front matter does not end within %d bytes", maxMatter)
	case !closed:
		m.fatal(first-1, "the front matter has no end: put a line of --- behind it")
	case first > 0:
		m = parse(front, first)
	case !s.file.command:
		m.warn(1, "there is no front matter: begin with a line of ---, name, description, and another line of ---")
	}
	s.Hint, s.Tools, s.Hidden = short(m.hint, maxHint), m.tools, m.hidden
	if firstFault(m.faults) == nil {
		s.call(m)
		s.describe(m, body)
	}
	slices.SortStableFunc(m.faults, func(a, b Fault) int { return a.Line - b.Line })
	s.Faults = m.faults
	s.stands.broken = firstFault(m.faults) != nil
	return body
}

// call names the skill: by what it says itself if that can be used, and a command by its place.
func (s *Skill) call(m *matter) {
	place := s.file.own
	if s.file.command {
		if !usable(strings.ReplaceAll(place, ":", ".")) {
			m.fatal(0, "a command cannot be called by the name of its file: use letters, digits, hyphens and underscores, at most %d", maxName)
		}
		return
	}
	line := m.lines["name"]
	switch {
	case m.name == "":
		m.warn(max(line, 1), "it has no name, and is called as its folder")
	case !usable(m.name):
		m.warn(line, "the name %s cannot be called, and the folder's counts: use lower-case letters, digits and hyphens, at most %d", visible.Name(m.name), maxName)
	case !formatName.MatchString(m.name):
		m.warn(line, "the name %s is not of the format: lower-case letters, digits and single hyphens", visible.Name(m.name))
		s.Own = m.name
	default:
		s.Own = m.name
		if m.name != place {
			m.warn(line, "the name is not that of the folder, %s", visible.Name(place))
		}
	}
	switch {
	case visible.Line(place) != place: // what tells a model of the folder would be told by its name
		m.fatal(0, "the name of its folder, %s, has characters that do not show", visible.Name(place))
	case !usable(s.Own):
		m.fatal(max(line, 1), "it cannot be called by the name of its folder either: use lower-case letters, digits and hyphens, at most %d", maxName)
	}
}

// describe has the description be one line; that of the body's first line where there is none.
func (s *Skill) describe(m *matter, body string) {
	line, text := m.lines["description"], m.description
	if text == "" {
		if !s.file.command {
			m.warn(max(line, 1), "it has no description, and the first line of its text counts")
		}
		text, _, _ = strings.Cut(strings.TrimLeft(body, "# \t\n"), "\n")
	}
	if n := utf8.RuneCountInString(text); n > maxDescription && m.description != "" {
		m.warn(line, "the description has %d characters; the format has at most %d, and the rest is left out", n, maxDescription)
	}
	s.Description = short(text, maxDescription)
}

// short is a text in one line of at most so many characters.
func short(text string, most int) string {
	text = visible.Line(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

func (s *Skill) fatal(format string, args ...any) {
	m := &matter{}
	m.fatal(0, format, args...)
	s.Faults, s.stands.broken = append(s.Faults, m.faults...), true
}

// escapes is what [os.Root] says of links that lead out of it; there is no error to compare with.
const escapes = "path escapes from parent"

// plain is an error without the path that it names.
func plain(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		if text := failed.Err.Error(); text != escapes {
			return text
		}
		return "a link leads out of the project or plugin that it is of"
	}
	return err.Error()
}

// commandName names the command of a file: DIR/NAME.md is called DIR:NAME.
func commandName(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, path.Ext(file)), "/", ":")
}
