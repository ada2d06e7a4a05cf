package judge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Answer is what a judge says of a question. Its zero value is no answer.
type Answer struct {
	// InputHash is the question's.
	InputHash string
	// Verdict is Allow or Ask.
	Verdict permissions.Verdict
	// Reason is for the user: the model's word, or why there is none.
	Reason string
	// Err is why the model gave no answer, or nil.
	Err error
	// Took is how long the answer was awaited, from the time of the question.
	Took time.Duration
}

// maxReason bounds a model's reason, in code points.
const maxReason = 300

// parseAnswer reads a model's answer strictly: what is not exactly one is none.
func parseAnswer(text string) (v permissions.Verdict, reason string, err error) {
	canonical, err := abi.Canonical([]byte(text))
	if err != nil {
		return permissions.None, "", err
	}
	value, err := abi.Value(canonical)
	if err != nil {
		return permissions.None, "", err
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return permissions.None, "", errors.New("it is not an object")
	}
	word, isText := fields["verdict"].(string)
	reason, hasReason := fields["reason"].(string)
	if reason = clean(reason); !isText || !hasReason || reason == "" || len(fields) != 2 {
		return permissions.None, "", errors.New("it does not have exactly a verdict and a reason")
	}
	switch word {
	case "allow":
		return permissions.Allow, reason, nil
	case "ask":
		return permissions.Ask, reason, nil
	}
	return permissions.None, "", fmt.Errorf("its verdict is %.40q; there are allow and ask", word)
}

// clean makes one line of a model's text that shows what is in it.
func clean(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(text) {
		if n++; n > maxReason {
			b.WriteString("...")
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case shows(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	return b.String()
}
