package servers

import (
	"testing"
	"time"
)

// SetDiagnosticsTime changes what an edit waits for the editor. The test must not run beside others.
func SetDiagnosticsTime(t *testing.T, d time.Duration) {
	t.Helper()
	was := diagnosticsTime
	diagnosticsTime = d
	t.Cleanup(func() { diagnosticsTime = was })
}

// SetProbeTime changes how long a program may leave the first question unanswered. The test must
// not run beside others.
func SetProbeTime(t *testing.T, d time.Duration) {
	t.Helper()
	was := probeTime
	probeTime = d
	t.Cleanup(func() { probeTime = was })
}
