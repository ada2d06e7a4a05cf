package gitevents

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// options says which options of a sub-command take a value of their own. Whatever
// else begins with a hyphen takes none.
type options struct {
	// short are letters, long names without hyphens.
	short string
	long  []string
}

// arguments are a sub-command's, told apart.
type arguments struct {
	given []option
	// rest are what is no option.
	rest []permissions.Word
	// vague says that a word is not known that may be an option.
	vague bool
}

// option is one that was given; its name is a letter or a long name.
type option struct {
	name  string
	value permissions.Word
}

// split tells options from what they are for, as git and Cobra both do.
func (o options) split(words []permissions.Word) arguments {
	var a arguments
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.Literal:
			a.vague = true
			a.rest = append(a.rest, w)
		case w.Text == "--":
			a.rest = append(a.rest, words[i+1:]...)
			return a
		case strings.HasPrefix(w.Text, "--"):
			name, value, has := strings.Cut(w.Text[2:], "=")
			v := permissions.Word{Text: value, Literal: true}
			if !has && o.takesValue(name) && i+1 < len(words) {
				i++
				v = words[i]
			}
			a.given = append(a.given, option{name, v})
		case strings.HasPrefix(w.Text, "-") && w.Text != "-":
			if a.letters(o.short, w.Text[1:], words[i+1:]) {
				i++
			}
		default:
			a.rest = append(a.rest, w)
		}
	}
	return a
}

// letters reads options of one letter that stand together. It reports whether the
// last one's value is the next word.
func (a *arguments) letters(valued, text string, next []permissions.Word) (took bool) {
	for i, letter := range text {
		name := string(letter)
		if !strings.Contains(valued, name) {
			a.given = append(a.given, option{name: name})
			continue
		}
		value := permissions.Word{Text: text[i+len(name):], Literal: true}
		if took = value.Text == "" && len(next) > 0; took {
			value = next[0]
		}
		a.given = append(a.given, option{name, value})
		return took
	}
	return false
}

// takesValue reports whether a long option does; it may be shortened.
func (o options) takesValue(name string) bool {
	return slices.ContainsFunc(o.long, func(long string) bool { return shortens(name, long) })
}

// shortens reports whether a name is an option's, or one that git would take for
// it.
func shortens(name, long string) bool {
	return name == long || len(name) >= 2 && strings.HasPrefix(long, name)
}

// has reports whether any of the options was given.
func (a *arguments) has(names ...string) bool {
	_, ok := a.value(names...)
	return ok
}

// value is the first of the options' that was given.
func (a *arguments) value(names ...string) (permissions.Word, bool) {
	for _, o := range a.given {
		for _, name := range names {
			if o.name == name || len(name) > 1 && shortens(o.name, name) {
				return o.value, true
			}
		}
	}
	return permissions.Word{}, false
}

// only reports whether no others were given.
func (a *arguments) only(names ...string) bool {
	return !slices.ContainsFunc(a.given, func(o option) bool { return !slices.Contains(names, o.name) })
}

// word is the i-th of what is no option, or "" where it is not known.
func (a *arguments) word(i int) string {
	if i < len(a.rest) && a.rest[i].Literal && !a.vague {
		return a.rest[i].Text
	}
	return ""
}
