package host

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/tool"
)

// refusesPowerShell says why the built-in tool PowerShell is not offered, or returns nil.
func (h *Host) refusesPowerShell(t tool.Tool) error {
	if !tool.BuiltIn(t) || t.Contract().Name != pipeline.PowerShell {
		return nil
	}
	if missing := h.commands.MissingPowerShell(); missing != nil {
		return abi.Errorf(abi.CodeDisabled, "there is no PowerShell here: %w", missing)
	}
	return nil
}

// refusesTasks says why a built-in tool for background tasks is not offered where no more
// of them begin, or returns nil: the tasks that the session had can be read.
func (s *Session) refusesTasks(t tool.Tool) error {
	_, reads := t.Declares(abi.CapTaskOutput)
	_, stops := t.Declares(abi.CapTaskStop)
	if !tool.BuiltIn(t) || !reads && !stops || s.backgrounds() {
		return nil
	}
	if reads && len(s.Tasks()) > 0 {
		return nil
	}
	return abi.Errorf(abi.CodeDisabled, "nothing runs in the background here, so there is nothing for %s", t.Contract().Name)
}
