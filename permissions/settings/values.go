package settings

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// parser makes a [File] of what was decoded. Its methods check single values; what reads
// a table is a function that uses them.
type parser struct {
	faults
	in  format
	doc *stricttoml.Document
}

func (p *parser) fault(key, format string, args ...any) {
	p.add(p.doc.Line(key), key, format, args...)
}

// keyOf returns a setting as made in the file, if it was.
func keyOf[T any](p *parser, key string, value T) Key[T] {
	if !p.doc.Has(key) {
		return Key[T]{}
	}
	return Key[T]{value, true, p.faults.file.source(p.doc.Line(key))}
}

func (p *parser) oneOf(key, value string, values ...string) {
	if p.doc.Has(key) && !slices.Contains(values, value) {
		p.fault(key, "%.40q is not known; write one of %s", value, strings.Join(values, ", "))
	}
}

// span reads a duration that must be over zero and at most most.
func (p *parser) span(key string, d duration, usual, most time.Duration) time.Duration {
	if !p.doc.Has(key) {
		return usual
	}
	if v := time.Duration(d); v <= 0 || v > most {
		p.fault(key, "%v is not over 0 and up to %v", v, most)
	}
	return time.Duration(d)
}

// mode reads a mode where there is one.
func (p *parser) mode(key, name string) permissions.Mode {
	if !p.doc.Has(key) {
		return ""
	}
	mode, err := permissions.ParseMode(name)
	if err != nil {
		p.fault(key, "%v", err)
	}
	return mode
}

// directory checks a path that no working directory has a say in.
func (p *parser) directory(key, dir string) {
	switch {
	case !p.doc.Has(key):
	case strings.ContainsRune(dir, 0):
		p.fault(key, "it holds a NUL, which no path can")
	case !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/"):
		p.fault(key, "%.100q is not an absolute path, nor one that begins with ~/", dir)
	}
}

// between reads a number from least to most.
func (p *parser) between(key string, n, least, most int) Key[int] {
	if p.doc.Has(key) && (n < least || n > most) {
		p.fault(key, "%d is not from %d to %d", n, least, most)
	}
	return keyOf(p, key, n)
}

// count reads a number from 1 to most.
func (p *parser) count(key string, n, most int) Key[int] {
	return p.between(key, n, 1, most)
}

func (p *parser) size(key string, n abi.Size, least, most int64) Key[abi.Size] {
	if p.doc.Has(key) && (n < abi.Size(least) || n > abi.Size(most)) {
		p.fault(key, "%v is not from %v to %v", n, abi.Size(least), abi.Size(most))
	}
	return keyOf(p, key, n)
}

func (p *parser) chars(key string, n chars) Key[int] {
	if n == Unlimited {
		return keyOf(p, key, Unlimited)
	}
	return p.count(key, int(n), maxBound)
}

// secret checks the name of a variable that holds a secret. The name is not
// repeated: it may be the secret.
func (p *parser) secret(key, name, what string) {
	if !variable(name) || keyLike(name) {
		p.fault(key, "this is no name of an environment variable; "+
			"name the variable that holds %s, and never write %s itself here", what, what)
	}
}

// variables checks a name of environment variables, with * at its end for all that
// begin so. A mere * would hand every secret of the host on.
func (p *parser) variables(key, name string) {
	begin, _ := strings.CutSuffix(name, "*")
	switch {
	case name == "*":
		p.fault(key, "it is all there are, secrets too; write names, or how they begin, such as NVM_*")
	case !variable(begin) || keyLike(begin):
		p.fault(key, "this is no name of an environment variable, such as GOPATH or NVM_*")
	}
}

// program checks the name of a program. One relative to a directory would be another
// program in each.
func (p *parser) program(key, name string) {
	switch {
	case !p.doc.Has(key):
	case name == "" || strings.ContainsRune(name, 0):
		p.fault(key, "it names no program")
	case strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name):
		p.fault(key, "%.100q is neither a name without a directory nor an absolute path", name)
	}
}

// host checks the name of a host, or of all below one.
func (p *parser) host(key, name string) {
	below, _ := strings.CutPrefix(name, "*.")
	if h := permissions.HostOf(below); h.Odd != "" || h.Name != below || !hostName().MatchString(below) {
		p.fault(key, "%.100q is no host such as example.com, nor *.example.com for all below it", name)
	}
}

// hostName is a name or an address, without a port.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_.-]+$|^\[?[0-9a-f:.]+\]?$`) })

// variable reports whether a text can be the name of an environment variable. Keys
// of APIs have other characters, or are longer.
func variable(name string) bool {
	const longest = 64
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	other := func(r rune) bool {
		return !digit(r) && r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return name != "" && len(name) <= longest && !digit(rune(name[0])) && !strings.ContainsFunc(name, other)
}

// keyLike reports whether a name looks like a key all the same: long, with
// digits, and not in the capitals and underscores that variables are named with.
func keyLike(name string) bool {
	const short = 20 // of every key in use
	named := strings.Contains(name, "_") && strings.ToUpper(name) == name
	return len(name) >= short && strings.ContainsAny(name, "0123456789") && !named
}
