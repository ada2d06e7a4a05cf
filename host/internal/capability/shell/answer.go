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

// account is a command that has ended, for what is told of it.
type account struct {
	*launch
	result
	why  cause
	said said
}

// cause is what the call knows of why its command ended, beside the result.
type cause struct {
	timedOut bool
	note     string
}

// newAccount reads the end of the output, if it may have something to say.
func newAccount(l *launch, r result, why cause) *account {
	a := &account{launch: l, result: r, why: why}
	if l.held.sandboxed || r.status.Code != 0 {
		a.said = lastWords(l.out.all, []string{l.scope.Cwd, cmp.Or(r.cwd, l.scope.Cwd)})
	}
	return a
}

// head is what an answer says beside the output.
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
	ok.Cwd, ok.Refused = a.movedTo(a.dir, a.held.Working)
	ok.Note = a.notes()
	return ok
}

// blamed is the program whose exit status is the command's; empty where it may be that of
// the shell, which could not open a file for it. Those of some say two things: find's means
// that places could not be searched only where it has said so, git's that files differ
// only where it tells of no error, and grep's 2 is a failure unless all that it could not
// read is hidden from it.
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

// shellComplains is how the shell itself tells of a failure.
var shellComplains = lazyregexp.New(`(?m)^(?:\S*/)?(?:ba|da|z)?sh: `)

// onlyHidden reports whether a program complains of nothing but files that are hidden from
// it. Ripgrep 13 does not say who complains, but gives the system's number of the error. A
// complaint that other output was written into is not recognised, and so is a failure.
func (a *account) onlyHidden(program string) bool {
	complains := false
	for line := range strings.Lines(a.said.text) {
		complaint, ok := strings.CutPrefix(line, program+": ")
		if !ok && !strings.Contains(line, " (os error ") {
			continue
		}
		path, _, refused := strings.Cut(complaint, ": Permission denied")
		if !refused || !slices.ContainsFunc(a.said.lies(path), a.held.hides) {
			return false
		}
		complains = true
	}
	return complains
}

// answer tells of a command that has ended.
func (r *run) answer(why cause) (abi.Answer, error) {
	defer r.forget()
	if err := r.result.failed; err != nil {
		return abi.Answer{}, err
	}
	ok := newAccount(r.launch, r.result, why).head()
	r.tellDeeds()
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

// answerOf is the answer of a head and its body.
func answerOf(ok abi.ShellOK, body io.ReadCloser) abi.Answer {
	return abi.Answer{OK: ok, Body: body, BodyType: abi.PartBytes, Size: ok.OutSize + ok.ErrSize}
}
