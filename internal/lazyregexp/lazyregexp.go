// Package lazyregexp has regular expressions that are compiled when they are first
// used. A package's variables are made before main runs, whether or not a command comes
// to need them: dozens of patterns, most of them about commands of the shell, would cost
// every start of the process a millisecond.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a [regexp.Regexp] to be. Its methods are those of the same name there.
type Regexp struct {
	pattern  string
	once     sync.Once
	compiled *regexp.Regexp
}

// New returns the expression of a pattern, as [regexp.MustCompile] does, but panics only
// where it is used. It is small enough for the compiler to make variables of it ahead of
// the start.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.pattern) })
	return r.compiled
}

// MatchString reports whether s contains a match.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// FindString returns the leftmost match in s, or "".
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringSubmatch returns the leftmost match in s with its groups, or nil.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindAllStringIndex returns where the matches in s are, n of them at most.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

// FindAllStringSubmatch returns the matches in s with their groups, n of them at most.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// ReplaceAllString replaces every match in s.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }
