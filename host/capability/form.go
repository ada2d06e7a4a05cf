package capability

import (
	"encoding/json"
	"net/url"
	"unicode"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/forms"
)

// Form asks a person for the values of a few fields.
type Form struct {
	// Message says what for.
	Message string `json:"message"`
	// Schema describes the fields, as the elicitation of MCP has it: a JSON Schema of the type
	// object, whose properties are strings (format email, uri, date or date-time, minLength,
	// maxLength), strings with an enum, or with a oneOf of a const and a title each, numbers
	// and integers (minimum, maximum), booleans, and arrays of such choices. Each may have a
	// title, a description and a default. The answer's content is an object that fits it.
	Schema json.RawMessage `json:"schema"`
}

func (f *Form) kind() QuestionKind { return QuestionForm }

func (f *Form) check() error {
	if err := checkMessage(f.Message); err != nil {
		return err
	}
	_, err := forms.Parse(f.Schema)
	return err
}

func (f *Form) accept(content json.RawMessage) (json.RawMessage, error) {
	form, err := forms.Parse(f.Schema)
	if err != nil {
		return nil, err
	}
	return form.Accept(content)
}

// URLQuestion asks a person to open a URL themselves, such as to sign in somewhere. A yes says
// that they will, not that they are done there.
type URLQuestion struct {
	// Message says what for.
	Message string `json:"message"`
	// URL is absolute, of the scheme https or http.
	URL string `json:"url"`
}

func (u *URLQuestion) kind() QuestionKind { return QuestionURL }

// accept takes no content: the answer is yes or no.
func (u *URLQuestion) accept(content json.RawMessage) (json.RawMessage, error) {
	if len(content) > 0 {
		return nil, abi.Errorf(abi.CodeInvalidInput, "an answer to a URL has no content")
	}
	return nil, nil
}

// maxQuestion bounds what a tool can have a person read, in bytes, and maxURL its URL.
const (
	maxQuestion = 16 << 10
	maxURL      = 8 << 10
)

func (u *URLQuestion) check() error {
	if err := checkMessage(u.Message); err != nil {
		return err
	}
	if len(u.URL) > maxURL {
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question has %d bytes; at most %d", len(u.URL), maxURL)
	}
	parsed, err := url.Parse(u.URL)
	switch {
	case err != nil:
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question: %w", err)
	case parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Hostname() == "":
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question must be a whole one that begins with https:// or http://")
	case parsed.User != nil:
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question must name no user: what stands before @ looks like a host")
	}
	for _, r := range u.URL {
		if r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' {
			return abi.Errorf(abi.CodeInvalidInput, "the URL of a question has the character %+q; write it with %%-escapes, and a host as xn--", r)
		}
	}
	return nil
}

func checkMessage(message string) error {
	switch {
	case message == "":
		return abi.Errorf(abi.CodeInvalidInput, "a question must have a message that says what it is for")
	case len(message) > maxQuestion:
		return abi.Errorf(abi.CodeInvalidInput, "the message of a question has %d bytes; at most %d", len(message), maxQuestion)
	}
	return nil
}
