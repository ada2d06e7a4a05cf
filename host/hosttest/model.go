package hosttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// Model is a scripted model for one conversation. It is safe for concurrent use, but a
// conversation has one turn at a time.
type Model struct {
	mu    sync.Mutex
	turns []Turn
	// played counts the turns that were written, and calls their calls.
	played, calls int
	// last are the calls of the turn before, whose results come next.
	last []Call
	errs []error
}

// Turn is one message of the model. One without calls ends the conversation.
type Turn struct {
	Text  string
	Calls []Call
}

// Say returns a turn with a text and calls.
func Say(text string, calls ...Call) Turn { return Turn{Text: text, Calls: calls} }

// NewModel returns a model that plays these turns.
func NewModel(turns ...Turn) *Model { return &Model{turns: turns} }

// Reply plays the next turn. It first checks the results of the turn before: one for each
// call, in call order, each as the call wants it. It then gives every call to add, as
// soon as it is written, and returns the text.
//
// It fails if a result is wrong, if no turn is left, if add fails, or if ctx is done
// before a call is written. The first two are also errors of [Model.Err]. After the others
// the message is void, as that of a broken connection is: the turn is played again.
func (m *Model) Reply(ctx context.Context, results []abi.ToolResult, add func(abi.ToolUse) error) (text string, err error) {
	turn, err := m.begin(results)
	if err != nil {
		return "", err
	}
	for _, c := range turn.Calls {
		if err := c.wait(ctx); err != nil {
			return "", err
		}
		if err := add(c.Use); err != nil {
			return "", fmt.Errorf("hosttest: the call of %s was not taken: %w", c.Use.Name, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.played++
	m.calls += len(turn.Calls)
	m.last = turn.Calls
	return turn.Text, nil
}

// Err returns what went wrong in the conversation so far, with an error for turns that
// were not played. The results of the last turn are not checked: a conversation usually
// ends with a turn that has no calls.
func (m *Model) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := errors.Join(m.errs...)
	if m.played < len(m.turns) {
		err = errors.Join(err, fmt.Errorf("hosttest: %d of %d turns were played", m.played, len(m.turns)))
	}
	return err
}

// begin checks the results of the turn before and returns the next turn, its calls with
// ids.
func (m *Model) begin(results []abi.ToolResult) (Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.check(results)
	if m.played == len(m.turns) {
		err = errors.Join(err, fmt.Errorf("hosttest: the model is asked for turn %d, and its script has %d", m.played+1, len(m.turns)))
	}
	if err != nil {
		m.errs = append(m.errs, err)
		return Turn{}, err
	}
	turn := m.turns[m.played]
	turn.Calls = slices.Clone(turn.Calls) // the caller's own stay as they are
	for i := range turn.Calls {
		if id := &turn.Calls[i].Use.ID; *id == "" {
			*id = "call-" + strconv.Itoa(m.calls+i+1)
		}
	}
	return turn, nil
}

// check holds results to the calls of the turn before.
func (m *Model) check(results []abi.ToolResult) error {
	if len(results) != len(m.last) {
		return fmt.Errorf("hosttest: turn %d made %d calls and got %d results", m.played, len(m.last), len(results))
	}
	var errs []error
	for i := range results {
		c, r := &m.last[i], &results[i]
		var err error
		switch {
		case r.ToolUseID != c.Use.ID:
			err = fmt.Errorf("the result is that of %q, want that of %q", r.ToolUseID, c.Use.ID)
		case c.Want != nil:
			err = c.Want(r)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("hosttest: turn %d, call %d, %s %s: %w", m.played, i+1, c.Use.Name, c.Use.Input, err))
		}
	}
	return errors.Join(errs...)
}
