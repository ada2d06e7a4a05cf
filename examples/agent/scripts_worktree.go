package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
)

// What is wrong in the repository, and what is right.
const (
	wrong = `"in line %d; start`
	right = `"at line %d; start`
)

// mendTest is a skill.
const mendTest = `---
name: mend-test
description: How to mend a test that fails. Load it when a test fails.
---
1. Run the test alone: go test -run NAME .
2. Mend what it tests, not the test.
3. Run it again, and commit with the name of the test in the message.
`

// minutes is a clock that shows another minute when the script has nothing else to do.
var minutes = hosttest.NewClock(time.Now())

// mended is a conversation on a real repository of git: in a worktree of its own it mends a
// test by a skill, keeps that, and discards another try. At the beginning it schedules a prompt,
// which it works on at the end.
func mended() []*script {
	use := hosttest.Use
	bash := func(command string) hosttest.Call { return use("Bash", input{"command": command}) }
	test := bash("go test -run TestPositionString .")
	fails := test
	fails.Want = func(r *abi.ToolResult) error {
		if !r.IsError || !strings.Contains(r.Text(), "--- FAIL: TestPositionString") {
			return fmt.Errorf("the test does not fail: %s", r.Text())
		}
		return nil
	}
	yes := hosttest.Allow()
	return []*script{{
		name: "mend",
		prepare: func(ctx context.Context, dir string) error {
			if err := checkOut(ctx, dir); err != nil {
				return err
			}
			return breakTest(ctx, dir)
		},
		model: hosttest.NewModel(
			hosttest.Say("I see how tests are mended.",
				use("Skill", input{"skill": "mend-test", "args": "TestPositionString"}).Succeeds("Run the test alone", "TestPositionString")),
			hosttest.Say("In a minute I will see how far I have come.",
				use("CronCreate", input{"cron": "* * * * *", "prompt": "See whether the mended test was committed.", "recurring": false}).Succeeds()),
			hosttest.Say("I work apart from you.", use("EnterWorktree", input{"name": "position"}).Succeeds("worktree/position")),
			hosttest.Say("I run it.", fails),
			hosttest.Say("I mend it.",
				use("Grep", input{"pattern": "in line %d", "path": "lex.go", "output_mode": "content"}).Succeeds(wrong),
				use("Edit", input{"file_path": "lex.go", "old_string": wrong, "new_string": right}).Succeeds()),
			hosttest.Say("I run it again.", test.Succeeds("ok")),
			hosttest.Say("I commit.", bash("git commit -qam 'Mend TestPositionString'").Succeeds()),
			hosttest.Say("That is to stay.", use("ExitWorktree", input{"action": "keep"}).Succeeds("worktree/position")),
			hosttest.Say("I try something else.", use("EnterWorktree", input{"name": "try"}).Succeeds()),
			hosttest.Say("", use("Write", input{"file_path": "TRY.md", "content": "No.\n"}).Succeeds()),
			hosttest.Say("It leads nowhere.", use("ExitWorktree", input{"action": "remove"}).Fails(abi.CodeDenied, "TRY.md")),
			hosttest.Say("", use("ExitWorktree", input{"action": "remove", "discard_changes": true}).Succeeds()),
			hosttest.Say("It is mended."),
			hosttest.Say("I look.", bash("git log -1 --format=%s worktree/position").Succeeds("Mend TestPositionString")),
			hosttest.Say("It was committed."),
		),
		asker:   hosttest.NewAsker(yes, yes, yes, yes, yes, yes, yes, yes, yes),
		options: func(o *host.SessionOptions) { o.Prompts = true },
		prompts: 1,
		clock:   minutes,
	}}
}

// withWorktrees are the options of a host for that: a shell, a skill, a place for worktrees,
// and the clock.
func withWorktrees(o *host.Options, dir string) error {
	state := filepath.Join(dir, "state")
	o.Storage.Sessions, o.Storage.Worktrees = filepath.Join(state, "sessions"), filepath.Join(state, "worktrees")
	o.Paths.Host, o.Paths.Project = []string{state}, filepath.Join(dir, "mend")
	var err error
	if o.Paths.Home, err = os.UserHomeDir(); err != nil { // where go has its caches, which commands get copies of
		return err
	}
	o.Skills.Sources = []host.SkillSource{{Label: "example", Dir: dir}}
	o.Plugins.Clock = minutes.Now
	return writeSkill(dir)
}

// writeSkill writes the skill where those of a source are.
func writeSkill(dir string) error {
	skill := filepath.Join(dir, "skills", "mend-test")
	if err := os.MkdirAll(skill, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(mendTest), 0o600)
}

// breakTest makes a directory a repository of git in which a test fails.
func breakTest(ctx context.Context, dir string) error {
	file := filepath.Join(dir, "lex.go")
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Contains(source, []byte(right)) {
		return fmt.Errorf("%s is another than this example knows", file)
	}
	if err := os.WriteFile(file, bytes.Replace(source, []byte(right), []byte(wrong), 1), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "user.name", "Example"}, {"config", "user.email", "example@example.org"},
		{"add", "-A"}, {"commit", "-q", "-m", "Break a test"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
