package gitconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// schemes are the transports for which git starts no program but its own and ssh.
var schemes = []string{"https", "http", "ssh", "git"}

// scp is a place on another machine, as scp writes it.
var scp = lazyregexp.New(`^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^-:]`)

// place allows a remote or submodule to be at an ordinary place.
func place(j *judge, k key, value string) bool { return text(j, k, value) && j.ordinary(value) }

// ordinary reports whether git reaches a URL by one of its own transports, and not in a
// directory that commands write in: there git would run hooks of theirs.
func (j *judge) ordinary(url string) bool {
	if url == "" || url[0] == '-' || strings.Contains(url, "::") {
		return false
	}
	if scheme, rest, ok := strings.Cut(url, "://"); ok {
		if strings.EqualFold(scheme, "file") {
			return !j.changeable(rest)
		}
		host, _, _ := strings.Cut(rest, "/")
		_, after, user := strings.Cut(host, "@")
		if user {
			host = after
		}
		return slices.Contains(schemes, strings.ToLower(scheme)) && host != "" && host[0] != '-'
	}
	if before, _, ok := strings.Cut(url, ":"); ok && !strings.Contains(before, "/") {
		return scp.MatchString(url)
	}
	return !j.changeable(url)
}

// changeable reports whether commands may change what lies at a path, or that is not known.
func (j *judge) changeable(path string) bool {
	if !filepath.IsAbs(path) {
		return true // from another work tree it leads elsewhere
	}
	inside := func(path string) bool {
		return path == "" || slices.ContainsFunc(j.writable, func(dir string) bool { return paths.Below(path, dir) })
	}
	return inside(filepath.Clean(path)) || inside(paths.Real(path))
}
