package settings

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Options say which settings to load. What is empty is left out; nothing is read
// from other places.
type Options struct {
	// SystemDir is the directory of the policy; empty means that there is no policy.
	SystemDir string
	// CheckOwner says what is wrong with the owner or mode of a file or directory
	// of the policy; nil wants all of them to belong to root and nobody else to be
	// able to write to them. Off Unix that cannot be told and is always an error.
	CheckOwner func(path string, info fs.FileInfo) error

	// UserFile is the user's settings.toml.
	UserFile string
	// Home is what ~/ means in the path of a directory.
	Home string

	// Project is the project's root.
	Project permissions.Dir
	// Shown returns the pins of what the user was shown of the project and trusts,
	// and nil where they do not trust it. It is called once for each load; a nil
	// function trusts nothing.
	Shown func() (map[Pin]bool, error)
	// Watched are further files whose change may change what Shown returns.
	Watched []string

	// ProjectClaude also reads .claude/settings.json and
	// .claude/settings.local.json of the project.
	ProjectClaude bool
	// ProjectServers also reads .mcp.json of the project, which weighs less than all
	// settings files.
	ProjectServers bool
	// UserClaude also reads this file, most often ~/.claude/settings.json.
	UserClaude string

	// CommandLine and Session are settings that stand in no file; their Kind is
	// set by Load.
	CommandLine, Session *File

	// Now is the time that rules expire by; nil is [time.Now].
	Now func() time.Time
}

// ProjectFile is the project's settings file.
func ProjectFile(root string) string { return filepath.Join(root, ".toolquay", "settings.toml") }

// ProjectLocalFile is the settings file of a project that is one person's own.
func ProjectLocalFile(root string) string {
	return filepath.Join(root, ".toolquay", "settings.local.toml")
}

// Loaded is what the settings of all sources come to. It is not to be changed.
type Loaded struct {
	// Rules are the rules of each file, the weightiest first, for
	// [permissions.Setup].
	Rules []permissions.RuleSet
	// Hooks are by event, the weightiest source's first.
	Hooks map[Event][]Hook
	// Judge is the weightiest source's, as a whole; nil is none.
	Judge *Judge
	// Log has the path of its directory without ~.
	Log       Log
	Approvals Approvals
	// Of the tables below each key is the weightiest source's that has it.
	Results   Results
	Scheduler Scheduler
	Tools     Tools
	Tasks     Tasks
	// Sessions has the path of its directory without ~.
	Sessions  Sessions
	Storage   Storage
	Telemetry Telemetry
	// Shell and Sandbox are so too, but for projects, which tighten them whether or
	// not they are trusted. The writable directories are without ~.
	Shell   Shell
	Sandbox Sandbox
	// Servers are the MCP servers by name, those that are switched off included. Of each
	// name the weightiest source's definition counts as a whole.
	Servers     []Server
	Network     Network
	Credentials Credentials
	// Policy joins what all files of the policy say. OnlyHooks and OnlyServers have been applied,
	// and modes that are forbidden were taken out of Rules; the rest is for
	// [permissions.Setup] and the host.
	Policy Policy
	// Isolation is the strictest that any source demands, with who demands it.
	Isolation Key[abi.Isolation]
	// PluginConfig has for each value of a plugin's the weightiest source's.
	PluginConfig PluginConfig

	// Brings is what the project brings that needs trust, whether or not the user
	// trusts it. Withheld is the part that they were not shown, which has no effect.
	Brings, Withheld []Brought
	// Warnings are what a person should know, and what was left out.
	Warnings []permissions.Warning
	// Files are all that were looked for, there or not, the weightiest first.
	Files []Seen
	// Watched are the paths, directories of drop-ins included, whose change may
	// change what is loaded.
	Watched []string
	// Expires is when the next rule does; the zero time is never.
	Expires time.Time
}

// Seen is a file that was looked for.
type Seen struct {
	Kind permissions.SourceKind
	Path string
	// There says that there is such a file, whether or not it could be read.
	There bool
}

// Load reads the settings of all sources. All that is wrong with any of them is
// reported at once; what is returned with an error lacks what the files in
// question say, deny rules included, and is for showing only.
func Load(o Options) (*Loaded, error) {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	l := loader{o: o, now: now(), out: &Loaded{Hooks: make(map[Event][]Hook)}}
	l.out.Watched = append(l.out.Watched, o.Watched...)
	if o.Shown != nil {
		var err error
		if l.shown, err = o.Shown(); err != nil {
			l.errs = append(l.errs, err)
		}
	}
	readPolicy(&l)
	l.given(permissions.SourceCommandLine, o.CommandLine)
	l.given(permissions.SourceSession, o.Session)
	if root := o.Project.Path; root != "" {
		l.project(permissions.SourceProjectLocal, ProjectLocalFile(root), "settings.local.json")
		l.project(permissions.SourceProject, ProjectFile(root), "settings.json")
	}
	l.file(permissions.SourceUser, o.UserFile, Parse)
	l.file(permissions.SourceUser, o.UserClaude, ParseClaude)
	if o.ProjectServers && o.Project.Path != "" {
		l.sharedServers(o.Project.Path)
	}
	merge(&l)
	return l.out, errors.Join(l.errs...)
}
