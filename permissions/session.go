package permissions

// The parts of a session whose use reaches beyond the session: the targets of accesses of
// [AccessSession] that modes answer as they answer to edits. Rules on the tool, a hook and a
// person allow them, and [ModePlan] denies them. All other parts are free in every mode.
const (
	// SessionWorktrees is making a worktree of git or removing one: judged as an edit in the
	// working directories, so that [ModeAcceptEdits] allows it.
	SessionWorktrees = "worktrees"
	// SessionUnsaved is removing a worktree with files or commits that are nowhere else: judged as
	// an edit outside of the working directories, as no history brings them back.
	SessionUnsaved = "unsaved work"
	// SessionSchedule is changing what prompts come later: judged as an edit outside of them.
	SessionSchedule = "schedule"
	// SessionPrompts is asking an MCP server for one of its prompts, which sends it the arguments:
	// judged as a call of a server's tool, so that [ModePlan] asks, too.
	SessionPrompts = "prompts of MCP servers"
)

// sessionMatter is what a mode is asked about the use of a part of the session; found is false
// of parts that are free.
func sessionMatter(part string) (to matter, found bool) {
	switch part {
	case SessionWorktrees:
		return editInside, true
	case SessionSchedule, SessionUnsaved:
		return editOutside, true
	case SessionPrompts:
		return other, true
	}
	return 0, false
}

// ChangesBeyond reports whether the access changes what reaches beyond the session.
func (a *Access) ChangesBeyond() bool {
	to, found := sessionMatter(a.Target)
	return a.Kind == AccessSession && found && to != other
}

// session judges the use of a part of the session.
func (c *call) session(a *Access, grant Finding) (first, second Finding) {
	to, found := sessionMatter(a.Target)
	l := c.ladder(a)
	if !found {
		l.add(Finding{Verdict: Allow, Layer: LayerMode, Why: "it stays within the session"})
		return l.found()
	}
	if c.policy.mode == ModePlan && to != other {
		l.add(Finding{Verdict: Deny, Layer: LayerMode, Why: "in plan mode nothing is changed"})
	}
	c.approval(&l, a)
	l.add(grant)
	l.add(c.answer(to, "it reaches beyond the session"))
	return l.found()
}
