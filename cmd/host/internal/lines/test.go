package lines

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// Call is a line for [Test]: a tool call and what it is judged by.
type Call struct {
	// Rules are the project's; Layers, if given, are used in their place.
	Rules  Rules            `json:"rules"`
	Layers map[string]Rules `json:"layers"`
	Mode   permissions.Mode `json:"mode"`
	Tool   string           `json:"tool"`
	Input  json.RawMessage  `json:"input"`
	// Cwd is the working directory and the project's root, Home the home.
	Cwd  string `json:"cwd"`
	Home string `json:"home"`
	Hook *struct {
		Decision permissions.Verdict `json:"permissionDecision"`
	} `json:"hook"`
	// Confined says that commands run in a sandbox, which hides from searches what rules
	// withhold, and those of Bash wholly confined: see [permissions.Request]. The history of
	// a repository stays unknown.
	Confined bool `json:"confined"`
	// Expect is the verdict that is right.
	Expect *permissions.Verdict `json:"expect"`
}

// Rules are the rules of one source.
type Rules struct {
	Deny  []string `json:"deny"`
	Ask   []string `json:"ask"`
	Allow []string `json:"allow"`
}

// Judgement is the answer to a [Call].
type Judgement struct {
	Verdict permissions.Verdict `json:"verdict"`
	Layer   permissions.Layer   `json:"layer"`
	// Rule and Source are empty where no rule decided.
	Rule   string `json:"rule"`
	Source string `json:"source"`
	Reason string `json:"reason"`
	// OK is there where the line said what to expect.
	OK *bool `json:"ok,omitempty"`
}

// layers are the names that sources of rules have in [Call.Layers].
var layers = map[string]permissions.SourceKind{
	"policy":        permissions.SourcePolicy,
	"command-line":  permissions.SourceCommandLine,
	"session":       permissions.SourceSession,
	"project-local": permissions.SourceProjectLocal,
	"local":         permissions.SourceProjectLocal,
	"project":       permissions.SourceProject,
	"user":          permissions.SourceUser,
}

// Test reads calls and writes how they are judged; at is where lines that do
// not say are. Rules and calls may name the tools by their aliases. It returns how many lines had another verdict than they expected,
// or could not be answered; only reading and writing fail.
func Test(in io.Reader, out io.Writer, at host.CommandPlace, tools *Toolset) (failed int, err error) {
	t := tester{at: at, tools: tools, policies: make(map[string]*permissions.Policy)}
	wrong := 0
	failed, err = each(in, out, func(line []byte) (any, error) {
		j, err := t.answer(line)
		if err == nil && j.OK != nil && !*j.OK {
			wrong++
		}
		return j, err
	})
	return failed + wrong, err
}

// tester keeps the policies of the lines before: most come with the same.
type tester struct {
	at       host.CommandPlace
	tools    *Toolset
	policies map[string]*permissions.Policy
}

// maxPolicies bounds the policies kept.
const maxPolicies = 256

func (t *tester) answer(line []byte) (Judgement, error) {
	c := Call{Cwd: t.at.Cwd, Home: t.at.Home}
	if err := abi.Unmarshal(line, &c); err != nil {
		return Judgement{}, err
	}
	if c.Tool == "" {
		return Judgement{}, errors.New(`it has no "tool"`)
	}
	if err := checkPlace(c.Cwd, c.Home); err != nil {
		return Judgement{}, err
	}
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	policy, err := t.policy(&c)
	if err != nil {
		return Judgement{}, err
	}
	r, err := t.tools.Request(c.Tool, c.Input, host.CommandPlace{Cwd: c.Cwd, Home: c.Home})
	if err != nil {
		return Judgement{}, err
	}
	if c.Confined {
		_, all := policy.Readable()
		r.Clear, r.Confined = hidden(policy, r.Commands), !all && shells[r.Tool] == abi.ShellBash
	}
	var e permissions.Evidence
	if c.Hook != nil {
		e.Hook = &permissions.HookAnswer{Verdict: c.Hook.Decision, Reason: "the hook says so"}
	}
	return judgement(permissions.Decide(policy, r, e), c.Expect), nil
}

// hidden are the trees in which a sandbox hides from commands all that rules withhold.
func hidden(policy *permissions.Policy, commands []permissions.Command) []permissions.Access {
	return slices.DeleteFunc(policy.Searched(commands), func(a permissions.Access) bool {
		matches := a.Glob != "" && !strings.HasSuffix(a.Glob, "/**") // which are named
		return matches || a.Former != "" || !policy.SandboxPolicy(nil).HidesIn(a.Target, a.Real, a.Glob) ||
			slices.ContainsFunc(commands, func(c permissions.Command) bool { return !c.Foreseen(a, true, policy.OnlyReads(&c)) })
	})
}

func judgement(d permissions.Decision, expect *permissions.Verdict) Judgement {
	j := Judgement{Verdict: d.Verdict, Layer: d.Layer, Reason: d.Reason()}
	if d.Rule != nil {
		j.Rule, j.Source = d.Rule.String(), d.Rule.Source.String()
	}
	if expect != nil {
		ok := *expect == d.Verdict
		j.OK = &ok
	}
	return j
}

// policy compiles the rules of a line.
func (t *tester) policy(c *Call) (*permissions.Policy, error) {
	sets, err := c.sets()
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal([]any{c.Cwd, c.Home, c.Mode, c.Layers, c.Rules})
	if err != nil {
		return nil, err
	}
	if p := t.policies[string(key)]; p != nil {
		return p, nil
	}
	p, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: c.Cwd}, Home: permissions.Dir{Path: c.Home}},

		Mode:  c.Mode,
		Rules: sets,

		Aliases: t.tools.aliases,
		Tools:   permissions.ToolsOf(sets, t.tools.lookup),
	})
	if err != nil {
		return nil, err
	}
	if len(t.policies) >= maxPolicies {
		clear(t.policies)
	}
	t.policies[string(key)] = p
	return p, nil
}

func (c *Call) sets() ([]permissions.RuleSet, error) {
	if c.Layers == nil {
		return []permissions.RuleSet{ruleSet(permissions.SourceProject, c.Rules)}, nil
	}
	var sets []permissions.RuleSet
	for name, rules := range c.Layers {
		kind, ok := layers[name]
		if !ok {
			return nil, fmt.Errorf("layers: there is no layer %q; there are policy, command-line, session, project-local, project and user", name)
		}
		sets = append(sets, ruleSet(kind, rules))
	}
	return sets, nil
}

func ruleSet(kind permissions.SourceKind, r Rules) permissions.RuleSet {
	return permissions.RuleSet{
		Source: kind,
		Deny:   permissions.RuleTexts(r.Deny...),
		Ask:    permissions.RuleTexts(r.Ask...),
		Allow:  permissions.RuleTexts(r.Allow...),
	}
}

// checkPlace refuses directories that paths cannot be relative to.
func checkPlace(cwd, home string) error {
	for what, dir := range map[string]string{"cwd": cwd, "home": home} {
		if dir == "" && what == "home" {
			continue
		}
		if !strings.HasPrefix(dir, "/") || path.Clean(dir) != dir {
			return fmt.Errorf("%s: %q is not an absolute, clean path", what, dir)
		}
	}
	return nil
}
