package shell

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// account explains the end of a command.
type account struct {
	*launch
	result
	why  cause
	said said
}

// cause is why the call ended its command, if it did.
type cause struct {
	timedOut bool
	note     string
}

// newAccount reads the end of the output if there may be something to explain.
func newAccount(l *launch, r result, why cause) *account {
	a := &account{launch: l, result: r, why: why}
	if l.held.held() || r.status.Code != 0 {
		a.said = lastWords(l.out.all, []string{l.scope.Cwd, cmp.Or(r.cwd, l.scope.Cwd)})
	}
	return a
}

// head is the answer without the output.
func (a *account) head() abi.ShellOK {
	ok := abi.ShellOK{
		Sandboxed: a.held.sandboxed, Duration: a.took.Milliseconds(),
		Exit: a.status.Code, Left: a.status.Left, Limit: a.limit, LimitText: a.limitText,
	}
	if a.status.Signal != 0 {
		ok.Signal = signalName(a.status.Signal)
	}
	if a.why.timedOut {
		ok.TimedOut, ok.Timeout = true, a.timeout().Milliseconds()
	}
	if ok.Exit != 0 && !a.isPowerShell() {
		ok.Program = a.blamed()
	}
	ok.Cwd, ok.Refused = a.movedTo(a.dir, a.held)
	ok.Note = a.notes()
	return ok
}

// blamed is the program whose exit status is the command's. It is empty if the status may be
// the shell's, which could not open a file. Some statuses mean two things: find's means that
// places could not be searched only if it has said so, git diff's that files differ only if
// it reported no error, and grep's 2 is a failure unless everything that it could not read
// is hidden from it.
func (a *account) blamed() string {
	program, opens := programOf(&a.known)
	if opens && shellComplains.MatchString(a.said.text) {
		return ""
	}
	switch {
	case filepath.Base(program) == "find" && !a.said.has(refusals...):
		return ""
	case a.status.Code == 2 && !a.onlyHidden(filepath.Base(program)):
		return ""
	case strings.HasPrefix(program, gitProgram+" diff") && strings.Contains("\n"+a.said.text, "\nerror: "):
		return gitProgram
	}
	return program
}

// shellComplains matches errors of the shell itself.
var shellComplains = lazyregexp.New(`(?m)^(?:\S*/)?(?:ba|da|z)?sh: `)

// onlyHidden reports whether a program's errors are all about hidden files. Ripgrep 13 does
// not print its name, but the system's number of the error. An error message that other
// output was written into is not recognised, and so counts as a failure.
func (a *account) onlyHidden(program string) bool {
	complains := false
	for line := range strings.Lines(a.said.text) {
		complaint, ok := strings.CutPrefix(line, program+": ")
		if !ok && !strings.Contains(line, " (os error ") {
			continue
		}
		path, _, refused := strings.Cut(complaint, ": Permission denied")
		if !refused || !slices.ContainsFunc(a.said.resolve(path), a.held.hides) {
			return false
		}
		complains = true
	}
	return complains
}

// answer answers for a command that has ended.
func (r *run) answer(why cause) (abi.Answer, error) {
	defer r.forget()
	ok := newAccount(r.launch, r.result, why).head()
	r.tellGitEvents()
	if shown := r.out.picture(); shown != nil {
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

// answerOf is the answer with a head and a body.
func answerOf(ok abi.ShellOK, body io.ReadCloser) abi.Answer {
	return abi.Answer{OK: ok, Body: body, BodyType: abi.PartBytes, Size: ok.OutSize + ok.ErrSize}
}
