package toolquaytest

import (
	"fmt"
	"slices"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// scopePattern is a path pattern of a scope, relative to the working directory: its
// components, of which "**" stands for any number.
type scopePattern []string

// parseScope reads a pattern as the host reads one of an allow rule. It knows the forms
// that stay in the working directory.
func parseScope(text string) (scopePattern, error) {
	bare := strings.TrimPrefix(text, "./")
	if bare == "" || strings.ContainsAny(bare, `[]{}\!`) || bare[0] == '/' || bare[0] == '~' || strings.HasSuffix(bare, "/") {
		return nil, fmt.Errorf("this test host cannot check the scope %q: it knows patterns below the working directory, "+
			"of names, *, ? and **; give the test a manifest of its own with Host.Manifest", text)
	}
	var p scopePattern
	for _, part := range strings.Split(bare, "/") {
		switch part {
		case "", ".":
		case "..":
			return nil, fmt.Errorf("this test host cannot check the scope %q, which leads out of the working directory", text)
		default:
			p = append(p, part)
		}
	}
	if bare == text && len(p) == 1 && p[0] != "**" {
		p = append(scopePattern{"**"}, p...) // a name is meant at any depth
	}
	return p, nil
}

// covers reports whether a file is in the scope, by its name below the working directory.
func (p scopePattern) covers(name string, write bool) bool {
	last := p[len(p)-1]
	switch {
	case last == "**" && write:
		p = append(p[:len(p)-1:len(p)-1], "*", "**") // the directory itself is not in it
	case !strings.ContainsAny(last, "*?"):
		p = append(slices.Clip(p), "**") // a directory, with all that is in it
	}
	parts := strings.Split(name, "/")
	if name == "." {
		parts = nil
	}
	return matched(p, parts)
}

// covers reports whether a file is within the claim's scope.
func (c *claim) covers(name string, write bool) bool {
	for _, p := range c.scope {
		if p.covers(name, write) {
			return true
		}
	}
	return len(c.scope) == 0
}

// inScope refuses what is outside the scope of a claim, in the host's words.
func (s *session) inScope(c *claim, p string, write bool) error {
	if c == nil || len(c.scope) == 0 {
		return nil
	}
	name, err := s.host.within(p)
	if err == nil && c.covers(name, write) {
		return nil
	}
	return toolquay.Errorf(toolquay.CodeUndeclared, "%s is outside the scope %q that the manifest of %s gives %s", s.host.absolute(p), c.texts, s.tool, c.name)
}
