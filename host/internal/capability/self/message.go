package self

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

// messagePlan is one session.message. It holds the files that belong to the message.
type messagePlan struct {
	scope *capability.Scope
	said  capability.Said
	files []*workspace.Overlaid
}

func planMessage(scope *capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.MessageArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if scope.Unheard {
		return nil, abi.Errorf(abi.CodeUnsupported, "nobody shows the person messages here; put what they should know into the result")
	}
	if err := checkMessage(&args); err != nil {
		return nil, err
	}
	if err := noRehearsal(scope, req); err != nil {
		return nil, err
	}
	p := &messagePlan{scope: scope, said: capability.Said{Message: args.Message, Status: args.Status, Plugin: scope.Call.Plugin}}
	if p.said.Status == "" {
		p.said.Status = abi.MessageNormal
	}
	for _, path := range args.Attachments {
		file, err := workspace.Overlay(scope.Cwd, path, scope.Stage)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.files = append(p.files, file)
	}
	return p, nil
}

// checkMessage refuses arguments that are out of bounds.
func checkMessage(args *abi.MessageArgs) error {
	switch n := utf8.RuneCountInString(args.Message); {
	case strings.TrimSpace(args.Message) == "":
		return abi.Errorf(abi.CodeInvalidInput, "the message is blank")
	case n > abi.MaxMessage:
		return abi.Errorf(abi.CodeInvalidInput, "the message has %d characters; it has at most %d: attach a file instead", n, abi.MaxMessage)
	}
	switch args.Status {
	case "", abi.MessageNormal, abi.MessageProactive:
	default:
		return abi.Errorf(abi.CodeInvalidInput, "the status %.40q is unknown; write %s or %s", args.Status, abi.MessageNormal, abi.MessageProactive)
	}
	if n := len(args.Attachments); n > abi.MaxAttachments {
		return abi.Errorf(abi.CodeInvalidInput, "there are %d attachments; a message has at most %d", n, abi.MaxAttachments)
	}
	return nil
}

// Accesses are the session's messages, and each file.
func (p *messagePlan) Accesses() []permissions.Access {
	all := capability.OfSession(targetMessage).Accesses()
	for _, file := range p.files {
		all = append(all, file.Access(permissions.AccessRead, false))
	}
	return all
}

// Do looks at the files and tells the person, unless one of the files cannot be shown.
func (p *messagePlan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	ok := abi.MessageOK{}
	for _, file := range p.files {
		attachment, err := look(file)
		if err != nil {
			return abi.Answer{}, err
		}
		ok.Attachments = append(ok.Attachments, attachment)
		p.said.Attachments = append(p.said.Attachments, capability.SaidAttachment(attachment))
	}
	p.said.Sent = time.Now().UTC()
	ok.Sent = p.said.Sent.Format(time.RFC3339Nano)
	p.scope.Tell(capability.News{Said: &p.said})
	return abi.Answer{OK: ok}, nil
}

// sniffed is how many bytes of a file tell what it is.
const sniffed = 512

// look finds out what a file is.
func look(file *workspace.Overlaid) (_ abi.MessageAttachment, err error) {
	f, info, err := file.Open()
	if err != nil {
		return abi.MessageAttachment{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info.Size > abi.MaxAttachment {
		return abi.MessageAttachment{}, abi.Errorf(abi.CodeTooLarge, "%s has %d bytes; an attachment has at most %d", file.Target, info.Size, abi.MaxAttachment)
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return abi.MessageAttachment{}, abi.Errorf(abi.CodeIO, "reading %s: %w", file.Target, err)
	}
	image := strings.HasPrefix(http.DetectContentType(head[:n]), "image/")
	return abi.MessageAttachment{Path: file.Target, Size: info.Size, IsImage: image}, nil
}

// Close lets go of the files.
func (p *messagePlan) Close() error {
	var all error
	for _, file := range p.files {
		all = errors.Join(all, file.Close())
	}
	return all
}
