package capability

import (
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// ReadArgs reads the arguments of a request. The error is of abi.CodeInvalidInput.
func ReadArgs(req abi.Request, args any) error {
	if err := json.Unmarshal(req.Args, args); err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "the arguments of %s: %w", req.Name, err)
	}
	return nil
}

// OfSession is the part of a [Plan] that touches one part of the session, which it names, and
// holds nothing.
type OfSession string

// Accesses is the one part of the session that is used.
func (s OfSession) Accesses() []permissions.Access {
	return []permissions.Access{{Kind: permissions.AccessSession, Target: string(s)}}
}

// Close has nothing to let go of.
func (OfSession) Close() error { return nil }
