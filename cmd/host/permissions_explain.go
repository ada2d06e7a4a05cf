package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/lines"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/permissions"
)

func permissionsExplainCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain TOOL [JSON|-]",
		Short: "Say what a call would come to, and why, without running it",
		Long: `Explain judges a tool call as it would be judged here and now, by your settings,
the project's and the flags, and shows the chain: what denies, what must ask, what
allows, what the mode says; the rule that decided with its file and line, what
would have stood without it, and the smallest rules that would allow the call.

Hooks are not run, and nobody is asked; what asks is shown to ask, unless
--approval never says that nobody could be. A tool that this host does not have is
judged by what is known of the usual tools of that name.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explainCall(cmd.Context(), a, args[0], append(args[1:], "{}")[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func explainCall(ctx context.Context, a *app, tool, input string, asJSON bool) error {
	src, err := a.input(ctx, tool, input)
	if err != nil {
		return err
	}
	o, err := a.open(ctx, func(s *setup) {
		if a.flags.approval != approveNever {
			s.session.Asker = approvals.Deny("nobody is asked to explain a call")
		}
	})
	if err != nil {
		return err
	}
	defer o.close()
	x, err := o.session.Explain(ctx, abi.ToolUse{ID: "1", Name: tool, Input: src})
	if abi.CodeOf(err) == abi.CodeUnknownTool {
		x, err = explainUnknown(a, o, tool, src)
	}
	if err != nil {
		return usageError("%w", err)
	}
	if asJSON {
		return a.printJSON(explanationOf(&x))
	}
	showExplanation(a, &x)
	return nil
}

// explainUnknown judges a call of a tool that this host does not have.
func explainUnknown(a *app, o *opened, tool string, src json.RawMessage) (permissions.Explanation, error) {
	at := host.CommandPlace{Cwd: filepath.ToSlash(o.session.Cwd()), Home: filepath.ToSlash(o.dirs.Home)}
	r, err := lines.NewToolset(nil).Request(tool, src, at)
	if err != nil {
		return permissions.Explanation{}, err
	}
	return permissions.Explain(o.session.Policy(), r, permissions.Evidence{}), nil
}

// explanation is what explain --json prints.
type explanation struct {
	Verdict  permissions.Verdict `json:"verdict"`
	Decided  opinion             `json:"decided"`
	RunnerUp *opinion            `json:"runner_up,omitempty"`
	Chain    []step              `json:"chain"`
	// Remedy are the allow rules that would let the call pass.
	Remedy []string `json:"remedy,omitempty"`
	// Outside are the entries of outside in [sandbox] that would, with the remedy, let a call
	// pass that asks to leave the sandbox.
	Outside []string `json:"outside,omitempty"`
}

type step struct {
	Name     string    `json:"name"`
	Findings []opinion `json:"findings"`
}

type opinion struct {
	Verdict permissions.Verdict `json:"verdict"`
	Layer   permissions.Layer   `json:"layer"`
	Rule    string              `json:"rule,omitempty"`
	Source  string              `json:"source,omitempty"`
	Matched string              `json:"matched,omitempty"`
	Reason  string              `json:"reason"`
}

func opinionOf(f *permissions.Finding) opinion {
	out := opinion{Verdict: f.Verdict, Layer: f.Layer, Reason: f.Reason()}
	if f.Rule != nil {
		out.Rule, out.Source = f.Rule.String(), f.Rule.Source.String()
	}
	if f.Access != (permissions.Access{}) {
		out.Matched = f.Access.String()
	}
	return out
}

func explanationOf(x *permissions.Explanation) explanation {
	out := explanation{Verdict: x.Decision.Verdict, Decided: opinionOf(&x.Decision.Finding), Remedy: x.Remedy}
	if x.Leave != nil {
		out.Remedy, out.Outside = x.Leave.Rules, x.Leave.Outside
	}
	if x.Decision.RunnerUp.Verdict != permissions.None {
		f := opinionOf(&x.Decision.RunnerUp)
		out.RunnerUp = &f
	}
	for _, s := range x.Chain {
		found := step{Name: s.Name, Findings: []opinion{}}
		for i := range s.Findings {
			found.Findings = append(found.Findings, opinionOf(&s.Findings[i]))
		}
		out.Chain = append(out.Chain, found)
	}
	return out
}

func showExplanation(a *app, x *permissions.Explanation) {
	d := &x.Decision
	a.out.Line(ui.Span{Style: verdictStyle(d.Verdict), Text: d.Verdict.String()}, ui.Span{Text: "  " + d.Matched()})
	showFinding(a, "  decided by  ", &d.Finding)
	if d.RunnerUp.Verdict != permissions.None {
		showFinding(a, "  or else     ", &d.RunnerUp)
	}
	a.out.Printf("\nThe chain, the strongest first:\n")
	for _, s := range x.Chain {
		head := "  " + s.Name + strings.Repeat(" ", max(0, 12-len(s.Name)))
		if len(s.Findings) == 0 {
			a.out.Line(ui.Span{Style: ui.Dim, Text: head + "-"})
		}
		for i := range s.Findings {
			showFinding(a, head, &s.Findings[i])
			head = strings.Repeat(" ", len(head))
		}
	}
	switch {
	case d.Verdict == permissions.Allow:
	case x.Leave != nil:
		a.out.Printf("\nThis would let it pass: %s\n", x.Leave)
	case len(x.Remedy) > 0:
		a.out.Printf("\nThese allow rules would let it pass: %s\n", strings.Join(x.Remedy, ", "))
	default:
		a.out.Printf("\nNo allow rule would let it pass.\n")
	}
}

// showFinding prints one opinion, and on what.
func showFinding(a *app, head string, f *permissions.Finding) {
	text := f.Verdict.String() + ": " + f.Reason()
	if f.Rule == nil {
		text += " (" + string(f.Layer) + ")"
	}
	if f.Access != (permissions.Access{}) {
		text += "\n" + f.Access.String()
	}
	a.out.Block(ui.Plain, head, text)
}
