package permissions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions/internal/commandrule"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/toolrule"
)

// ParseRule reads a rule. A warning says which part is not understood as its writer may have meant;
// the rule is then stricter than written. A deny or ask rule without an error binds at least what
// it says. The fields of tools are not known here: [Compile] knows them from [Setup.Tools].
func ParseRule(v Verdict, text string, src Source, aliases map[string]string) (r Rule, warning string, err error) {
	return parseRule(v, text, src, aliases, nil)
}

func parseRule(v Verdict, text string, src Source, aliases map[string]string, known tools) (r Rule, warning string, err error) {
	r = Rule{Verdict: v, Source: src, text: strings.TrimSpace(text)}
	tool, spec, err := cutRule(r.text)
	if err != nil {
		return r, "", err
	}
	r.Tool, r.Spec = tool, spec
	if to, ok := aliases[tool]; ok {
		r.Tool = to
	}
	if r.name, err = toolrule.ParseName(r.Tool, v == Allow); err != nil {
		return r, "", err
	}
	if spec == "" {
		r.bindWhole()
		return r, "", nil
	}
	if to, ok := fileTools[r.Tool]; ok {
		warning, err = r.bindPath(to, known[r.Tool])
		return r, warning, err
	}
	if field, ok := callers[r.Tool]; ok && !known[r.Tool].says(r.Spec) {
		r.param, err = toolrule.Calls(field, r.Spec, v != Allow)
		return r, "", err
	}
	warning, err = r.bindSpec(known[r.Tool])
	return r, warning, err
}

// callers lists the tools that call something by its name, and the field that has it: rules on
// them name that.
var callers = map[string]string{"Skill": "skill"}

// says reports whether a spec is one on a field of the tool, such as args:*.
func (t *Tool) says(spec string) bool {
	name, _, ok := strings.Cut(spec, ":")
	return ok && t != nil && t.hasParam(name)
}

// cutRule splits Tool(spec). Tool and Tool(*) are the same.
func cutRule(text string) (tool, spec string, err error) {
	tool, spec, ok := strings.Cut(text, "(")
	if !ok {
		if strings.Contains(text, ")") {
			return "", "", errors.New("a ) without its (")
		}
		if text == "" {
			return "", "", errors.New("the rule is empty")
		}
		return text, "", nil
	}
	spec, ok = strings.CutSuffix(spec, ")")
	switch {
	case !ok:
		return "", "", errors.New("a ( without its ) at the end")
	case spec == "":
		return "", "", errors.New("nothing between the parentheses; leave them out to mean the whole tool")
	case spec == "*":
		spec = ""
	}
	return tool, spec, nil
}

// The tools whose rules speak of paths, whichever tool gets there.
const (
	toolRead = "Read"
	toolEdit = "Edit"
)

// fileTools lists the tools that take paths, and the one whose path rules
// count for them.
var fileTools = map[string]string{
	toolRead: toolRead, "Glob": toolRead, "Grep": toolRead, "LS": toolRead, "NotebookRead": toolRead,
	toolEdit: toolEdit, "Write": toolEdit, "MultiEdit": toolEdit, "NotebookEdit": toolEdit,
}

// bindWhole binds calls of the tool. Denied or asked for as a whole, Read, Edit,
// Bash and WebFetch also bind every access of their kind, as Read(*) reads.
func (r *Rule) bindWhole() {
	r.whole = true
	if r.Verdict == Allow {
		return
	}
	switch r.Tool {
	case toolRead, toolEdit:
		r.path = pathrule.Everything
		r.effects(r.Tool)
	case toolBash:
		r.command, r.everyTool = commandrule.Everything, true
	case toolWebFetch:
		r.host, r.everyTool = hosts.Every, true
	}
}

// effects sets which accesses the path binds. A path that may not be read may not be edited
// either.
func (r *Rule) effects(tool string) {
	r.reads = tool == toolRead
	r.writes = tool == toolEdit || r.Verdict != Allow
}

