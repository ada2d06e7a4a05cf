package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/permissions"
)

func approvalsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "Answer questions that were kept for later",
		Long: `With --approval later a call that must be approved ends with needs_approval and the
question is kept. Approvals lists what waits; allow and deny answer one, also hours
later and from another terminal; resume runs its call again, in the session,
directory and mode that it was asked in, with the answer; of that mode and --mode
the stricter counts. An answer holds for exactly the call that was shown, once.
What else a tool asks, such as a form, a choice or to accept a plan, is kept and
answered the same way: allow asks it at the terminal, or takes --content, or for a
form --field.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listApprovals(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.AddCommand(approvalShowCommand(a), approvalAllowCommand(a), approvalDenyCommand(a), approvalForgetCommand(a), approvalResumeCommand(a))
	return cmd
}

func openApprovals() (*approvals.Store, error) {
	dir := userDirs().Approvals()
	if dir == "" {
		return nil, hostError(errors.New("there is no place for approvals: neither HOME nor XDG_STATE_HOME is set"))
	}
	store, err := approvals.OpenStore(dir, approvals.Options{})
	return store, hostError(err)
}

func listApprovals(a *app, asJSON bool) error {
	store, err := openApprovals()
	if err != nil {
		return err
	}
	items, err := store.List()
	if err != nil {
		a.err.Printf("toolquay: %v\n", err)
	}
	if asJSON {
		return printEach(a, items)
	}
	if len(items) == 0 {
		a.out.Printf("Nothing waits for an answer.\n")
		return nil
	}
	tableOfApprovals(a, items)
	return nil
}

func tableOfApprovals(a *app, items []approvals.Item) {
	rows := [][]string{{"ID", "STATE", "ASKED", "TOOL", "ABOUT"}}
	for i := range items {
		it := &items[i]
		rows = append(rows, []string{it.ID, string(it.State), it.Asked.Local().Format(time.DateTime), it.Use.Name, about(it)})
	}
	a.out.Table(rows)
}

// about is what a question is about, in one line.
func about(it *approvals.Item) string {
	switch {
	case it.Form != nil:
		return "form: " + it.Form.Message
	case it.URL != nil:
		return "URL: " + it.URL.URL
	case it.Choice != nil && len(it.Choice.Questions) > 0:
		return "choice: " + it.Choice.Questions[0].Question
	case it.Plan != nil:
		return "plan: " + it.Plan.Path
	}
	return cmp.Or(it.Line, it.Title)
}

func approvalShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show all of a question",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := openApprovals()
			if err != nil {
				return err
			}
			item, err := store.Get(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			return showItem(a, &item)
		},
	}
}

func showItem(a *app, it *approvals.Item) error {
	if ask := it.Question(); ask.AskedKind() != "" {
		if err := ui.ShowRequest(a.out, questionOf(it)); err != nil {
			return hostError(err)
		}
	} else {
		showApproval(a, it)
	}
	a.out.Wrapped(11, ui.Span{Text: "  it is    " + string(it.State)})
	for i := range it.Offers {
		o := &it.Offers[i]
		a.out.Wrapped(4, ui.Span{Text: fmt.Sprintf("  --always %s would %s", o.Target, ui.Remembered(o))})
	}
	return nil
}

// questionOf is the form or the URL that was kept.
func questionOf(it *approvals.Item) host.Question {
	return host.Question{
		ID: it.ID, Kind: it.Kind, Session: it.Session, Cwd: it.Cwd, Mode: it.Mode, Call: it.Use.ID, Tool: it.Use.Name, Plugin: it.Plugin, Server: it.Server,
		Worker: it.Worker, Title: it.Title, Line: it.Line, Input: it.Use.Input, Asked: it.Asked, Ask: it.Question(),
	}
}

func showApproval(a *app, it *approvals.Item) {
	q := host.Approval{
		ID: it.ID, Session: it.Session, Cwd: it.Cwd, Mode: it.Mode, Tool: it.Use.Name, Plugin: it.Plugin, Server: it.Server,
		Worker: it.Worker, Title: it.Title, Line: it.Line, Input: it.Use.Input, Capability: it.Capability, Preview: it.Preview, Reasons: it.Reasons,
	}
	if len(q.Reasons) == 0 { // an older record
		q.Reasons = []string{it.Why.Reason}
	}
	for _, access := range it.Accesses {
		q.Accesses = append(q.Accesses, access.Access)
	}
	ui.ShowApproval(a.out, q)
}

func approvalAllowCommand(a *app) *cobra.Command {
	var remember, content string
	var fields []string
	cmd := &cobra.Command{
		Use:   "allow ID",
		Short: "Allow what was asked, once, fill in a form, choose, or accept a plan",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer := approvals.Answer{Answer: host.AnswerAllow, Remember: host.RuleTarget(remember)}
			if cmd.Flags().Changed("content") {
				answer.Content = json.RawMessage(content)
			}
			return allowApproval(cmd.Context(), a, args[0], answer, fields)
		},
	}
	cmd.Flags().StringArrayVar(&fields, "field", nil, "a field of the form, as NAME=VALUE; several values with commas")
	cmd.Flags().StringVar(&content, "content", "", `the answer to a form, a choice or a plan, as JSON: {FIELD: VALUE}, {"answers": {QUESTION: ANSWER}} or {"plan": TEXT, "mode": MODE, "rules": [RULES]}`)
	cmd.MarkFlagsMutuallyExclusive("content", "field")
	cmd.Flags().StringVar(&remember, "always", "", "take the question's offer for session, edits, project-local, project or user too")
	return cmd
}

func approvalDenyCommand(a *app) *cobra.Command {
	var words string
	cmd := &cobra.Command{
		Use:   "deny ID",
		Short: "Deny what was asked",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return answerApproval(a, args[0], approvals.Answer{Answer: host.AnswerDeny, Message: words})
		},
	}
	cmd.Flags().StringVarP(&words, "message", "m", "", "what to tell the model")
	return cmd
}

// allowApproval answers with yes. What has content is answered with the one that was given, or
// the fields of a form, or else by the person at the terminal, who may decline.
func allowApproval(ctx context.Context, a *app, id string, answer approvals.Answer, fields []string) error {
	store, err := openApprovals()
	if err != nil {
		return err
	}
	item, err := store.Get(id)
	if err != nil {
		return usageError("%w", err)
	}
	asks := item.Form != nil || item.Choice != nil || item.Plan != nil
	person := a.person()
	switch {
	case item.Form == nil && len(fields) > 0:
		return usageError("--field: %s asks no form", id)
	case !asks && answer.Content != nil:
		return usageError("--content: the answer to %s has none", id)
	case !asks || answer.Content != nil:
	case len(fields) == 0 && person != nil:
		reply, err := person.Ask(ctx, questionOf(&item))
		if err != nil {
			return hostError(err)
		}
		answer.Answer, answer.Content, answer.Message = reply.Answer, reply.Content, reply.Message
	case item.Choice != nil:
		return usageError(`%s asks to choose: answer it with --content '{"answers": {QUESTION: ANSWER}}', or at a terminal`, id)
	case item.Form != nil:
		if answer.Content, err = ui.Content([]byte(item.Form.Schema), fields); err != nil {
			return usageError("--field: %w", err)
		}
	}
	return answerApproval(a, id, answer)
}

func answerApproval(a *app, id string, answer approvals.Answer) error {
	store, err := openApprovals()
	if err != nil {
		return err
	}
	answer.By = "command line"
	if err := store.Answer(id, answer); err != nil {
		return usageError("%w", err)
	}
	a.out.Printf("Answered: %s. toolquay approvals resume %s runs the call.\n", answer.Answer, id)
	return nil
}

func approvalForgetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "forget ID",
		Short: "Take a question away unanswered",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := openApprovals()
			if err != nil {
				return err
			}
			if err := store.Forget(args[0]); err != nil {
				return usageError("%w", err)
			}
			a.out.Printf("Forgotten.\n")
			return nil
		},
	}
}

func approvalResumeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "resume ID",
		Short: "Run a call again that waited for an answer",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return resumeApproval(cmd.Context(), a, args[0]) },
	}
}

// began is where a session begins that goes on with a question: where it was when it asked. One that
// was in none of its directories was in a worktree, to which it comes back by itself.
func began(item *approvals.Item) string {
	for _, dir := range append(item.AdditionalDirs, item.Began) {
		rel, err := filepath.Rel(dir, item.Cwd)
		if item.Began == "" || err == nil && filepath.IsLocal(rel) {
			return item.Cwd
		}
	}
	return item.Began
}

// resumeApproval runs a kept call as it was asked about. What is not answered yet is
// asked again, and kept again.
func resumeApproval(ctx context.Context, a *app, id string) error {
	store, err := openApprovals()
	if err != nil {
		return err
	}
	item, err := store.Get(id)
	if err != nil {
		return usageError("%w", err)
	}
	if _, err := os.Stat(item.Cwd); err != nil {
		return usageError("its directory is gone: %w", err)
	}
	if err := a.flags.restore(item.Flags); err != nil {
		return usageError("the question's flags: %w", err)
	}
	noAsk, err := stricterMode(a, item.Mode)
	if err != nil {
		return err
	}
	a.flags.cwd, a.flags.addDirs = began(&item), item.AdditionalDirs
	o, err := a.open(ctx, func(s *setup) {
		s.session.ID, s.calls, s.session.Prompts = item.Session, true, outlasts(&item.Use)
		if item.Plan != nil && len(item.Plan.Modes) > 0 { // it is asked again as the person was told
			s.session.BeforePlan = item.Plan.Modes[0]
			s.options.Permissions.OnceOnly = s.options.Permissions.OnceOnly || item.Plan.NoRules
		}
		if !noAsk {
			s.session.Asker = approvals.NewDurable(store, item.Resume)
		}
	})
	if err != nil {
		return err
	}
	defer o.close()
	if item.Plan != nil {
		o.session.LimitPlans(loosest(item.Plan.Modes))
	}
	o.awaitServers(ctx, item.Use)
	log := &callLog{out: a.err}
	result := runOne(ctx, a, o, item.Use, log)
	if item.Format != "" {
		reply, err := message.Reply(item.Format, []abi.ToolUse{item.Use}, []abi.ToolResult{*result})
		if err == nil {
			err = a.printJSON(reply)
		}
		return err
	}
	if err := a.printText(result); err != nil {
		return err
	}
	log.printLast(result)
	return quiet(resultCode(result))
}

// outlasts reports whether a call changes what is scheduled beyond its session, which this one does
// not outlive.
func outlasts(use *abi.ToolUse) bool {
	var input struct {
		Durable bool `json:"durable"`
	}
	return use.Name == "CronDelete" || json.Unmarshal(use.Input, &input) == nil && input.Durable
}

// loosest is the loosest of some modes; empty of none.
func loosest(modes []permissions.Mode) (most permissions.Mode) {
	for _, m := range modes {
		if stricter, _ := m.Stricter(most); most == "" || stricter != m {
			most = m
		}
	}
	return most
}

// stricterMode makes --mode the stricter one of it and of the mode that a question was
// asked in. noAsk says that what asks must be denied beside.
func stricterMode(a *app, kept permissions.Mode) (noAsk bool, err error) {
	given := kept
	if a.flags.mode != "" {
		if given, err = permissions.ParseMode(a.flags.mode); err != nil {
			return false, usageError("--mode: %w", err)
		}
	}
	mode, noAsk := given.Stricter(kept)
	if mode != given && !noAsk {
		a.err.Printf("toolquay: --mode %s is looser than %s, in which the question was asked: %s counts\n", given, kept, mode)
	}
	a.flags.mode = string(mode)
	return noAsk, nil
}
