package shell

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// exitKilled is the exit status of what SIGKILL ended.
const exitKilled = 128 + int(syscall.SIGKILL)

// limitOutput is the limit that a command was ended for which wrote too much; the
// others are the keepers'.
const limitOutput = "output"

// head is what is known of a command as long as it runs.
func (r *run) head() abi.ShellOK { return abi.ShellOK{Sandboxed: r.p.confined()} }

// answerOf is the answer of a head and its body.
func answerOf(ok abi.ShellOK, body io.ReadCloser) abi.Answer {
	return abi.Answer{OK: ok, Body: body, BodyType: abi.PartBytes, Size: ok.OutSize + ok.ErrSize}
}

// answer tells of a command that has ended.
func (r *run) answer(why ended) (abi.Answer, error) {
	defer r.forget()
	if err := r.launch.failed; err != nil {
		return abi.Answer{}, err
	}
	if r.status.Err != nil {
		why.note = joined(why.note, "How it ended is not known for certain: "+r.status.Err.Error()+".")
	}
	ok := r.head()
	ok.Duration = r.took.Milliseconds()
	ok.Exit, ok.Left = r.status.Code, r.status.Left
	if r.status.Signal != 0 {
		ok.Signal = signalName(r.status.Signal)
	}
	ok.Limit, ok.LimitText = r.limit()
	if why.timedOut {
		ok.TimedOut, ok.Timeout = true, r.p.timeout().Milliseconds()
		why.note = joined(why.note, r.advise())
	}
	if ok.Exit != 0 && !r.p.isPowerShell() {
		ok.Program = r.blamed()
	}
	ok.Cwd, ok.Refused = r.launch.report.where(r.cwd, r.launch.policy.Working)
	ok.Note = joined(why.note, r.launch.interrupted(), r.made, r.blame(), r.missed())
	r.tellDeeds()
	if shown := r.picture(); shown != nil {
		ok.MediaType, ok.OutSize = shown.mediaType, int64(len(shown.bytes))
		ok.Bytes, ok.Lines, _ = r.out.all.count()
		if shown.behind != "" {
			ok.Note = joined(ok.Note, "Behind the image it wrote: "+shown.behind)
		}
		return answerOf(ok, abi.Bytes(shown.bytes)), nil
	}
	body, _, err := r.out.tell(&ok, maxBody)
	if err != nil {
		return abi.Answer{}, err
	}
	return answerOf(ok, body), nil
}

// blamed is the program whose exit status is the command's; empty where it may be that of
// the shell, which could not open a file for it. Those of some say two things: find's means
// that places could not be searched only where it has said so, git's that files differ
// only where it tells of no error, and grep's 2 is a failure unless all that it could not
// read is hidden from it.
func (r *run) blamed() string {
	program, opens := programOf(&r.p.command)
	if opens && shellComplains.MatchString(string(r.said())) {
		return ""
	}
	switch {
	case filepath.Base(program) == "find" && !containsAny(string(bytes.ToLower(r.said())), refusals):
		return ""
	case r.status.Code == 2 && !r.onlyHidden(filepath.Base(program)):
		return ""
	case strings.HasPrefix(program, gitProgram+" diff") && bytes.Contains(append([]byte{'\n'}, r.said()...), []byte("\nerror: ")):
		return gitProgram
	}
	return program
}

// shellComplains is how the shell itself tells of a failure.
var shellComplains = lazyregexp.New(`(?m)^(?:\S*/)?(?:ba|da|z)?sh: `)

// picture is the output where it is an image; nil is that it is none.
func (r *run) picture() *picture {
	const most = maxImage*4/3 + 1<<10 // as a data: URI
	if bytes, _, _ := r.out.all.count(); r.out.err != nil || bytes == 0 || bytes > most {
		return nil
	}
	first, _ := r.out.all.ends(64)
	if !bytes.Contains(first, []byte("data:image/")) && formatOf(first) == nil {
		return nil // the rest need not be read
	}
	all, rest := r.out.all.ends(most)
	if rest != nil {
		return nil
	}
	return pictureIn(all)
}

// limit names the limit that the command was ended for, and says what it is.
func (r *run) limit() (name, text string) {
	limits := &r.p.c.opts.Limits
	switch name = r.status.Limit; name {
	case process.LimitMemory:
		text = fmt.Sprintf("it took more than %s of memory", sized(limits.Memory))
	case process.LimitProcesses:
		text = fmt.Sprintf("it had more than %d processes", limits.Processes)
	case process.LimitCPU:
		text = fmt.Sprintf("it took more than %v of processor time", limits.CPU)
	case "":
		select {
		case <-r.out.full:
			return limitOutput, fmt.Sprintf("it wrote more than %s", sized(r.p.c.opts.MaxOutput))
		default:
		}
	}
	return name, text
}

// tellDeeds tells the session what the command did that others want to know of.
func (r *run) tellDeeds() {
	if r.p.isPowerShell() {
		return
	}
	const shown = 64 << 10
	head, tail := r.out.all.ends(shown)
	for _, deed := range r.git.Deeds(r.status.Code, append(head, tail...)) {
		deed.Call = r.scope.Call
		r.scope.Shell.Tell(deed)
	}
}
