package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// said is the end of what a command wrote.
type said struct {
	text  string
	lower string // the text in lower case
	// dirs are what relative paths in it may be relative to: where the command began, and
	// where it moved.
	dirs []string
}

// lastWords are the end of an output.
func lastWords(out *store, dirs []string) said {
	const shown = 8 << 10
	end, tail := out.ends(shown)
	if tail != nil {
		end = tail
	}
	text := string(end)
	return said{text: text, lower: strings.ToLower(text), dirs: dirs}
}

// has reports whether one of some words, in lower case, is in the text.
func (s *said) has(words ...string) bool { return containsAny(s.lower, words) }

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// quotes are what programs put around paths.
const quotes = "'\"`\u2018\u2019\u201c\u201d"

// paths are those that lines of the output name which have one of some words, as they really
// lie: what stands in quotes, and what stands between blanks and colons.
func (s *said) paths(words ...string) []string {
	const most = 200 // pieces of lines
	var paths []string
	pieces := 0
	for line := range strings.Lines(s.text) {
		if !containsAny(strings.ToLower(line), words) {
			continue
		}
		quoted := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(quotes+"\n", c) })
		plain := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(quotes+" \t\n:;,()[]", c) })
		for _, piece := range slices.Concat(quoted, plain) {
			if pieces++; pieces > most {
				return paths
			}
			paths = append(paths, s.lies(piece)...)
		}
	}
	return paths
}

// lies are the places that a path may be which a command named.
func (s *said) lies(path string) []string {
	if filepath.IsAbs(path) {
		return []string{really(path)}
	}
	var places []string
	for _, dir := range s.dirs {
		places = append(places, really(filepath.Join(dir, path)))
	}
	return places
}

// really is a path as it lies, as far as there is something.
func really(path string) string {
	path = filepath.Clean(path)
	if lies, err := filepath.EvalSymlinks(path); err == nil {
		return lies
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// closed names what a command was refused, where that is a file or folder that is closed
// to commands, and says what can be done; empty is that it names none.
func (a *account) closed() string {
	for _, path := range a.said.paths(refusals...) {
		switch {
		case a.held.hides(path):
			return path + " is hidden from commands, by a rule or as what holds credentials."
		case a.held.protects(path):
			text := path + " is protected from commands, as programs outside the sandbox run or believe what is in it."
			if a.scope.Shell.Offers("Edit") {
				text += " Edit and Write can change it, and ask the user."
			}
			return text
		}
	}
	for _, path := range a.said.paths(busy) {
		if held := a.held.holds(path); held != "" {
			return fmt.Sprintf("%s cannot be moved or removed by commands, as %q is protected from them. The user can do that, or allow it with %s.", path, held, leave)
		}
	}
	return ""
}

// ownTemp says that the /tmp of a sandbox is another one than the machine's, as it is where
// a sandbox has places of its own.
const ownTemp = sandbox.PrivateDir != ""

// temporary is what a command says in its own words of its folder for temporary files.
var temporary = regexp.MustCompile(`/(?:var/)?tmp/[\w.+/-]*\w`)

// elsewhere says where the file is which a command did not find in its /tmp, or which it
// has made there: no other tool finds that by the same name.
func (a *account) elsewhere() string {
	if !ownTemp {
		return ""
	}
	working, temp := a.held.Working, a.held.Temp
	if a.status.Code != 0 {
		for _, path := range a.said.paths("no such file or directory") {
			if !temporary.MatchString(path) || inside(path, slices.Concat(working, a.held.Hidden, []string{temp})) {
				continue // what rules hide is not told of
			}
			if _, err := os.Lstat(path); err != nil {
				continue
			}
			return path + " is there, but commands have a /tmp of their own, which other tools know as " + temp + ": put what is for both there, or into a working directory."
		}
	}
	if a.held.readOnly {
		return ""
	}
	for _, path := range temporary.FindAllString(a.args.Command, -1) {
		if inside(path, append(slices.Clip(working), temp)) {
			continue
		}
		_, name, _ := strings.Cut(path, "tmp/")
		lies := filepath.Join(temp, name)
		if info, err := os.Lstat(lies); err == nil && !info.ModTime().Before(a.began) {
			return "Commands have a /tmp of their own: other tools find " + path + " as " + lies + "."
		}
	}
	return ""
}
