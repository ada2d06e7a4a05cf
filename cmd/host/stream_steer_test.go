package main

import (
	"context"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestModesByLines: a policy's word stands against the person's, and who answers nothing cannot
// loosen the mode.
func TestModesByLines(t *testing.T) {
	t.Parallel()
	h, err := host.Open(t.Context(), host.Options{Permissions: host.PermissionOptions{ForbiddenModes: []permissions.Mode{permissions.ModeBypass}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.WithoutCancel(t.Context()))
	for name, test := range map[string]struct {
		began, to permissions.Mode // to is empty for leaving plan
		asks      bool
		want      permissions.Mode
		says      string
	}{
		"into plan":          {permissions.ModeDefault, permissions.ModePlan, true, permissions.ModePlan, ""},
		"out of plan":        {permissions.ModePlan, "", true, permissions.ModeDefault, ""},
		"looser":             {permissions.ModeDefault, permissions.ModeAuto, true, permissions.ModeAuto, ""},
		"forbidden":          {permissions.ModeDefault, permissions.ModeBypass, true, permissions.ModeDefault, "the mode stays default: the mode bypassPermissions is forbidden by policy"},
		"not in plan":        {permissions.ModeAuto, "", true, permissions.ModeAuto, "the mode stays auto: the mode is auto, not plan"},
		"no asker, tighter":  {permissions.ModeDefault, permissions.ModePlan, false, permissions.ModePlan, ""},
		"no asker, dontAsk":  {permissions.ModeAuto, permissions.ModeDontAsk, false, permissions.ModeDontAsk, ""},
		"no asker, sideways": {permissions.ModePlan, permissions.ModeDontAsk, false, permissions.ModePlan, "nothing is asked over this stream"},
		"no asker, looser":   {permissions.ModeDefault, permissions.ModeAuto, false, permissions.ModeDefault, "nothing is asked over this stream"},
		"no asker, out of":   {permissions.ModePlan, "", false, permissions.ModePlan, "nothing is asked over this stream"},
		"no asker, restrict": {permissions.ModeAuto, permissions.ModeDefault, false, permissions.ModeAuto, "nothing is asked over this stream"},
	} {
		s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Mode: test.began})
		if err != nil {
			t.Fatal(err)
		}
		d := &streamDriver{turns: streamTurns{session: s}}
		if test.asks {
			d.asker = newStreamAsker(nil)
		}
		err = d.changeMode(test.to)
		if (err != nil) != (test.says != "") || err != nil && (!strings.Contains(err.Error(), test.says) || abi.CodeOf(err) != abi.CodeDenied) || s.Mode() != test.want {
			t.Errorf("%s: %v, and the mode is %s", name, err, s.Mode())
		}
	}
}
