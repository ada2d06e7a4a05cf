package permissions

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/commandrule"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// examples tries rules on the examples that their writers gave.
type examples struct {
	*reading
	places *places
}

// check holds a rule to its examples.
func (p *examples) check(r *Rule, text RuleText) error {
	for _, list := range []struct {
		examples []string
		want     bool
		failed   string
	}{
		{text.Match, true, "the example %q is to match and does not"},
		{text.NotMatch, false, "the example %q is not to match and does"},
	} {
		for _, example := range list.examples {
			matched, err := p.matches(r, example)
			if err != nil {
				return fmt.Errorf("the example %q cannot be tried: %w", example, err)
			}
			if matched != list.want {
				return fmt.Errorf(list.failed, example)
			}
		}
	}
	return nil
}

// matches reports whether a rule by itself covers a call, which is written like the rule, or as
// the text between the parentheses.
func (p *examples) matches(r *Rule, example string) (bool, error) {
	tool, subject := r.Tool, example
	if name, rest, ok := strings.Cut(example, "("); ok && strings.HasSuffix(rest, ")") && p.isTool(r, name) {
		tool, subject = name, strings.TrimSuffix(rest, ")")
	} else if r.Spec == "" {
		tool = example
	}
	if to, ok := p.aliases[tool]; ok {
		tool = to
	}
	q := Request{Tool: tool}
	named := r.names(&q)
	switch {
	case r.whole && named:
		return true, nil
	case subject == "":
		return false, errors.New("there is nothing in it")
	case r.path != nil && p.matchesPath(r, tool, subject):
		return true, nil
	case r.host != nil && (r.everyTool || named) && matchesHost(r, subject):
		return true, nil
	case r.param != nil && named && r.param.MatchText(subject):
		return true, nil
	case r.command != nil && (r.everyTool || named):
		return p.matchesCommand(r, subject)
	}
	return false, nil
}

func (p *examples) isTool(r *Rule, name string) bool {
	_, file := fileTools[name]
	_, alias := p.aliases[name]
	_, known := p.tools[name]
	return file || alias || known || name == toolBash || name == toolWebFetch || r.names(&Request{Tool: name})
}

func (p *examples) matchesPath(r *Rule, tool, subject string) bool {
	switch rest, home := strings.CutPrefix(subject, "~/"); {
	case home:
		subject = path.Join(p.places.home.Path, rest)
	case !strings.HasPrefix(subject, "/"):
		subject = path.Join(p.places.start.Path, subject)
	}
	subject = path.Clean(subject)
	q := pathrule.Query{Target: subject, Real: subject, Write: fileTools[tool] == toolEdit}
	b := newBook([]*Rule{r}, p.places)
	if r.Verdict == Allow {
		return b.allow(&q, subject) != nil
	}
	return b.holdsBack(r.Verdict, &q) != nil
}

func matchesHost(r *Rule, subject string) bool {
	h := hosts.Of(subject)
	if r.Verdict == Allow {
		return r.host.Allows(&h)
	}
	return r.host.HoldsBack(&h)
}

func (p *examples) matchesCommand(r *Rule, subject string) (bool, error) {
	cmd, err := p.command(subject)
	if err != nil {
		return false, err
	}
	if r.command.IsText(subject) || r.Verdict != Allow && r.command.Compound && r.command.HoldsBackText(subject, false) {
		return true, nil
	}
	allowed := len(cmd.Parts) > 0
	for i := range cmd.Parts {
		part := &cmd.Parts[i]
		if match, _ := r.command.HoldsBack(&commandrule.Line{Words: part.Words}); match && r.Verdict != Allow {
			return true, nil
		}
		allowed = allowed && (part.Inner || r.speaksOf(part))
	}
	return allowed && r.Verdict == Allow, nil
}

// command reads a command, or only simple commands if the setup has no Analyse.
func (p *examples) command(text string) (Command, error) {
	if p.analyse != nil {
		return p.analyse(text), nil
	}
	words, compound, err := shellword.Split(text)
	if err != nil {
		return Command{}, err
	}
	if compound {
		return Command{}, errors.New("it is more than one simple command")
	}
	part := Part{}
	for _, w := range words {
		if shellword.IsAssignment(w.Raw) && len(part.Words) == 0 {
			part.Env = append(part.Env, w.Raw)
			continue
		}
		word := Word{Text: w.Text, Literal: !w.Expands && (w.Raw != w.Text || !strings.ContainsAny(w.Raw, "*?[{~"))}
		if !word.Literal {
			word.Text = w.Raw
		}
		part.Words = append(part.Words, word)
	}
	return Command{Text: text, Parts: []Part{part}}, nil
}
