package ui

import (
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

func TestAside(t *testing.T) {
	t.Parallel()
	began, failed := time.Now().Add(-time.Minute), 3
	for want, e := range map[string]host.Event{
		`git commit 1a2b3c4 on main: Mend\x1b[2K the gate`: {Kind: host.EventGit, Git: &capability.GitEvent{
			Program: "git", Kind: capability.GitCommit, Commit: "1a2b3c4", Branch: "main", Subject: "Mend\x1b[2K the gate",
		}},
		"git push (forced) on origin/main": {Kind: host.EventGit, Git: &capability.GitEvent{
			Program: "git", Kind: capability.GitPush, Forced: true, Remote: "origin", Branch: "main",
		}},
		"gh pull request #7: https://example.org/7": {Kind: host.EventGit, Git: &capability.GitEvent{
			Program: "gh", Kind: capability.PullRequestCreated, Number: 7, URL: "https://example.org/7",
		}},
		"background task b1 failed with exit status 3 after 2.0s: make all": {Kind: host.EventTask, Task: &capability.TaskInfo{
			ID: "b1", State: abi.TaskFailed, Exit: &failed, Title: "make all", Began: began, Ended: began.Add(2 * time.Second),
		}},
		`scheduled prompt c1: look \x1b[2Kat it`: {Kind: host.EventCron, Cron: &capability.DuePrompt{ID: "c1", Prompt: "look \x1b[2Kat it\nand more"}},
		"":                                       {Kind: host.EventTask, Task: &capability.TaskInfo{ID: "b1", State: abi.TaskRunning, Began: began}},
	} {
		if got := Aside(&e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