// bindPath binds a path rule, written with any file tool; to is Read or Edit.
func (r *Rule) bindPath(to string, known *Tool) (warning string, err error) {
	spec, err := pathrule.Parse(r.Spec)
	if err != nil {
		return "", err
	}
	if r.Tool != to && r.Verdict == Allow {
		return fmt.Sprintf("it grants nothing: rules on paths are written %s(%s)", to, r.Spec), nil
	}
	r.path = spec
	r.effects(to)
	switch {
	case r.bindParam(known):
		return "it may also mean a parameter, and binds both; write ./ before a path with a colon", nil
	case r.Tool != to:
		return fmt.Sprintf("it counts as %s(%s)", to, r.Spec), nil
	}
	return "", nil
}

// bindParam binds calls with a field of the input, where the rule can mean that.
func (r *Rule) bindParam(known *Tool) bool {
	if r.Verdict == Allow || !toolrule.IsField(r.Spec) {
		return false
	}
	p := toolrule.ParseField(r.Spec)
	if !known.hasParam(p.Name) {
		return false
	}
	p.Blind = known == nil && r.Tool != toolBash && r.Tool != toolPowerShell && (r.Tool != toolWebFetch || r.host == nil)
	r.param = p
	return true
}

// bindSpec binds the text between the parentheses of a tool that takes no paths. If the tool is not
// known, a deny or ask is read in every way.
func (r *Rule) bindSpec(known *Tool) (warning string, err error) {
	strict := r.Verdict != Allow
	anything := known == nil && strict
	domain, isDomain := strings.CutPrefix(r.Spec, "domain:")
	switch {
	case isDomain && (r.Tool == toolWebFetch || known.takes(abi.FieldHost)):
		if r.host, err = hosts.ParsePattern(domain); err != nil {
			return "", err
		}
		r.everyTool = strict && r.Tool == toolWebFetch
	case r.Tool == toolBash || r.Tool == toolPowerShell || known.takes(abi.FieldCommand):
		if warning, err = r.bindCommand(); err != nil {
			return "", err
		}
	case anything && isDomain:
		r.host, _ = hosts.ParsePattern(domain) // the rule is as good without it
	case anything:
		r.command, _ = commandrule.Parse(r.Spec)
	}
	if r.bindParam(known) || r.understood(known) {
		return warning, nil
	}
	if hint := caseHint(r.Tool); hint != "" {
		warning = fmt.Sprintf("names are case-sensitive; the tool is called %s. ", hint)
	}
	switch {
	case !strict && toolrule.IsField(r.Spec) && !isDomain:
		return warning + "it grants nothing: a rule on a parameter can only deny or ask", nil
	case !strict:
		return warning + "it grants nothing: what is in the parentheses is not understood for this tool", nil
	}
	r.whole = true
	return warning + fmt.Sprintf(
		"it binds every call of %s: what is in the parentheses is not understood for this tool", r.Tool), nil
}

// understood reports whether the rule means what is bound. For a tool that is
// not known that is a guess.
func (r *Rule) understood(known *Tool) bool {
	return (r.command != nil || r.host != nil) &&
		(known != nil || r.Tool == toolBash || r.Tool == toolPowerShell || r.Tool == toolWebFetch)
}

// bindCommand binds a rule on commands.
func (r *Rule) bindCommand() (warning string, err error) {
	p, err := commandrule.Parse(r.Spec)
	if err != nil {
		return "", err
	}
	r.command = p
	if r.Verdict != Allow {
		r.everyTool = r.Tool == toolBash
		if p.Compound {
			return "it binds commands that are written just so; a rule on one of the simple commands in it binds that wherever it stands", nil
		}
		return "", nil
	}
	switch {
	case p.Compound && p.Open():
		return "it grants nothing: a wildcard cannot speak of several commands, redirections or variables; write a rule for each command", nil
	case p.Open() && p.OnlyRunners():
		return fmt.Sprintf("it grants nothing: what runs other commands, as %s does, is allowed by no rule with a wildcard", p.Program()), nil
	}
	return "", nil
}

// caseHint is the tool's name where only its letters' case differs.
func caseHint(tool string) string {
	for _, name := range []string{toolBash, toolPowerShell, toolWebFetch} {
		if name != tool && strings.EqualFold(name, tool) {
			return name
		}
	}
	for name := range fileTools {
		if name != tool && strings.EqualFold(name, tool) {
			return name
		}
	}
	return ""
}
