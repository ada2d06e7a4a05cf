package gitevents

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// head is where a repository's HEAD is.
type head struct {
	// hash is the commit's; empty where there is none yet.
	hash string
	// branch is the one that is checked out; empty is none.
	branch string
}

// headOf reads the HEAD of the repository that a directory lies in, as git does and
// without starting it. It reports false where that cannot be told, as of references that
// are kept in tables. No repository has an empty HEAD: a command may make one.
func headOf(dir string) (head, bool) {
	git, found := gitDir(dir)
	if !found {
		return head{}, true
	}
	text, _ := firstLine(filepath.Join(git, "HEAD"))
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	switch {
	case !symbolic:
		return head{hash: text}, wholeHash.MatchString(text)
	case !strings.HasPrefix(ref, heads) || !filepath.IsLocal(ref) || ref == heads+".invalid":
		return head{}, false
	}
	h := head{branch: ref[len(heads):]}
	common := git
	if other, ok := firstLine(filepath.Join(git, "commondir")); ok {
		common = from(git, other)
	}
	loose, ok := firstLine(filepath.Join(common, filepath.FromSlash(ref)))
	if ok {
		h.hash = loose
		return h, wholeHash.MatchString(loose)
	}
	h.hash = packed(filepath.Join(common, "packed-refs"), ref)
	return h, true
}

const heads = "refs/heads/"

var wholeHash = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// gitDir looks for a repository from a directory upwards.
func gitDir(dir string) (string, bool) {
	for {
		path := filepath.Join(dir, ".git")
		if _, ok := firstLine(filepath.Join(path, "HEAD")); ok { // an empty directory is none
			return path, true
		}
		if text, ok := firstLine(path); ok {
			to, ok := strings.CutPrefix(text, "gitdir: ")
			return from(dir, to), ok
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", false
		}
		dir = above
	}
}

// from is a path as seen from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// firstLine reads the first line of a short file: of no link, and of nothing that could
// be waited for.
func firstLine(path string) (string, bool) {
	text, ok := readSome(path, maxLine)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r "), ok
}

// packed looks a reference up in the file that has many of them; empty is that it is not
// there.
func packed(path, ref string) string {
	const most = 16 << 20
	text, _ := readSome(path, most)
	for line := range strings.Lines(text) {
		hash, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if ok && name == ref && wholeHash.MatchString(hash) {
			return hash
		}
	}
	return ""
}

func readSome(path string, most int64) (string, bool) {
	f, _, err := privatedir.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	return string(text), err == nil
}
