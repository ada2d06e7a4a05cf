package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Output is what a hook answers. The zero value is no opinion.
type Output struct {
	// Verdict is the decision on the call. After it Deny is feedback for the
	// model, Allow means nothing, and Ask is a fault.
	Verdict permissions.Verdict
	// Reason says why: to the model where it is denied, else to the user.
	Reason string
	// UpdatedInput, before the call, replaces its input: a JSON object.
	UpdatedInput json.RawMessage
	// UpdatedOutput, after the call, replaces what the model is shown of it. Empty
	// and not nil leaves nothing.
	UpdatedOutput []abi.Block
	// Worktree, at WorktreeCreated where there is no repository, is the directory that the hook
	// made, absolute.
	Worktree string
	// Context is added to what the model is told.
	Context string
	// Stop ends the loop after this call, with a reason for the user.
	Stop       bool
	StopReason string
	// Message is for the user.
	Message string
}

// maxText bounds each text of an answer, in bytes; the rest is cut.
const maxText = 32 << 10

// settle checks an answer at an event, and makes its input canonical.
func (o *Output) settle(e Event) error {
	if o.Verdict > permissions.Deny {
		return fmt.Errorf("the verdict %d is unknown", uint8(o.Verdict))
	}
	for _, text := range []*string{&o.Reason, &o.Context, &o.StopReason, &o.Message} {
		*text = clean(*text)
	}
	if o.Worktree != "" && e != WorktreeCreated {
		return fmt.Errorf("worktreePath has no meaning at %s", e)
	}
	if e == PreToolUse {
		return o.settleInput()
	}
	switch {
	case e.during() && o.UpdatedOutput != nil:
		return fmt.Errorf("updatedOutput has no meaning at %s: the call has not ended", e)
	case o.UpdatedInput != nil:
		return fmt.Errorf("updatedInput has no meaning at %s: the call has been made", e)
	case o.Verdict == permissions.Ask:
		return fmt.Errorf("nothing can be asked at %s: the call has been made", e)
	case o.Verdict == permissions.Allow:
		o.Verdict = permissions.None
	}
	return checkBlocks(o.UpdatedOutput)
}

func (o *Output) settleInput() error {
	if o.UpdatedOutput != nil {
		return fmt.Errorf("updatedOutput has no meaning at %s: the call has not been made", PreToolUse)
	}
	if o.UpdatedInput == nil {
		return nil
	}
	canonical, err := abi.Canonical(o.UpdatedInput)
	if err != nil {
		return fmt.Errorf("updatedInput: %w", err)
	}
	if canonical[0] != '{' {
		return errors.New("updatedInput is not an object")
	}
	o.UpdatedInput = canonical
	return nil
}

// clean makes a text valid and bounds it.
func clean(text string) string {
	if len(text) <= maxText && utf8.ValidString(text) {
		return text
	}
	cut := ""
	if len(text) > maxText {
		cut = fmt.Sprintf("... (cut: %d bytes in all)", len(text))
		text = text[:maxText]
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		if r, n := utf8.DecodeLastRuneInString(text); r == utf8.RuneError && n == 1 {
			text = text[:len(text)-1] // a rune that lost its end
		}
	}
	return string(bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))) + cut
}
