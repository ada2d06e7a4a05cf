package commands

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// Options say how commands run.
type Options struct {
	// Supervisor starts a program that calls [process.Main] first thing; empty is this
	// program.
	Supervisor []string
	// Mode says when commands are confined, and Sandbox how a sandbox is set up; its
	// Supervisors are the runner's own, and so is an empty State.
	Mode    sandbox.Mode
	Sandbox sandbox.Options
	// Shell says how shells run.
	Shell shell.Settings
	// Environ is an environment of which commands get the usual variables, and those that
	// the globs in Environment name.
	Environ, Environment []string
	// Hosts are those that confined commands may reach beyond what rules allow: names, or
	// *.NAME for all below one.
	Hosts []string
	// Writable are directories that commands may write in beyond the session's own.
	Writable []string
	// Layers is the directory that holds what confined commands have in the place of the
	// user's caches, for each project: see package caches. Empty has them use the user's, as
	// far as these can be read.
	Layers string
	// Project is the directory of the project that sessions work in; empty is where each
	// begins.
	Project string
	// TrustedProjects lists the projects whose settings files commands may neither change
	// nor create; nil is none.
	TrustedProjects func() []string
	// Logger takes what an operator should know. It is required.
	Logger *slog.Logger

	// base is what every command sees of the machine, and what tools keep there if it may write.
	base func(writes bool) []string
}

// reaches reports whether the options let commands of a tool reach a host that no rule
// allows. A rule that holds the host back comes first.
func (o *Options) reaches(policy *permissions.Policy, tool, host string) bool {
	h := permissions.HostOf(host)
	if h.Odd != "" || h.Local || policy.HoldsBackHost(tool, host) {
		return false
	}
	return slices.ContainsFunc(o.Hosts, func(pattern string) bool {
		parent, below := strings.CutPrefix(strings.ToLower(pattern), "*")
		return below && strings.HasSuffix(h.Name, parent) || strings.EqualFold(pattern, h.Name)
	})
}
