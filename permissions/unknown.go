package permissions

import (
	"fmt"
	"path"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// Unknown says which accesses a [Part] makes whose target is only known when it runs,
// because a variable, a substitution, a pattern or another user's home stands in it. The
// values are bits.
type Unknown uint8

// The accesses whose target is not known.
const (
	// UnknownRead is a path that is read.
	UnknownRead Unknown = 1 << iota
	// UnknownWrite is a path that is written, made or removed.
	UnknownWrite
	// UnknownMustAsk goes with UnknownWrite where no rule on the program allows the write:
	// the shell itself does it, or it is to a whole directory.
	UnknownMustAsk
	// UnknownHost is a host that is reached.
	UnknownHost

	// UnknownAll is what a program may do that is not known itself.
	UnknownAll = UnknownRead | UnknownWrite | UnknownHost
)

// UnknownOf is the bit of a kind of access; none for what is no path and no host.
func UnknownOf(kind AccessKind) Unknown {
	switch kind {
	case AccessRead:
		return UnknownRead
	case AccessWrite:
		return UnknownWrite
	case AccessNet:
		return UnknownHost
	}
	return 0
}

// unknown judges the accesses of a part whose targets nobody knows: each of them may be
// what a rule names. Grant is what allows the part besides the mode.
func (c *call) unknown(d *Decision, a *Access, p *Part, grant Finding) {
	if p.Unknown&UnknownRead != 0 {
		d.add(c.unknownTarget(a, "which file it reads", false))
	}
	if p.Unknown&UnknownWrite != 0 {
		d.add(c.unknownWrite(a, p, grant))
	}
}

// unknownTarget asks where a deny or ask rule on that kind of access exists, in every
// mode: the target may be what the rule names.
func (c *call) unknownTarget(a *Access, what string, write bool) (first, second Finding) {
	l := c.ladder(a)
	c.approval(&l, a)
	for _, v := range []Verdict{Deny, Ask} {
		if rule := c.policy.book.first(v, write); rule != nil {
			l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf(
				"%s is only known when it runs, and it may be what the %s rule %s (%s) names", what, v, rule, rule.Source)})
		}
	}
	return l.found()
}

// unknownWrite denies in plan mode. A redirection asks whatever allows the command, as
// nobody allowed the shell to write; so does what the text suggests to be a protected path.
func (c *call) unknownWrite(a *Access, p *Part, grant Finding) (first, second Finding) {
	const what = "which file it writes"
	why := what + " is only known when it runs"
	l := c.ladder(a)
	if c.policy.mode == ModePlan {
		l.add(Finding{Verdict: Deny, Layer: LayerMode, Why: "in plan mode nothing is changed, and " + why})
	}
	c.approval(&l, a)
	if f, _ := c.unknownTarget(a, what, true); f.Verdict == Ask {
		l.add(f)
	}
	if p.Unknown&UnknownMustAsk != 0 {
		c.must(&l, unjudged, LayerPath, why)
	}
	if place := c.policy.mentioned(a.Target); place != nil {
		c.must(&l, guardedEdit, layerOf(place), why+", and the command names a place that is guarded: "+place.Why)
	}
	l.add(grant)
	l.add(c.answer(editOutside, why))
	return l.found()
}

// mentioned returns a guarded place whose name stands in the text of a command, quotes
// and expansions left out. It is a guess at what an unknown path may be, and only ever
// makes a verdict stricter.
func (p *Policy) mentioned(text string) *protected.Place {
	names := strings.FieldsFunc(unexpanded.ReplaceAllString(text, ""), func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(";|&()<>{}=:,`$", r)
	})
	for _, name := range names {
		if strings.HasPrefix(name, "/dev/") {
			continue // most often where output is thrown away
		}
		if place := p.guards.Find(path.Join("/", name), true); place != nil {
			return place
		}
	}
	return nil
}

// unexpanded are quotes, backslashes, plain expansions and the beginnings of others: what
// may stand inside a name, or before it, without being in it.
var unexpanded = lazyregexp.New(`['"\\]|\$\w+|\$\{\w+(?:\}|:?[-+=?])`)
