package abi

import "encoding/json"

// The statuses of a message to the person.
const (
	// MessageNormal answers the person, and is the default.
	MessageNormal = "normal"
	// MessageProactive is what nobody asked for.
	MessageProactive = "proactive"
)

// The bounds of a message to the person.
const (
	// MaxMessage is the longest message, in code points.
	MaxMessage = 50_000
	// MaxAttachments is how many files may belong to one, and MaxAttachment their largest
	// size in bytes.
	MaxAttachments = 10
	MaxAttachment  = 25 << 20
)

// MessageArgs are the arguments of session.message.
type MessageArgs struct {
	// Message is in Markdown: at most [MaxMessage] code points, and not blank.
	Message string `json:"message"`
	// Attachments are the paths of files that belong to it. They are judged as files that are
	// read, and the tool must have fs.read for them.
	Attachments []string `json:"attachments,omitempty"`
	// Status is one of the statuses above; empty is MessageNormal.
	Status string `json:"status,omitempty"`
}

// MessageOK is the answer to session.message.
type MessageOK struct {
	Attachments []MessageAttachment `json:"attachments,omitempty"`
	// Sent is when the person was told, as RFC 3339 has it, in UTC.
	Sent string `json:"sent_at"`
}

// MessageAttachment is a file that belongs to a message.
type MessageAttachment struct {
	// Path is absolute, and Size in bytes.
	Path string `json:"path"`
	Size int64  `json:"size"`
	// IsImage says that its content is an image.
	IsImage bool `json:"is_image,omitempty"`
}

// SessionOutputOK is the answer to session.output.
type SessionOutputOK struct {
	// Replaced says that an earlier output of the session no longer counts.
	Replaced bool `json:"replaced,omitempty"`
}

// ConfigArgs are the arguments of session.config.
type ConfigArgs struct {
	// Setting is a key as settings files have it, such as scheduler.mode.
	Setting string `json:"setting"`
	// Value is a string, a boolean or a number to set it to; empty reads the setting.
	Value json.RawMessage `json:"value,omitempty"`
}

// ConfigOK is the answer to session.config. Values are null where a setting is not made.
type ConfigOK struct {
	// Value is what counts, where the setting was read.
	Value json.RawMessage `json:"value,omitempty"`
	// Previous is what counted before it was set, and New what counts since.
	Previous json.RawMessage `json:"previous,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	// Source says, for people, where what is read stands.
	Source string `json:"source,omitempty"`
}
