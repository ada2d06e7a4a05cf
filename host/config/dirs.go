package config

import (
	"os"
	"path/filepath"
	"runtime"
)

// Dirs are the directories of one user, after the XDG base directory specification. An
// empty one is not used.
type Dirs struct {
	Home string
	// Config holds settings.toml and plugins.
	Config string
	// State holds what must outlive a process, such as the grants of plugins.
	State string
	// StateError is why State cannot be written, once [Dirs.Probe] has tried. State is then
	// only read, for trust and grants. The decision log, sessions, approvals and the state
	// of sandboxes are kept in Spare, or nowhere if that is empty.
	StateError error
	// Spare replaces a State that cannot be written. It may not outlive a restart of the
	// machine.
	Spare string
	// Cache holds what can be made again.
	Cache string
}

// UserDirs reads the user's own directories from the environment. Those that cannot be
// determined are empty. It ignores relative values of XDG variables, as the specification
// asks.
func UserDirs() Dirs {
	home, _ := os.UserHomeDir()
	dir := func(variable string, usual ...string) string {
		base := os.Getenv(variable)
		if !filepath.IsAbs(base) {
			if home == "" {
				return ""
			}
			base = filepath.Join(append([]string{home}, usual...)...)
		}
		return filepath.Join(base, "toolquay")
	}
	return Dirs{
		Home:   home,
		Config: dir("XDG_CONFIG_HOME", ".config"),
		State:  dir("XDG_STATE_HOME", ".local", "state"),
		Cache:  dir("XDG_CACHE_HOME", ".cache"),
	}
}

// SystemDir is the directory of the machine's policy. It is empty on Windows if the
// variable ProgramData has no absolute path.
func SystemDir() string {
	switch runtime.GOOS {
	case "windows":
		if data := os.Getenv("ProgramData"); filepath.IsAbs(data) {
			return filepath.Join(data, "Toolquay")
		}
		return ""
	case "darwin":
		return "/Library/Application Support/Toolquay"
	}
	return "/etc/toolquay"
}

// Plugins is the user's plugin directory.
func (d Dirs) Plugins() string { return join(d.Config, "plugins") }

// Settings is the user's settings file.
func (d Dirs) Settings() string { return join(d.Config, "settings.toml") }

// PluginGrants is the file that records the capabilities granted to plugins.
func (d Dirs) PluginGrants() string { return join(d.State, "consents.json") }

// Trust is the file that records the projects the user trusts.
func (d Dirs) Trust() string { return join(d.State, "trust.json") }

// Grants is the file of allow rules that end, see package permissions/grants.
func (d Dirs) Grants() string { return join(d.State, "grants.json") }

// ServerTools is the file that records what the tools of MCP servers were when they were
// last used.
func (d Dirs) ServerTools() string { return join(d.writable(), "mcp-tools.json") }

// credentials is the directory of what logins gave, and of the locks on it.
func (d Dirs) credentials() string { return join(d.State, "credentials") }

// Decisions is the directory of the decision log.
func (d Dirs) Decisions() string { return join(d.writable(), "decisions") }

// Approvals is the directory of approvals that wait for an answer.
func (d Dirs) Approvals() string { return join(d.writable(), "approvals") }

// Sessions is the directory of session directories.
func (d Dirs) Sessions() string { return join(d.writable(), "sessions") }

// Teams is the directory of what the agents of teams share.
func (d Dirs) Teams() string { return join(d.writable(), "teams") }

// Cron is the directory of the durable scheduled prompts of projects.
func (d Dirs) Cron() string { return join(d.writable(), "cron") }

// Worktrees is the directory of the worktrees that sessions made.
func (d Dirs) Worktrees() string { return join(d.writable(), "worktrees") }

// sandboxes is the directory of what sandboxes have to tidy up.
func (d Dirs) sandboxes() string { return join(d.writable(), "sandbox") }

// Compiled is the directory of compiled plugins.
func (d Dirs) Compiled() string { return join(d.Cache, "compiled") }

// layers is the directory of what commands have in the place of the user's caches.
func (d Dirs) layers() string { return join(d.Cache, "layers") }

// own are the names of what lies in the directory of state.
func (d Dirs) own() []string {
	var names []string
	for _, path := range []string{
		d.PluginGrants(), d.Trust(), d.Grants(), d.ServerTools(), d.credentials(), d.Decisions(), d.Approvals(), d.Sessions(), d.Teams(), d.Cron(), d.Worktrees(), d.sandboxes(),
	} {
		names = append(names, filepath.Base(path))
	}
	return names
}

// writable is the directory for state that a run writes, empty if there is none.
func (d Dirs) writable() string {
	if d.StateError != nil {
		return d.Spare
	}
	return d.State
}

// join is a path in a directory, empty if the directory is.
func join(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}
