package pipeline

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
)

// BarredByStage says why a tool can do nothing in a session whose writes are staged, or
// nil. ReadOnly says that it may be called without changing anything.
func BarredByStage(t tool.Tool, readOnly bool) error {
	contract := t.Contract()
	if _, native := t.(*tool.Native); native && !readOnly {
		return abi.Errorf(abi.CodeDenied, "%s may change files by itself, and this session stages what is written; apply or discard that (toolquay stage), and go on without --stage", contract.Name)
	}
	if slices.ContainsFunc(contract.Fields, func(f abi.Field) bool { return f.Kind == abi.FieldCommand }) {
		return abi.Errorf(abi.CodeDenied, "%s runs commands, which neither see nor respect what this session has staged; apply or discard that (toolquay stage), and go on without --stage", contract.Name)
	}
	return nil
}
