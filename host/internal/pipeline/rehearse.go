package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

const (
	// MaxRehearsal is how long a person is kept waiting for a question because of its
	// rehearsal, the wait for its slot included.
	MaxRehearsal = 2 * time.Second
	// maxPreview bounds what a question shows of a change, in code points.
	maxPreview = 20_000
)

// rehearsable are the capabilities that can be done without effect. A tool that may
// ask for any other one is not rehearsed.
var rehearsable = []string{
	abi.CapFSRead, abi.CapFSStat, abi.CapFSList, abi.CapFSWrite, abi.CapFSReplace,
	abi.CapDocsRead, abi.CapSearchNames, abi.CapSearchContents, abi.CapToolsList,
}

// decisive are the failures that end a call in its rehearsal: it would fail just so
// once it was allowed, so nobody is asked.
var decisive = []abi.Code{
	abi.CodeNotFound, abi.CodeIsDirectory, abi.CodeNotRegular, abi.CodeNotText, abi.CodeTooLarge,
	abi.CodeInvalidInput, abi.CodeNotRead, abi.CodeChanged, abi.CodeSameText, abi.CodeNoMatch, abi.CodeNotUnique,
}

// rehearsed is no failure of the pipeline's: the call has its tool's own result,
// without anybody having been asked.
type rehearsed struct{ result abi.ToolResult }

func (*rehearsed) Error() string { return "the call failed in its rehearsal" }

// rehearsal is a call that is made without effect, before a person is asked about it.
// It may do what the rules allow, and may seem to do what the person is asked about.
// Nobody is told of it, and nothing of it is kept.
type rehearsal struct {
	world *world
	asked *gate.Subject

	mu sync.Mutex
	// diffs are those of the writes, as far as a preview shows them.
	diffs []byte
	// barred says that something was refused that the call itself might have been
	// allowed: what comes of the rehearsal says nothing about it.
	barred bool
}

// rehearse makes a call that writes files without effect, and returns what is to be done
// when its question has ended. The subject then shows what the call would change. The
// error is the result of a call that would fail.
func (g *world) rehearse(ctx context.Context, s *gate.Subject) (done func(), err error) {
	all := g.session().Host.Rehearsals
	done = func() {
		all.Hide(len(s.Preview))
		s.Preview = "" // the subject lives on with its call
	}
	limited, cancel := context.WithTimeout(ctx, MaxRehearsal)
	defer cancel()
	if !all.Enter(limited) {
		return done, nil // it is asked without a preview
	}
	defer all.Leave()
	r := &rehearsal{world: g, asked: s}
	result, err := g.tool.Call(limited, tool.Invocation{Invocation: plugins.Invocation{
		ID: g.use.ID, Input: g.input.json, Cwd: g.view.Cwd, Capability: r.do,
	}})
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil || r.barred || limited.Err() != nil:
		return done, nil // it will turn out when the call is made
	case !result.IsError:
		if text := preview(string(r.diffs)); all.Show(len(text)) {
			s.Preview = text
		}
	case result.Error != nil && slices.Contains(decisive, result.Error.Code) && g.mayTell(s):
		return done, &rehearsed{result}
	}
	return done, nil
}

// mayTell reports whether the rules let the call read what it would write. Else how it
// fails would tell what lies there, which is for the person to say.
func (g *judging) mayTell(s *gate.Subject) bool {
	for _, a := range s.Accesses {
		a.Kind = permissions.AccessRead
		if !g.mayTouch(a) {
			return false
		}
	}
	return true
}

