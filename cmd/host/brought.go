package main

import (
	"context"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions/settings"
)

// offerNews asks the person at the terminal about what a project that they trust
// brings and they were not shown. Without a yes it has no effect; without a person the
// warnings say so. It reports whether anything was trusted.
func offerNews(ctx context.Context, a *app, s *setup) (bool, error) {
	person := a.person()
	if person == nil || a.flags.approval != approveAuto || a.flags.noProject || !s.project.Trusted {
		return false, nil
	}
	_, unseen, err := s.project.Brings(s.dirs)
	if err != nil || len(unseen) == 0 {
		return false, err
	}
	showBrought(a.err, s.project, unseen)
	if !person.Confirm(ctx, "Trust "+s.project.Root+" with this too?") {
		return false, nil
	}
	return true, s.trust.Add(s.project.Root, unseen...)
}

// showBrought prints what would take effect, all of it.
func showBrought(out *ui.Printer, project config.Project, unseen []settings.Brought) {
	switch {
	case len(unseen) == 0 && project.Trusted:
		out.Printf("%s brings nothing new.\n", project.Root)
	case len(unseen) == 0:
		out.Printf("%s brings:\n  nothing that needs trust\n", project.Root)
	case project.Trusted:
		out.Printf("%s brings, new since you trusted it:\n", project.Root)
	default:
		out.Printf("%s brings:\n", project.Root)
	}
	for _, b := range unseen {
		out.Printf("  %s\n", b)
	}
}
