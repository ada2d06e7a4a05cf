package toolrule

import (
	"errors"
	"strings"
)

// called is what a rule such as Skill(name) or Skill(name:*) names.
type called struct {
	name string
	// below says that what is named name:REST is meant too.
	below bool
	// wide says that the rule binds in every reading: what holds back name holds back SOURCE:name.
	wide bool
}

// Calls makes the part of a rule that covers calls by what a field of the input names: NAME, or
// with NAME:* all that is called NAME:REST, too. The value may begin with a slash, and have arguments behind
// it. A wide rule, which is one that holds back, covers NAME of every source.
func Calls(field, spec string, wide bool) (*Field, error) {
	name, below := strings.CutSuffix(spec, ":*")
	name = strings.TrimPrefix(name, "/")
	if name == "" || strings.ContainsAny(name, "* \t\n") {
		return nil, errors.New("it names nothing: write the name, or the name and :*")
	}
	return &Field{Name: field, called: &called{name, below, wide}}, nil
}

// match compares the name that a text begins with.
func (c *called) match(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	name := strings.TrimPrefix(words[0], "/")
	for {
		if name == c.name || c.below && strings.HasPrefix(name, c.name+":") {
			return true
		}
		_, rest, found := strings.Cut(name, ":")
		if !found || !c.wide {
			return false
		}
		name = rest
	}
}
