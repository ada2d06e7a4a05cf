package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// closed names what a command was refused, where that is a file or folder that is closed
// to commands, and says what can be done; empty is that it names none.
func (r *run) closed() string {
	for _, path := range r.named(refusals...) {
		switch {
		case r.hidden(path):
			return path + " is hidden from commands, by a rule or as what holds credentials."
		case r.launch.guards(path):
			text := path + " is protected from commands, as programs outside the sandbox run or believe what is in it."
			if r.scope.Shell.Offers("Edit") {
				text += " Edit and Write can change it, and ask the user."
			}
			return text
		}
	}
	for _, path := range r.named(busy) {
		if held := r.launch.above(path); held != "" {
			return fmt.Sprintf("%s cannot be moved or removed by commands, as %q is protected from them. The user can do that, or allow it with %s.", path, held, leave)
		}
	}
	return ""
}

// onlyHidden reports whether a program complains of nothing but files that are hidden from
// it. Ripgrep 13 does not say who complains, but gives the system's number of the error. A
// complaint that other output was written into is not recognised, and so is a failure.
func (r *run) onlyHidden(program string) bool {
	complains := false
	for line := range strings.Lines(string(r.said())) {
		complaint, ok := strings.CutPrefix(line, program+": ")
		if !ok && !strings.Contains(line, " (os error ") {
			continue
		}
		path, _, refused := strings.Cut(complaint, ": Permission denied")
		if !refused || !slices.ContainsFunc(r.lies(path), r.hidden) {
			return false
		}
		complains = true
	}
	return complains
}

// above is a protected path that lies in a directory of the command's; empty is none.
func (l *launch) above(path string) string {
	if slices.Contains(l.policy.Working, path) || !inside(path, l.policy.Working) {
		return ""
	}
	for _, protected := range l.policy.Protected {
		if inside(protected, []string{path}) {
			return strings.TrimSuffix(protected, "/")
		}
	}
	return ""
}

// hidden reports whether a sandbox hides a path. Of what it hides of the machine's, such as
// /etc/shadow where root runs it, there is no list here: it is what others may not read,
// and this process could.
func (r *run) hidden(path string) bool {
	w := &r.launch.policy
	if inside(path, w.Hidden) {
		return !inside(path, w.Shown)
	}
	if inside(path, w.Working) || inside(path, []string{w.Temp}) {
		return false
	}
	const others = 0o004
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&others != 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was done with it
	return true
}

// guards reports whether a path is protected, or lies in what is.
func (l *launch) guards(path string) bool {
	return slices.ContainsFunc(l.protected(), func(p string) bool { return inside(path, []string{strings.TrimSuffix(p, "/")}) })
}

// quotes are what programs put around paths.
const quotes = "'\"`\u2018\u2019\u201c\u201d"

// named are the paths that lines of the output name which have one of some words, as they
// really lie: what stands in quotes, and what stands between blanks and colons.
func (r *run) named(words ...string) []string {
	const most = 200 // pieces of lines
	var paths []string
	pieces := 0
	for line := range strings.Lines(string(r.said())) {
		if !containsAny(strings.ToLower(line), words) {
			continue
		}
		quoted := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(quotes+"\n", c) })
		plain := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(quotes+" \t\n:;,()[]", c) })
		for _, piece := range slices.Concat(quoted, plain) {
			if pieces++; pieces > most {
				return paths
			}
			paths = append(paths, r.lies(piece)...)
		}
	}
	return paths
}

// lies are the places that a path may be which a command named: it may have moved.
func (r *run) lies(path string) []string {
	if filepath.IsAbs(path) {
		return []string{really(path)}
	}
	places := []string{really(filepath.Join(r.scope.Cwd, path))}
	if r.cwd != "" {
		places = append(places, really(filepath.Join(r.cwd, path)))
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

// ownTemp says that the /tmp of a sandbox is another one than the machine's, as it is where
// a sandbox has places of its own.
const ownTemp = sandbox.PrivateDir != ""

// temporary is what a command says in its own words of its folder for temporary files.
var temporary = regexp.MustCompile(`/(?:var/)?tmp/[\w.+/-]*\w`)

// elsewhere says where the file is which a command did not find in its /tmp, or which it
// has made there: no other tool finds that by the same name.
func (r *run) elsewhere() string {
	w := &r.launch.policy
	if !ownTemp {
		return ""
	}
	if r.status.Code != 0 {
		for _, path := range r.named("no such file or directory") {
			if !temporary.MatchString(path) || inside(path, slices.Concat(w.Working, w.Hidden, []string{w.Temp})) {
				continue // what rules hide is not told of
			}
			if _, err := os.Lstat(path); err != nil {
				continue
			}
			return path + " is there, but commands have a /tmp of their own, which other tools know as " + w.Temp + ": put what is for both there, or into a working directory."
		}
	}
	if r.p.readOnly() {
		return ""
	}
	for _, path := range temporary.FindAllString(r.p.args.Command, -1) {
		if inside(path, append(slices.Clip(w.Working), w.Temp)) {
			continue
		}
		_, name, _ := strings.Cut(path, "tmp/")
		lies := filepath.Join(w.Temp, name)
		if info, err := os.Lstat(lies); err == nil && !info.ModTime().Before(r.began) {
			return "Commands have a /tmp of their own: other tools find " + path + " as " + lies + "."
		}
	}
	return ""
}

// denials are the hosts that a command was not let through to, which the proxy knows
// whatever programs make of it.
type denials struct {
	mu    sync.Mutex
	hosts []string
	whys  []string
}

// add is told by the proxy.
func (d *denials) add(host string, _ int, why string) {
	const most = 5
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.hosts) < most && !slices.Contains(d.hosts, host) {
		d.hosts, d.whys = append(d.hosts, host), append(d.whys, why)
	}
}

func (d *denials) none() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.hosts) == 0
}

// text says which hosts were refused, and what would allow them.
func (d *denials) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.hosts) == 0 {
		return ""
	}
	var told []string
	for i, host := range d.hosts {
		told = append(told, fmt.Sprintf("%s (%s)", host, d.whys[i]))
	}
	return "It ran in a sandbox from which only the hosts that rules allow can be reached, and was kept from " + strings.Join(told, ", ") +
		". The user can allow a host with a rule such as WebFetch(domain:" + d.hosts[0] + ")."
}
