package capability

import (
	"context"
	"encoding/json"
)

// Person is whom a session works for, as a call that runs may ask them: not for a permission,
// which is the gate's to ask, but for what the call cannot go on without. Waiting for an
// answer takes none of the call's slot and time. It is safe for concurrent use.
//
// The errors are of abi.CodeUnsupported where nobody can answer such a question, of
// abi.CodeInvalidInput where the question is none, of abi.CodeNeedsApproval where it was kept
// for later, of abi.CodeInterrupted where the user wrote something new meanwhile, and of
// abi.CodeCancelled where the call has ended or the person dismissed the question.
type Person interface {
	// Fill asks for the fields of a form.
	Fill(ctx context.Context, f Form) (Reply, error)
	// Visit asks the person to open a URL themselves, such as to sign in somewhere. A yes
	// says that they will, not that they are done there.
	Visit(ctx context.Context, u URLQuestion) (Reply, error)
}

// Form asks a person for the values of a few fields.
type Form struct {
	// Message says what for.
	Message string `json:"message"`
	// Schema describes the fields, as the elicitation of MCP has it: a JSON Schema of the type
	// object, whose properties are strings (format email, uri, date or date-time, minLength,
	// maxLength), strings with an enum, or with a oneOf of a const and a title each, numbers
	// and integers (minimum, maximum), booleans, and arrays of such choices. Each may have a
	// title, a description and a default.
	Schema json.RawMessage `json:"schema"`
}

// URLQuestion asks a person to open a URL.
type URLQuestion struct {
	// Message says what for.
	Message string `json:"message"`
	// URL is absolute, of the scheme https or http.
	URL string `json:"url"`
}

// Reply is what a person answered to a [Form] or a [URLQuestion].
type Reply struct {
	// Accepted is false where they declined.
	Accepted bool
	// Content are the fields of a form by their names, which fit its schema. Fields without
	// an answer have their default.
	Content json.RawMessage
	// Message is what they said to a question that they declined; it may be empty.
	Message string
}
