package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
	"github.com/toolquay/toolquay/permissions"
)

// module is the repository that is worked on: one that this module needs, so that it is there
// wherever this runs.
const module = "github.com/BurntSushi/toml"

// planned is a conversation on a real repository: it plans and asks, and when the person has
// accepted the plan it works through tasks, reports, and hands over structured output.
func planned() []*script {
	use := hosttest.Use
	task := func(id, status string) hosttest.Call {
		return use("TaskUpdate", input{"taskId": id, "status": status}).Succeeds(id)
	}
	return []*script{{
		name:    "report",
		prepare: checkOut,
		options: func(o *host.SessionOptions) {
			o.PlanFile = filepath.Join(o.Cwd, "PLAN.md")
			o.OutputSchema = json.RawMessage(`{"type":"object","required":["report","remarks"],"additionalProperties":false,
				"properties":{"report":{"type":"string"},"remarks":{"type":"integer","minimum":0}}}`)
		},
		model: hosttest.NewModel(
			hosttest.Say("I plan first.", use("EnterPlanMode", input{}).Succeeds("PLAN.md")),
			hosttest.Say("I look at what there is.",
				use("Grep", input{"pattern": "TODO", "glob": "*.go", "output_mode": "files_with_matches"}).Succeeds("lex.go", "parse.go"),
				use("Write", input{"file_path": "REPORT.md", "content": "too early"}).Fails("denied")),
			hosttest.Say("I need to know how much.", use("AskUserQuestion", input{"questions": []input{{
				"question": "Which remarks belong in the report?", "header": "Scope",
				"options": []input{{"label": "All", "description": "Every TODO"}, {"label": "Lexer", "description": "Those of lex.go"}},
			}}}).Succeeds("Lexer")),
			hosttest.Say("I write down what I am going to do.",
				use("Write", input{"file_path": "PLAN.md", "content": "1. Collect the remarks of lex.go.\n2. Check the report.\n"}).Succeeds()),
			hosttest.Say("That is my plan.", use("ExitPlanMode", input{}).Succeeds("acceptEdits")),
			hosttest.Say("I keep a list of it.",
				use("TaskCreate", input{"subject": "Collect the remarks", "description": "Those of lex.go, in REPORT.md"}).Succeeds("1"),
				use("TaskCreate", input{"subject": "Check the report", "description": "Read it once more"}).Succeeds("2"),
				use("TaskUpdate", input{"taskId": "2", "addBlockedBy": []string{"1"}}).Succeeds("2")),
			hosttest.Say("I collect them.", task("1", "in_progress"),
				use("Grep", input{"pattern": "TODO", "path": "lex.go", "output_mode": "content"}).Succeeds("never reached"),
				use("Write", input{"file_path": "REPORT.md", "content": "# Remarks\n\nlex.go has four that say: never reached.\n"}).Succeeds(),
				task("1", "completed")),
			hosttest.Say("I check it.", task("2", "in_progress"),
				use("Read", input{"file_path": "REPORT.md"}).Succeeds("never reached"), task("2", "completed"),
				use("TaskList", input{}).Succeeds("completed")),
			hosttest.Say("I report.",
				use("SendUserMessage", input{"message": "The report is written.", "attachments": []string{"REPORT.md"}}).Succeeds(),
				use("StructuredOutput", input{"report": "REPORT.md", "remarks": 4}).Succeeds()),
			hosttest.Say("That is all."),
		),
		asker: hosttest.NewAsker(
			hosttest.Choose(map[string]any{"Which remarks belong in the report?": "Lexer"}),
			hosttest.Accept(host.Accepted{Mode: permissions.ModeAcceptEdits}),
		),
	}}
}

// withMessages are the options of a host for that: models may tell the person something.
func withMessages(o *host.Options, _ string) error {
	o.Model.Toolset.Also = []string{"SendUserMessage"}
	return nil
}

// checkOut puts the module's repository into a directory.
func checkOut(ctx context.Context, dir string) error {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("looking for the source of %s: %w", module, err)
	}
	source := strings.TrimSpace(string(out))
	if source == "" {
		return fmt.Errorf("the source of %s is not there; fetch it with: go mod download %s", module, module)
	}
	return os.CopyFS(dir, os.DirFS(source))
}
