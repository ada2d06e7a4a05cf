package protected

import (
	"path"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// Mentioned returns a place whose name stands in the text of a command, quotes and expansions
// left out. It is a guess at a path that is only known when the command runs, and may only make
// a verdict stricter.
func (p *Paths) Mentioned(text string) *Place {
	names := strings.FieldsFunc(unexpanded.ReplaceAllString(text, ""), func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(";|&()<>{}=:,`$", r)
	})
	for _, name := range names {
		if strings.HasPrefix(name, "/dev/") {
			continue // most often where output is thrown away
		}
		if place := p.Find(path.Join("/", name), true); place != nil {
			return place
		}
	}
	return nil
}

// unexpanded are quotes, backslashes, plain expansions and the beginnings of others: text inside
// a name, or before it, that is not part of it.
var unexpanded = lazyregexp.New(`['"\\]|\$\w+|\$\{\w+(?:\}|:?[-+=?])`)
