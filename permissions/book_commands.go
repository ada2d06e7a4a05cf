package permissions

import "github.com/toolquay/toolquay/permissions/internal/commandrule"

// commandRules are the rules on commands.
type commandRules struct {
	commands byVerdict
	// outside are the commands that may leave the sandbox.
	outside []*Rule
}

// allowPart returns the first rule that allows a part of a command; narrow ignores over-broad
// ones.
func (b *commandRules) allowPart(q *Request, part *Part, narrow bool) *Rule {
	for _, rule := range b.commands[Allow] {
		if rule.speaksOf(part) && rule.names(q) && (!narrow || !rule.overBroad()) {
			return rule
		}
	}
	return nil
}

// allowText returns the first rule that is the whole text of a command.
func (b *commandRules) allowText(q *Request, text string) *Rule {
	for _, rule := range b.commands[Allow] {
		if rule.command.IsText(text) && rule.names(q) {
			return rule
		}
	}
	return nil
}

// heldWords returns the first deny or ask rule that matches words, and the first
// that may match them.
func (b *commandRules) heldWords(v Verdict, q *Request, words []Word, fold bool) (rule, maybe *Rule) {
	l := commandrule.Line{Words: words, Fold: fold}
	for _, r := range b.commands[v] {
		match, may := r.command.HoldsBack(&l)
		if (match || may && maybe == nil) && (r.everyTool || r.names(q)) {
			if match {
				return r, maybe
			}
			maybe = r
		}
	}
	return nil, maybe
}

// heldText returns the first deny or ask rule that covers the whole text of a command.
func (b *commandRules) heldText(v Verdict, q *Request, text string, fold bool) *Rule {
	for _, r := range b.commands[v] {
		if (r.command.IsText(text) || r.command.Compound && r.command.HoldsBackText(text, fold)) &&
			(r.everyTool || r.names(q)) {
			return r
		}
	}
	return nil
}
