package settings

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// loader reads the files of all sources, to be merged into what is loaded.
type loader struct {
	o   Options
	now time.Time
	// shown are the pins of what the user was shown of the project; nil where they
	// do not trust it.
	shown map[Pin]bool
	// files are those that say something, the weightiest first.
	files []*File
	out   *Loaded
	errs  []error
}

type parse func(kind permissions.SourceKind, path string, src []byte) (*File, error)

// project reads the two files of one source in the project.
func (l *loader) project(kind permissions.SourceKind, path, claude string) {
	l.file(kind, path, Parse)
	if l.o.ProjectClaude {
		l.file(kind, filepath.Join(l.o.Project.Path, ".claude", claude), ParseClaude)
	}
}

// file reads a file that may be missing.
func (l *loader) file(kind permissions.SourceKind, path string, parse parse) {
	if path == "" {
		return
	}
	l.out.Watched = append(l.out.Watched, path)
	content, there, err := readFile(path)
	l.saw(kind, path, there || err != nil)
	switch {
	case err != nil:
		l.fail(path, err)
	case there:
		l.parsed(parse(kind, path, content))
	}
}

func (l *loader) given(kind permissions.SourceKind, f *File) {
	if f == nil {
		return
	}
	own := *f
	own.Kind = kind
	l.files = append(l.files, &own)
}

func (l *loader) parsed(f *File, err error) {
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	l.files = append(l.files, f)
}

func (l *loader) saw(kind permissions.SourceKind, path string, there bool) {
	l.out.Files = append(l.out.Files, Seen{kind, path, there})
}

// fail notes that a file or directory cannot be used; no error is none.
func (l *loader) fail(path string, err error) {
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", path, err))
	}
}

func (l *loader) warn(src permissions.Source, format string, args ...any) {
	l.out.Warnings = append(l.out.Warnings, permissions.Warning{Source: src, Message: fmt.Sprintf(format, args...)})
}

// directory resolves ~.
func (l *loader) directory(key string, k Key[string]) Key[string] {
	rest, home := strings.CutPrefix(k.Value, "~/")
	switch {
	case !k.Set:
	case !home:
		k.Value = filepath.Clean(k.Value)
	case l.o.Home == "":
		l.fail(k.Source.File, &Fault{k.Source, key, "~ is not known here"})
	default:
		k.Value = filepath.Join(l.o.Home, rest)
	}
	return k
}

// directories resolves ~ in each.
func (l *loader) directories(key string, k Key[[]string]) Key[[]string] {
	out := k
	out.Value = nil
	for _, dir := range k.Value {
		out.Value = append(out.Value, l.directory(key, Key[string]{dir, k.Set, k.Source}).Value)
	}
	return out
}
