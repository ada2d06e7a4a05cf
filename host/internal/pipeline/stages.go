package pipeline

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// overlaid are the capabilities that heed a stage.
var overlaid = []string{
	abi.CapFSRead, abi.CapFSStat, abi.CapFSList, abi.CapFSWrite, abi.CapFSReplace,
	abi.CapDocsRead, abi.CapSearchNames, abi.CapSearchContents,
}

// stageable refuses, in a session whose writes are staged, an access that could change
// something past the stage, or see files as they were before.
func (g *callGate) stageable(operation string, a permissions.Access) error {
	if !g.call.session().Stage || slices.Contains(overlaid, operation) {
		return nil
	}
	switch a.Kind {
	case permissions.AccessRead, permissions.AccessNet, permissions.AccessSession:
		return nil
	}
	return abi.Errorf(abi.CodeDenied, "%s asked for %s on %s with %s, which knows nothing of what this session has staged; apply or discard that (toolquay stage), and go on without --stage",
		g.call.tool.Contract().Name, a.Kind, a.Target, operation)
}

// stages refuses, in a session whose writes are staged, a call that may change the disk
// past the stage, before anybody is asked about it: one of the embedder's own tool, or
// one whose input is a command. That is so of commands that only read, too: they would
// see files as they were before.
func (c *Call) stages(readOnly bool) error {
	if !c.session().Stage {
		return nil
	}
	return BarredByStage(c.tool, readOnly)
}

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
