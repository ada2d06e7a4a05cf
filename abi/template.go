package abi

import (
	"fmt"
	"slices"
	"strings"
)

// Template is the parsed form of one of a tool's [Lines], or of its classifier text.
type Template struct {
	Pieces []Piece
}

// Piece is a part of a [Template]: a text, a placeholder, or a group.
type Piece struct {
	// Text is put out as it is.
	Text string
	// Place, if not nil, is where a value goes.
	Place *Placeholder
	// Group, if not nil, is put out only if each of its placeholders has a value.
	Group []Piece
}

// Placeholder is where a value goes.
type Placeholder struct {
	// Path leads to the value: names of fields, and positions in lists.
	Path []string
	// One and Many, if set, have the value counted: "1 file", "3 files".
	One, Many string
	// When, if set, is put out in place of a value that is neither false, nor zero, nor
	// empty.
	When string
	// At is where it begins in the template, in bytes.
	At int
}

// String is the path as templates have it.
func (p *Placeholder) String() string { return "{" + strings.Join(p.Path, ".") + "}" }

// MaxTemplate is the longest template, in bytes.
const MaxTemplate = 1024

// maxPath bounds the path of a placeholder, in names.
const maxPath = 8

// ParseTemplate parses a template of the language that a tool's [Lines] are written in.
// It is text, with
//
//   - {field} for the value of a field, and {a.b} or {list.0} for one inside it;
//   - {field|file} or {field|entry|entries} for a count: the number itself, or how many
//     members the list, or lines the text has;
//   - {field?words} for the words, if the field is neither missing, nor false, nor zero,
//     nor empty;
//   - [text with {field}] for a text that is left out if one of its fields has no value;
//   - {{, }}, [[ and ]] for these characters.
//
// A field that is missing, null, or an empty text or list has no value, and outside of
// brackets is left out by itself.
func ParseTemplate(text string) (Template, error) {
	if len(text) > MaxTemplate {
		return Template{}, fmt.Errorf("%d bytes are over the limit of %d for a template", len(text), MaxTemplate)
	}
	p := &templateParser{text: text}
	pieces, err := p.pieces(false)
	if err != nil {
		return Template{}, err
	}
	return Template{Pieces: pieces}, nil
}

// Placeholders calls each for every placeholder of the template.
func (t Template) Placeholders(each func(*Placeholder)) { placeholders(t.Pieces, each) }

func placeholders(pieces []Piece, each func(*Placeholder)) {
	for i := range pieces {
		if p := pieces[i].Place; p != nil {
			each(p)
		}
		placeholders(pieces[i].Group, each)
	}
}

// EscapeTemplate writes a text so that [ParseTemplate] reads it as that text.
func EscapeTemplate(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "[", "[[", "]", "]]").Replace(text)
}

type templateParser struct {
	text string
	at   int
}

// pieces parses up to the end of the text, or of the group it is in.
func (p *templateParser) pieces(inGroup bool) ([]Piece, error) {
	began := p.at - 1
	var out []Piece
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			out = append(out, Piece{Text: plain.String()})
			plain.Reset()
		}
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		doubled := p.at+1 < len(p.text) && p.text[p.at+1] == c
		switch {
		case !strings.ContainsRune("{}[]", rune(c)):
			plain.WriteByte(c)
			p.at++
			continue
		case doubled:
			plain.WriteByte(c)
			p.at += 2
			continue
		case c == ']' && inGroup:
			flush()
			p.at++
			return p.group(out, began)
		case c == '}' || c == ']':
			return nil, fmt.Errorf("%q at byte %d closes nothing; write it twice for the character itself", c, p.at)
		case c == '[' && inGroup:
			return nil, fmt.Errorf("'[' at byte %d is inside other brackets, which may not be; write it twice for the character itself", p.at)
		}
		flush()
		piece, err := p.special()
		if err != nil {
			return nil, err
		}
		out = append(out, piece)
	}
	if inGroup {
		return nil, fmt.Errorf("'[' at byte %d has no ']'", began)
	}
	flush()
	return out, nil
}

// group checks what is in brackets.
func (p *templateParser) group(inner []Piece, began int) ([]Piece, error) {
	for i := range inner {
		if inner[i].Place != nil {
			return inner, nil
		}
	}
	return nil, fmt.Errorf("the brackets at byte %d have no placeholder, so nothing decides whether they are left out; write \"[[\" for the character itself", began)
}

// special parses a placeholder or a group.
func (p *templateParser) special() (Piece, error) {
	if p.text[p.at] == '{' {
		place, err := p.place()
		return Piece{Place: place}, err
	}
	p.at++
	inner, err := p.pieces(true)
	return Piece{Group: inner}, err
}

// place parses a placeholder.
func (p *templateParser) place() (*Placeholder, error) {
	end := strings.IndexByte(p.text[p.at:], '}')
	if end < 0 {
		return nil, fmt.Errorf("'{' at byte %d has no '}'", p.at)
	}
	inner := p.text[p.at+1 : p.at+end]
	place := &Placeholder{At: p.at}
	p.at += end + 1
	wrong := func(format string, args ...any) (*Placeholder, error) {
		return nil, fmt.Errorf("the placeholder {%s} at byte %d %s", inner, place.At, fmt.Sprintf(format, args...))
	}
	if at := strings.IndexAny(inner, "{[]"); at >= 0 {
		return wrong("has a %q in it", inner[at])
	}
	path, rest := inner, ""
	if at := strings.IndexAny(inner, "|?"); at >= 0 {
		path, rest = inner[:at], inner[at:]
	}
	place.Path = strings.Split(path, ".")
	if len(place.Path) > maxPath {
		return wrong("leads %d fields deep; at most %d are", len(place.Path), maxPath)
	}
	if slices.Contains(place.Path, "") {
		return wrong("names no field; write {field}, or \"{{\" for the character itself")
	}
	if rest == "" {
		return place, nil
	}
	if rest[0] == '?' {
		if place.When = rest[1:]; place.When == "" {
			return wrong("has no words behind its '?'")
		}
		return place, nil
	}
	return p.counted(place, strings.Split(rest[1:], "|"), wrong)
}

// counted takes the nouns of a count.
func (p *templateParser) counted(place *Placeholder, nouns []string, wrong func(string, ...any) (*Placeholder, error)) (*Placeholder, error) {
	for _, noun := range nouns {
		if strings.TrimSpace(noun) == "" {
			return wrong("has an empty noun; write {field|file} or {field|entry|entries}")
		}
	}
	switch len(nouns) {
	case 1:
		place.One, place.Many = nouns[0], nouns[0]+"s"
	case 2:
		place.One, place.Many = nouns[0], nouns[1]
	default:
		return wrong("has %d nouns; write one, and its plural if that does not end in s", len(nouns))
	}
	return place, nil
}
