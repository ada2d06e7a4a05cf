package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says what happens to what no rule speaks of.
type Mode string

// The modes.
const (
	// ModeDefault allows reads inside the working directories and read-only
	// commands, and asks for everything else.
	ModeDefault Mode = "default"
	// ModePlan is ModeDefault, but that edits are denied, whatever rules allow;
	// only [Layout.PlanFile] may be written.
	ModePlan Mode = "plan"
	// ModeAcceptEdits is ModeDefault, but that edits inside the working
	// directories are allowed.
	ModeAcceptEdits Mode = "acceptEdits"
	// ModeAuto is ModeAcceptEdits, but that a judge is asked before a person.
	// Over-broad allow rules are set aside: see [Policy.SetAside].
	ModeAuto Mode = "auto"
	// ModeBypass allows what no deny or ask rule, hook or tool check holds
	// back, protected paths and credential stores included.
	ModeBypass Mode = "bypassPermissions"
	// ModeDontAsk is ModeDefault, but that what would ask is denied.
	ModeDontAsk Mode = "dontAsk"
)

var allModes = []Mode{ModeDefault, ModePlan, ModeAcceptEdits, ModeAuto, ModeBypass, ModeDontAsk}

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); slices.Contains(allModes, m) {
		return m, nil
	}
	names := make([]string, len(allModes))
	for i, m := range allModes {
		names[i] = string(m)
	}
	last := len(names) - 1
	return "", fmt.Errorf("unknown mode %q; there are %s and %s", name, strings.Join(names[:last], ", "), names[last])
}

// byStrictness are the modes, the loosest first. Of the last two neither is the
// stricter: plan denies edits that rules allow, dontAsk denies what a person could
// allow.
var byStrictness = []Mode{ModeBypass, ModeAuto, ModeAcceptEdits, ModeDefault, ModePlan, ModeDontAsk}

// Stricter returns the mode that allows no more than either of two modes does. Plan
// and dontAsk come to ModePlan, and noAsk says that what asks must be denied too.
func (m Mode) Stricter(n Mode) (mode Mode, noAsk bool) {
	if m == ModePlan && n == ModeDontAsk || m == ModeDontAsk && n == ModePlan {
		return ModePlan, true
	}
	if slices.Index(byStrictness, m) < slices.Index(byStrictness, n) {
		return n, false
	}
	return m, false
}

// Unasked says in which modes commands that run wholly confined need no permission.
type Unasked string

// The values of Unasked. The empty one means UnaskedEdits.
const (
	// UnaskedEdits is the modes that allow edits: acceptEdits and auto.
	UnaskedEdits Unasked = "edits"
	// UnaskedAlways is the modes default and dontAsk, too.
	UnaskedAlways Unasked = "always"
	// UnaskedNever is none; such commands are judged as all others.
	UnaskedNever Unasked = "never"
)

// frees reports whether commands that run wholly confined need no permission.
func (p *modes) frees() bool {
	switch p.unasked {
	case UnaskedNever:
		return false
	case UnaskedAlways:
		return p.mode != ModePlan
	}
	return p.mode.answers(confined) == Allow
}

// OnlyReads reports whether a command that runs wholly confined, is not read-only by itself and
// is not free anyway is taken for one that only reads: it is to run where it can write nothing
// and reach no host.
func (p *Policy) OnlyReads(c *Command) bool {
	return c.ReadOnlyConfined && !c.ReadOnly && p.unasked != UnaskedNever && !p.frees()
}

// matter is what a mode is asked about.
type matter uint8

const (
	readInside matter = iota
	readOutside
	editInside
	editOutside
	planFile
	// confined is a command that runs wholly confined: see [Request].Confined.
	confined
	// other is commands, network, MCP and whatever else there is.
	other
	// guardedRead and guardedEdit are protected places and credential stores;
	// unjudged is a command that cannot be judged. Only a person lifts them.
	guardedRead
	guardedEdit
	unjudged
	// critical is what even bypassPermissions asks about: removing critical
	// paths and leaving the sandbox.
	critical
)

// byJudge is the answer that a judge gives, or a person if it has none.
const byJudge Verdict = 255

// modeAnswers is the table of modes: what each answers to what is left open.
// ModeDontAsk answers as ModeDefault; what asks is denied in the end.
var modeAnswers = [...]struct{ normal, plan, acceptEdits, auto, bypass Verdict }{
	//            default plan   edits  auto     bypass
	readInside:  {Allow, Allow, Allow, Allow, Allow},
	readOutside: {Ask, Ask, Ask, byJudge, Allow},
	editInside:  {Ask, Deny, Allow, Allow, Allow},
	editOutside: {Ask, Deny, Ask, byJudge, Allow},
	planFile:    {Ask, Allow, Ask, byJudge, Allow},
	confined:    {Ask, Ask, Allow, Allow, Allow},
	other:       {Ask, Ask, Ask, byJudge, Allow},
	guardedRead: {Ask, Ask, Ask, Ask, Allow},
	guardedEdit: {Ask, Deny, Ask, Ask, Allow},
	unjudged:    {Ask, Ask, Ask, Ask, Allow},
	critical:    {Ask, Ask, Ask, Ask, Ask},
}

// answers looks the mode's answer up in the table.
func (m Mode) answers(to matter) Verdict {
	row := &modeAnswers[to]
	switch m {
	case ModePlan:
		return row.plan
	case ModeAcceptEdits:
		return row.acceptEdits
	case ModeAuto:
		return row.auto
	case ModeBypass:
		return row.bypass
	}
	return row.normal
}
