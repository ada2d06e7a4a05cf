package toolquaytest

import (
	"errors"
	"fmt"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// capabilities are those that this host answers itself, by name.
var capabilities = map[string]func(s *session, args []byte, parts [][]byte) (any, []byte, error){
	toolquay.CapFSRead:         (*session).read,
	toolquay.CapFSStat:         (*session).stat,
	toolquay.CapFSList:         (*session).list,
	toolquay.CapFSWrite:        (*session).write,
	toolquay.CapFSReplace:      (*session).replace,
	toolquay.CapSearchNames:    (*session).names,
	toolquay.CapSearchContents: (*session).contents,
	toolquay.CapClockNow:       (*session).clock,
	toolquay.CapRandomBytes:    (*session).random,
}

var errUnlisted = errors.New("there is no [[tools]] table of that name")

// admit holds a call to the manifest before it starts, and returns the input as the tool
// gets it: refused is what a real host would answer instead, err a fault of the manifest.
func (s *session) admit(head *wire.CallHead, input []byte) (normal []byte, refused, err error) {
	if s.contract = s.manifest.tool(s.tool); s.contract == nil {
		return nil, nil, errUnlisted
	}
	if head.Config, err = s.manifest.settings(head.Config); err != nil {
		return nil, nil, err
	}
	if s.contract.schema == "" {
		return input, nil, nil
	}
	input = s.contract.normalize(input)
	why, err := checkSchema(s.contract.schema, input)
	if err != nil {
		return nil, nil, fmt.Errorf("input_schema %w", err)
	}
	if why != "" {
		refused = toolquay.Errorf(toolquay.CodeInvalidInput, "%s: %s", s.tool, why)
	}
	return input, refused, nil
}

// permit holds a capability call to the manifest.
func (s *session) permit(capability string) (err error) {
	if s.manifest == nil {
		return nil
	}
	if int64(len(s.requests)) > s.manifest.calls {
		return toolquay.Errorf(toolquay.CodeLimit, "this call made more than its %d capability calls (limit capability_calls)", s.manifest.calls)
	}
	s.claim, err = s.manifest.declares(s.contract, capability)
	return err
}

// mayWrite holds a tool to read_only.
func (s *session) mayWrite(p string) error {
	if s.contract == nil || !s.contract.readOnly {
		return nil
	}
	return toolquay.Errorf(toolquay.CodeDenied, "%s declares itself read-only and asked for fs.write on %s; its author must correct read_only in the manifest", s.tool, s.host.absolute(p))
}

// overLimit is the error for a message that is longer than the manifest lets it be.
func (s *session) overLimit(message []byte) error {
	if s.manifest == nil || int64(len(message)) <= s.manifest.output {
		return nil
	}
	return toolquay.Errorf(toolquay.CodeLimit, "the plugin answered %d bytes, over its limit output = %s", len(message), sizeText(s.manifest.output))
}

// clock does clock.now.
func (s *session) clock([]byte, [][]byte) (any, []byte, error) {
	return toolquay.ClockOK{Unix: s.host.now.UnixNano(), Monotonic: int64(len(s.requests))}, nil, nil
}

// random does random.bytes: bytes that look random, and are the same in each run.
func (s *session) random(raw []byte, _ [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.RandomArgs](raw)
	if err == nil && (args.Length < 1 || args.Length > toolquay.MaxRandom) {
		err = toolquay.Errorf(toolquay.CodeInvalidInput, "length is %d; ask for 1 to %d bytes", args.Length, toolquay.MaxRandom)
	}
	if err != nil {
		return nil, nil, err
	}
	drawn := make([]byte, args.Length)
	for i := range drawn {
		s.drawn = s.drawn*6364136223846793005 + 1442695040888963407
		drawn[i] = byte(s.drawn >> 56)
	}
	return toolquay.RandomOK(args), drawn, nil
}

// failed is the result that stands for an error of the host's.
func failed(err error) *Result {
	var coded *toolquay.Error
	if !errors.As(err, &coded) {
		coded = &toolquay.Error{Code: toolquay.CodeInternal, Message: err.Error()}
	}
	return &Result{IsError: true, Err: coded, Blocks: []Block{{Type: string(wire.BlockText), Text: coded.Error()}}}
}
