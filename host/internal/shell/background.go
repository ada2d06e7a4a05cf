package shell

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// taskKind is the letter that the ids of shells' tasks begin with.
const taskKind = 'b'

// begin moves a command to the background that was started for it.
func (r *run) begin() (abi.Answer, error) {
	answer, err := r.move(abi.BackgroundAsked)
	if err != nil {
		r.Stop(0)
		<-r.over
		r.forget()
		return abi.Answer{}, err
	}
	return answer, nil
}

// move makes a task of the command. It fails if the session takes no more tasks; nothing has
// changed then.
func (r *run) move(why string) (abi.Answer, error) {
	file, err := r.out.all.watch()
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeIO, "making a file for the output of a background task: %w", err)
	}
	ok := abi.ShellOK{Sandboxed: r.held.sandboxed}
	body, shown, err := r.out.tell(&ok, maxMoved)
	if err != nil {
		return abi.Answer{}, err
	}
	var killed atomic.Bool
	task, err := r.scope.Tasks.Begin(capability.NewTask{
		Kind: taskKind, Call: r.scope.Call, Title: r.title(), Command: r.args.Command, Output: file, Shown: shown, Began: r.began,
		Stop: func() {
			killed.Store(true)
			r.Stop(grace)
		},
	})
	if err != nil {
		return abi.Answer{}, errors.Join(err, body.Close())
	}
	go r.watchTask(task, &killed)
	ok.Task, ok.Background, ok.OutputFile, ok.Note = task.ID(), why, file, r.served(why)
	ok.Duration = time.Since(r.began).Milliseconds()
	if why == abi.BackgroundTimeout {
		ok.Timeout = r.timeout().Milliseconds()
	}
	return answerOf(ok, body), nil
}

// served says who reaches what a command listens on that was started to go on, if it is not the
// whole machine.
func (r *run) served(why string) string {
	if why != abi.BackgroundAsked || r.held.network == sandbox.NetworkAll || r.held.HostsApproved {
		return ""
	}
	shared, giveBack := r.setup.networks.known(r.held.Ended)
	if shared == nil {
		return ""
	}
	_ = giveBack() // the command has it
	return "If it listens on a port, later commands reach that at localhost, and the user with toolquay tasks forward PORT."
}

// watchTask waits for the end of a task.
func (r *run) watchTask(task capability.Task, killed *atomic.Bool) {
	select {
	case <-r.out.full:
		r.Stop(grace)
		<-r.over
	case <-r.over:
	}
	r.tellGitEvents()
	r.forget()
	task.End(r.result.outcome(killed.Load()))
}
