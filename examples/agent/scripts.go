package main

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
)

// input is the input of a tool.
type input = map[string]any

// plain are two conversations that need files alone.
func plain() []*script {
	write := hosttest.Use("Write", input{"file_path": "notes.md", "content": "# Notes\n\nBuy milk.\n"})
	return []*script{
		{
			name: "notes",
			model: hosttest.NewModel(
				hosttest.Say("I write it down.", write.Succeeds()),
				hosttest.Say("I look for it, and read what there is.",
					hosttest.Use("Grep", input{"pattern": "milk", "output_mode": "content"}).Succeeds("Buy milk."),
					hosttest.Use("Read", input{"file_path": "notes.md"}).Succeeds("# Notes")),
				hosttest.Say("It is written down."),
			),
			asker: hosttest.NewAsker(hosttest.Allow()),
		},
		{
			name: "letters",
			model: hosttest.NewModel(
				hosttest.Say("I write it down.", write.Fails(abi.CodeCancelled)),
				hosttest.Say("You have changed your mind."),
			),
			asker:  hosttest.NewAskerFunc(away),
			cancel: host.EventQuestion,
		},
	}
}

// withShell are the same with commands.
func withShell() []*script {
	bash := func(command string) hosttest.Call { return hosttest.Use("Bash", input{"command": command}) }
	return []*script{
		{
			name: "notes",
			model: hosttest.NewModel(
				hosttest.Say("I write it down.", bash("echo Buy milk. > notes.md").Succeeds()),
				hosttest.Say("I look for it, and count the lines.", // these only read, so nobody is asked
					bash("grep milk notes.md").Succeeds("Buy milk."), bash("wc -l notes.md").Succeeds("1")),
				hosttest.Say("It is written down."),
			),
			asker: hosttest.NewAsker(hosttest.Allow()),
		},
		{
			name: "letters",
			model: hosttest.NewModel(
				hosttest.Say("This takes long.", bash("touch begun && sleep 600").Fails(abi.CodeCancelled)),
				hosttest.Say("You have changed your mind."),
			),
			asker:  hosttest.NewAsker(hosttest.Allow()),
			cancel: host.EventStarted,
		},
	}
}

// away is a person who does not answer.
func away(ctx context.Context, _ host.Question) (host.Reply, error) {
	<-ctx.Done()
	return host.Reply{}, context.Cause(ctx)
}
