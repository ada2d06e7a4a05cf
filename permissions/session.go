package permissions

// The parts of a session whose use reaches beyond the session: the targets of accesses of
// [AccessSession] that modes answer as they answer to edits. Rules on the tool, a hook and a
// person allow them, and [ModePlan] denies them. All other parts are free in every mode.
const (
	// SessionWorktrees is making a work tree of git or removing one: judged as an edit in the
	// working directories, so that [ModeAcceptEdits] allows it.
	SessionWorktrees = "work trees"
	// SessionSchedule is changing what prompts come later: judged as an edit outside of them.
	SessionSchedule = "schedule"
)

// sessionMatter is what a mode is asked about the use of a part of the session; found is false
// of parts that are free.
func sessionMatter(part string) (to matter, found bool) {
	switch part {
	case SessionWorktrees:
		return editInside, true
	case SessionSchedule:
		return editOutside, true
	}
	return 0, false
}

// ChangesBeyond reports whether the access uses a part of the session that reaches beyond it.
func (a *Access) ChangesBeyond() bool {
	_, found := sessionMatter(a.Target)
	return a.Kind == AccessSession && found
}

// session judges the use of a part of the session.
func (c *call) session(a *Access, grant Finding) (first, second Finding) {
	to, found := sessionMatter(a.Target)
	l := c.ladder(a)
	if !found {
		l.add(Finding{Verdict: Allow, Layer: LayerMode, Why: "it stays within the session"})
		return l.found()
	}
	if c.policy.mode == ModePlan {
		l.add(Finding{Verdict: Deny, Layer: LayerMode, Why: "in plan mode nothing is changed"})
	}
	c.approval(&l, a)
	l.add(grant)
	l.add(c.answer(to, "it lasts beyond the session"))
	return l.found()
}
