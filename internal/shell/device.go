package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// streams are names for descriptors that a command has from the start.
var streams = map[string]int{"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}

// descriptorOf is the descriptor of the command's own that a path names.
func descriptorOf(name string) (int, bool) {
	if fd, ok := streams[name]; ok {
		return fd, true
	}
	number, ok := strings.CutPrefix(name, "/dev/fd/")
	if !ok || !isNumber(number) {
		return 0, false
	}
	fd, err := strconv.Atoi(number)
	return fd, err == nil
}

// harmless reports whether opening a path is no access: it is an idle device, or a
// descriptor that the command has already. What lies below one is another matter, as a
// descriptor may be a directory.
func (a *analysis) harmless(kind permissions.AccessKind, name string) bool {
	if programs.Idle(kind, name) {
		return true
	}
	fd, ok := descriptorOf(name)
	return ok && a.wires.reopen(fd, kind)
}

func (a *analysis) allHarmless(kinds []permissions.AccessKind, names []string) bool {
	for _, kind := range kinds {
		for _, name := range names {
			if !a.harmless(kind, name) {
				return false
			}
		}
	}
	return true
}

// neverEnds reports whether one of what is read need not end. A program that is given the
// number of bytes to read ends.
func neverEnds(kind permissions.AccessKind, paths []string, words []word) bool {
	return kind == permissions.AccessRead && slices.ContainsFunc(paths, programs.Endless) && !counted(words)
}

// counted reports whether a command is head with a number of bytes and no other flag.
// With -c -N it reads to the end.
func counted(words []word) bool {
	if len(words) < 3 || base(words) != "head" {
		return false
	}
	n, bytes := strings.CutPrefix(words[1].Text, "--bytes=")
	if !bytes {
		n, bytes = strings.CutPrefix(words[1].Text, "-c")
	}
	rest := words[2:]
	if n == "" {
		n, rest = rest[0].Text, rest[1:]
	}
	return bytes && n != "" && n[0] >= '0' && n[0] <= '9' && !slices.ContainsFunc(words, func(w word) bool { return !w.Literal }) &&
		!slices.ContainsFunc(rest, func(w word) bool { return strings.HasPrefix(w.Text, "-") })
}

// wires is what is known of the descriptors of a command and of all that it starts.
//
// On some systems opening /dev/fd/3 opens anew what descriptor 3 is, for reading or for
// writing as one likes: a file that was judged as one to read could be written so. What
// is opened is compared with that at the end, as the order is not always that of the text.
type wires struct {
	// strict is for a second look, after the first one has found that a descriptor is
	// opened otherwise than it was: no name of a descriptor is harmless then.
	strict bool
	// opened says how redirections open files on descriptors, and again how their names
	// are opened.
	opened, again []wire
	// tangled says that descriptors other than standard output and standard error are
	// made to be one another, so that it is not known what they are.
	tangled bool
}

// wire is a descriptor that is opened in a way.
type wire struct {
	fd   int
	kind permissions.AccessKind
}

// reopen notes that the name of a descriptor is opened, and reports whether that counts
// as harmless as yet.
func (w *wires) reopen(fd int, kind permissions.AccessKind) bool {
	w.again = append(w.again, wire{fd, kind})
	return !w.strict
}

// redirected notes what a redirection does with descriptors.
func (w *wires) redirected(r *syntax.Redirect) {
	fd, known := number(r)
	word := r.Word.Lit()
	switch {
	case !known:
		w.tangled = true
	case r.Op == syntax.Hdoc, r.Op == syntax.DashHdoc, r.Op == syntax.WordHdoc:
	case r.Op == syntax.RdrInOut: // its file was judged for both
	case r.Op == syntax.DplIn, r.Op == syntax.DplOut && (word == "" || isDescriptor(word)):
		from, err := strconv.Atoi(strings.TrimSuffix(word, "-"))
		w.tangled = w.tangled || word != "-" && (err != nil || !output(fd) || !output(from))
	default:
		w.opened = append(w.opened, wire{fd, effectsOf(r.Op)[0]})
	}
}

// number is the descriptor that a redirection is of; false is that only a variable says.
func number(r *syntax.Redirect) (fd int, known bool) {
	switch {
	case r.N != nil:
		fd, err := strconv.Atoi(r.N.Value)
		return fd, err == nil
	case r.Op == syntax.RdrIn, r.Op == syntax.RdrInOut, r.Op == syntax.DplIn,
		r.Op == syntax.Hdoc, r.Op == syntax.DashHdoc, r.Op == syntax.WordHdoc:
		return 0, true
	}
	return 1, true
}

// output reports whether a descriptor is standard output or standard error, which a
// command often makes one.
func output(fd int) bool { return fd == 1 || fd == 2 }

// crossed reports whether the name of a descriptor may be opened otherwise than its file
// was.
func (w *wires) crossed() bool {
	for _, again := range w.again {
		for _, opened := range w.opened {
			same := opened.fd == again.fd || output(opened.fd) && output(again.fd)
			if same && opened.kind != again.kind {
				return true
			}
		}
	}
	return w.tangled && len(w.again) > 0
}

// kernelDirs hold devices and the kernel's own view of itself, with links that are none
// of a directory's: /proc/self/root/.. is no name in /proc.
var kernelDirs = []string{"/dev", "/proc", "/sys"}

// astray is the place in a directory of the kernel's behind which a name goes up again,
// so that it is not known where it leads: whoever judges the name judges that, too.
func astray(dir, name string) (string, bool) {
	at := dir
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." && slices.ContainsFunc(kernelDirs, func(k string) bool { return within(at, k) }) {
			return at, true
		}
		at = path.Join(at, part)
	}
	return "", false
}
