package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// said is the end of a command's output.
type said struct {
	text  string
	lower string // the text in lower case
	// dirs are where the command began and where it ended. Relative paths in the text may
	// mean either.
	dirs []string
}

// lastWords reads the end of an output.
func lastWords(out *store, dirs []string) said {
	const shown = 8 << 10
	end, tail := out.ends(shown)
	if tail != nil {
		end = tail
	}
	text := string(end)
	return said{text: text, lower: strings.ToLower(text), dirs: dirs}
}

// has reports whether the text has one of some words, which are in lower case.
func (s *said) has(words ...string) bool { return containsAny(s.lower, words) }

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// quotes are the characters that programs put around paths.
const quotes = "'\"`\u2018\u2019\u201c\u201d"

// paths returns the paths in lines that have one of some words, with links resolved. A path
// is taken to be in quotes, or between blanks and colons.
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
			paths = append(paths, s.resolve(piece)...)
		}
	}
	return paths
}

// resolve returns the paths that one in the text may mean, with links resolved.
func (s *said) resolve(path string) []string {
	if filepath.IsAbs(path) {
		return []string{resolved(path)}
	}
	var places []string
	for _, dir := range s.dirs {
		places = append(places, resolved(filepath.Join(dir, path)))
	}
	return places
}

// resolved is a path with links resolved, as far as it exists.
func resolved(path string) string {
	path = filepath.Clean(path)
	if lies, err := filepath.EvalSymlinks(path); err == nil {
		return lies
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// closed names the hidden or protected path that the command was refused, and says what can
// be done. It is empty if the output names none.
func (a *account) closed() string {
	for _, path := range a.said.paths(append(slices.Clip(refusals), gitIrregular)...) {
		switch {
		case a.held.hides(path):
			return path + " is hidden from commands, by a rule or as what holds credentials." + a.exclude(path)
		case a.held.protects(path):
			text := path + " is protected from commands, as programs outside the sandbox run or believe what is in it."
			if a.scope.Shell.Offers("Edit") {
				text += " Edit and Write can change it, and ask the user."
			}
			return text
		}
	}
	for _, path := range a.said.paths(busy) {
		if held := a.held.protectedBelow(path); held != "" {
			return fmt.Sprintf("%s cannot be moved or removed by commands, as %q is protected from them. The user can do that, or allow it with %s.", path, held, leaveSandbox)
		}
	}
	return ""
}

// OwnTemp says that a sandbox has a /tmp of its own on this system.
const OwnTemp = sandbox.PrivateDir != ""

// temporary matches a path in the directory for temporary files, as commands write it.
var temporary = regexp.MustCompile(`/(?:var/)?tmp/[\w.+/-]*\w`)

// elsewhere says where a file is that the command did not find in its /tmp, or that it
// created there. Other tools know that directory by another name.
func (a *account) elsewhere() string {
	if !OwnTemp || a.held.partial {
		return ""
	}
	working, temp := a.held.Working, a.held.Temp
	if a.status.Code != 0 {
		for _, path := range a.said.paths("no such file or directory") {
			if !temporary.MatchString(path) || inside(path, slices.Concat(working, a.held.Hidden, []string{temp})) {
				continue // hidden paths are not mentioned
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