// do takes the place of [world.do].
func (r *rehearsal) do(ctx context.Context, req abi.Request) (abi.Answer, error) {
	GrowStack()
	c := r.world.core
	if !c.work.Enter() {
		return abi.Answer{}, errCallOver
	}
	defer c.work.Leave()
	claim, ok := c.tool.Declares(req.Name)
	native, known := c.session().Host.Capabilities[req.Name]
	if !ok || !known || !slices.Contains(rehearsable, req.Name) {
		return abi.Answer{}, r.bar(req.Name)
	}
	commands := newShell(r.world.judging)
	place := r.world.placed(commands)
	place.Report, place.Rehearse, place.History, place.Person = unheard, true, nil, nil
	plan, err := native.Plan(ctx, place, req)
	if err != nil {
		return abi.Answer{}, err
	}
	defer plan.Close()
	scope, err := r.world.scope(claim)
	if err != nil {
		return abi.Answer{}, err
	}
	p := &performing{r.world.judging, req.Name, claim, scope, commands.Analyse}
	for _, a := range plan.Accesses() {
		if !scope.Covers(a) || !r.lets(req.Name, a) {
			return abi.Answer{}, r.bar(req.Name)
		}
	}
	answer, err := plan.Do(ctx, func(a permissions.Access) bool {
		return scope.Covers(a) && p.permitted(a)
	})
	if err != nil {
		return answer, err
	}
	return r.look(answer)
}

// bar refuses, and with that makes the rehearsal worthless.
func (r *rehearsal) bar(operation string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.barred = true
	return abi.Errorf(abi.CodeDenied, "%s is not done in a rehearsal", operation)
}

// lets passes what the rules allow, and those writes that the person is asked about.
func (r *rehearsal) lets(operation string, a permissions.Access) bool {
	g := r.world
	if g.traits.Locked && !g.traits.Covers(a) {
		return false
	}
	d := g.Decide(&gate.Subject{Call: &g.about, Operation: operation, Accesses: []permissions.Access{a}, Hook: g.hookGrant()})
	if d.Verdict != permissions.Ask {
		return d.Verdict == permissions.Allow
	}
	return a.Kind == permissions.AccessWrite && slices.ContainsFunc(r.asked.Accesses, func(asked permissions.Access) bool {
		a.Tree = asked.Tree // of a directory, which is not written
		return a == asked
	})
}

// look keeps the diff of a write, which the guest gets as well.
func (r *rehearsal) look(answer abi.Answer) (abi.Answer, error) {
	if _, ok := answer.OK.(abi.WriteOK); !ok || answer.Body == nil {
		return answer, nil
	}
	diff, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return abi.Answer{}, err
	}
	answer.Body, answer.Size = abi.Bytes(diff), int64(len(diff))
	r.keep(diff)
	return answer, nil
}

// enoughDiff is, in bytes, surely more than a preview shows.
const enoughDiff = maxPreview*utf8.UTFMax + 1

// keep keeps a diff for the preview, which shows no more than so much of them all.
func (r *rehearsal) keep(diff []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.diffs = append(r.diffs, diff[:min(len(diff), enoughDiff-len(r.diffs))]...)
}

// preview cuts diffs between lines.
func preview(text string) string {
	if utf8.RuneCountInString(text) <= maxPreview {
		return text
	}
	end, n := 0, 0
	for line := range strings.Lines(text) {
		if n += utf8.RuneCountInString(line); n > maxPreview {
			break
		}
		end += len(line)
	}
	return text[:end] + "... and more, which is not shown here\n"
}

// rehearses reports whether a call is one of a built-in tool that writes files and
// can be made without effect. Another plugin may find out that it is a rehearsal, write
// something else later, and have its words reach the model before anybody was asked.
func rehearses(r *request) bool {
	t, ok := r.tool.(tool.Plugin)
	if !ok || r.traits.ReadOnly || !t.Source().Trusted {
		return false
	}
	manifest := t.Plugin.Manifest()
	if manifest == nil || manifest.Instance == abi.InstanceKept || manifest.ABI == abi.ABIExtism {
		return false
	}
	writes := false
	for _, claim := range manifest.Capabilities {
		if _, ok := r.tool.Declares(claim.Name); !ok {
			continue
		}
		if !slices.Contains(rehearsable, claim.Name) {
			return false
		}
		writes = writes || claim.Name == abi.CapFSWrite || claim.Name == abi.CapFSReplace
	}
	return writes
}
