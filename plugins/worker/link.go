package worker

import "context"

// link is what a call leaves in the context of its capability calls: the chain
// of isolated plugins that it was made through.
type link struct {
	module *module
	parent *link
}

type linkKey struct{}

func linkOf(ctx context.Context) *link {
	l, _ := ctx.Value(linkKey{}).(*link)
	return l
}

func (l *link) has(m *module) bool {
	for ; l != nil; l = l.parent {
		if l.module == m {
			return true
		}
	}
	return false
}
