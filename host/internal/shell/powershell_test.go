package shell_test

import (
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestPowerShellGetsCommandsByteForByte has a script in PowerShell's place tell what it
// is given.
func TestPowerShellGetsCommandsByteForByte(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "iconv")
	s := newSession(t)
	script := filepath.Join(s.dir, "pwsh")
	content := "#!/bin/sh\n[ -z \"$BASH_ENV\" ] || echo poisoned\nfor last; do :; done\necho \"$#\" \"$1\" \"$2\" \"$3\"\nprintf %s \"$last\" | base64 -d | iconv -f UTF-16LE -t UTF-8\nexit 5\n"
	testenv.WriteProgram(t, script, []byte(content))
	c := newShell(t, func(o *shell.Options) { o.PowerShell = script })
	command := "Write-Output \"a  'b'\" `\n\\ $x; ü𝄞 "
	r := s.run(c, abi.ShellArgs{Command: command, Shell: abi.ShellPowerShell})
	if r.out != "7 -NoLogo -NoProfile -NonInteractive\n"+command || r.Exit != 5 || r.Program != "" {
		t.Errorf("got %+v", r)
	}
}

func TestPowerShell(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.PowerShell)
	s, c := newSession(t), newShell(t)
	r := s.run(c, abi.ShellArgs{Command: "Write-Output \"a  'b'\"; exit 5", Shell: abi.ShellPowerShell})
	if r.out != "a  'b'\n" || r.Exit != 5 {
		t.Errorf("got %+v", r)
	}
}

func TestAbsentShellsAreSaid(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	_, err := s.try(t.Context(), c, abi.ShellArgs{Command: "1", Shell: abi.ShellPowerShell})
	if err != nil && abi.CodeOf(err) != abi.CodeUnsupported {
		t.Errorf("got %v", err)
	}
}
