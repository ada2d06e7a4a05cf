package main

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions/settings"
)

// asker is who is asked what the rules leave open, or nil for nobody. Where
// standard input is not free, nobody can answer on it.
func (a *app) asker(s *setup, free bool, resume approvals.Resume) host.Asker {
	switch a.flags.approval {
	case approveLater:
		return a.later(s, resume)
	case approvePipe:
		if !free {
			s.options.Observe.Logger.Warn("nobody is asked: standard input holds the message")
			return nil
		}
		return a.limited(s, ui.NewAsker(a.err, a.in))
	case approveAuto:
		if person := a.person(); person != nil && free {
			a.sitting = person
			return a.limited(s, person)
		}
	}
	return nil
}

// later keeps questions for another process to answer.
func (a *app) later(s *setup, resume approvals.Resume) host.Asker {
	store, err := approvals.OpenStore(s.dirs.Approvals(), approvals.Options{})
	if err != nil {
		s.options.Observe.Logger.Warn("questions cannot be kept for later: what would ask is denied", "error", err)
		return nil
	}
	resume.Flags = a.flags.kept(s.message)
	if resume.Began == "" {
		resume.Began, resume.AdditionalDirs = s.session.Cwd, s.session.AdditionalDirs
	}
	return approvals.NewDurable(store, resume)
}

// limited gives a person the time that the settings allow for an answer.
func (a *app) limited(s *setup, person host.Asker) host.Asker {
	limit := s.loaded.Approvals.Timeout.Value
	if limit <= 0 {
		return person
	}
	return approvals.WithTimeout(person, limit, approvals.Deny("nobody answered within "+limit.String()))
}

// person is who sits at the terminal, or nil.
func (a *app) person() *ui.Asker {
	if a.unattended || !a.err.Terminal || !ui.IsTerminal(a.in) {
		return nil
	}
	person := ui.NewAsker(a.err, a.in)
	person.HoldSignals(a.signals.hold)
	a.signals.beforeExit(func() {
		a.err.Abandon()
		person.Abandon()
	})
	return person
}

// confirm asks the person, unless yes was given; without either it refuses.
func (a *app) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	person := a.person()
	if person == nil {
		return usageError("nobody can be asked here; look at the above and say --yes")
	}
	if !person.Confirm(ctx, question) {
		return &exitError{exitDenied, errors.New("nothing was changed")}
	}
	return nil
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
