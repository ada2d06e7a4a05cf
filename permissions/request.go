package permissions

import "encoding/json"

// Stage says which of the two gates asks.
type Stage uint8

// The gates.
const (
	// StageCall is before a tool call starts.
	StageCall Stage = iota
	// StageCapability is a capability call of a running tool: its accesses are
	// those of its plan, and they are all there is.
	StageCapability
)

// Effects says how much of what a call does is known before it starts.
type Effects uint8

// The answers, the least known first.
const (
	// EffectsUnknown is a tool that acts out of the host's sight, such as an
	// MCP server's or an embedder's. Starting it is judged as an effect of
	// unknown kind, besides the accesses listed.
	EffectsUnknown Effects = iota
	// EffectsListed means that the accesses are everything the call does.
	EffectsListed
	// EffectsGated is a plugin, which can touch nothing but through capability
	// calls: whatever the list lacks comes back at [StageCapability] and is
	// judged there, so starting it needs no permission of its own. It is the
	// answer for tools whose manifest names no fields.
	EffectsGated
)

// Check is a tool's own verdict on a call.
type Check uint8

// The checks. From a plugin that is not built in, an allow counts as none.
const (
	CheckNone Check = iota
	CheckAllow
	CheckAsk
	CheckDeny
	// CheckPassthrough asks unless a rule allows the tool.
	CheckPassthrough
)

// ParseCheck reads the verdict of an assessment. What it does not know asks.
func ParseCheck(verdict string) Check {
	switch verdict {
	case "":
		return CheckNone
	case "allow":
		return CheckAllow
	case "deny":
		return CheckDeny
	case "passthrough":
		return CheckPassthrough
	}
	return CheckAsk
}

// Origin is where a tool comes from.
type Origin struct {
	// Plugin is the plugin's name; empty for tools of the embedder.
	Plugin string
	// Builtin marks what ships with the host.
	Builtin bool
	// Server and Tool are the MCP server's name and its own name for the tool,
	// on record; empty for others. Where they are set, rules are compared with
	// them, and the tool's whole name is never taken apart.
	Server, Tool string
}

// Request is what is to be judged: a tool call, or one capability call of it.
type Request struct {
	Stage Stage
	// Tool is the tool's name and Aliases its other names: rules written with
	// one bind the tool.
	Tool    string
	Aliases []string
	Origin  Origin
	// InputHash names the exact input and tool definition; approvals are bound
	// to it. Any encoding will do.
	InputHash string
	// Input is the call's input, for rules on its fields: a JSON object. Where
	// it is not given, deny and ask rules on fields match.
	Input json.RawMessage
	// Accesses are the effects that are known, resolved.
	Accesses []Access
	// Protected are paths, with all below, that ask before they are changed, besides
	// those that are guarded by their names: see [Policy.GitAround].
	Protected []string
	// Clear are trees among the accesses in which a command meets nothing that a deny
	// or ask rule on reading names, as the host found out: see [Policy.Searched].
	Clear []Access
	// Confined says that the commands run wholly confined, unless they ask to leave the
	// sandbox: of files they see only system directories, tools' caches, what may be read
	// unasked and what this call was approved for, nothing that deny or ask rules on reading
	// name; they write to working directories, scratch and caches only, and to no protected
	// path there; they reach no socket of the machine and no hosts but those that rules
	// allow.
	Confined bool
	// Commands are what is known of the commands among the accesses. An exec
	// access is judged by the one whose Text is its Target. What [Command.Accesses]
	// lists, in that order, behind it is judged with the parts it is of.
	Commands []Command
	// Effects says what else there may be. It is not asked at StageCapability.
	Effects Effects
	// ToolCheck is the tool's own verdict, and CheckReason what it says of that, fit to be shown.
	ToolCheck   Check
	CheckReason string
	// Headless says that nobody can be asked: ask becomes deny.
	Headless bool
}

// Evidence is what the host found out about a request elsewhere. The zero value
// is none.
type Evidence struct {
	// Hook is the joined answer of the hooks that ran.
	Hook *HookAnswer
	// Approval is a person's yes to this very call.
	Approval *Approval
	// Judge is what a judge said, for ModeAuto.
	Judge *JudgeAnswer
}

// JudgeAnswer is what a judge of calls said. It counts in [ModeAuto] only, for
// what only a judge or a person is left to answer.
type JudgeAnswer struct {
	// InputHash must equal the request's, and not be empty: a judge may have
	// been asked about an input that was rewritten since.
	InputHash string
	// Verdict is None where the judge cannot tell.
	Verdict Verdict
	Reason  string
}

// covers reports whether the answer is for this request.
func (a *JudgeAnswer) covers(r *Request) bool {
	return a != nil && a.InputHash != "" && a.InputHash == r.InputHash
}

// HookAnswer is what hooks said. A hook that failed is an Ask.
type HookAnswer struct {
	Verdict Verdict
	Reason  string
}

// Approval is a person's yes. It stands for what would ask, never against a
// deny.
type Approval struct {
	// InputHash must equal the request's, and not be empty.
	InputHash string
	// Accesses are those that were shown; others ask again.
	Accesses []Access
}

// covers reports whether the approval is for this request.
func (a *Approval) covers(r *Request) bool {
	return a != nil && a.InputHash != "" && a.InputHash == r.InputHash
}

// Need says what evidence a decision lacks. Needs are bits.
type Need uint8

const (
	// NeedRealPath means that an access has no [Access.Real]: resolve it and
	// ask again.
	NeedRealPath Need = 1 << iota
	// NeedJudge means that a judge's answer would decide.
	NeedJudge
)

// command finds what is known of a command.
func (r *Request) command(text string) *Command {
	for i := range r.Commands {
		if cmd := &r.Commands[i]; cmd.Text == text {
			return cmd
		}
	}
	return nil
}
