package permissions

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"time"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Setup is what a policy is compiled from.
type Setup struct {
	Layout

	// Mode is used where no rule set names one; empty is ModeDefault.
	Mode Mode
	// Forbidden are modes that are not offered: a policy in one is an error.
	Forbidden []Mode
	// Unasked says in which modes commands that run wholly confined need no permission;
	// empty is UnaskedEdits.
	Unasked Unasked
	// Contained says whether commands are tried before a person is asked; empty is ContainedOff.
	Contained Contained
	// OnlyPolicyRules makes allow rules of other sources than policy grant
	// nothing. Their deny and ask rules stand.
	OnlyPolicyRules bool

	// Rules are the rules by source, in any order.
	Rules []RuleSet
	// Aliases maps other names of tools to the names that rules may use for
	// them.
	Aliases map[string]string
	// Tools are the tools there are. Of one that is not listed, a deny or ask
	// rule with parentheses that is not about paths, commands for Bash or hosts
	// for WebFetch takes every reading.
	Tools []Tool
	// Now is the time, for rules that expire. Without it allow rules that do
	// grant nothing.
	Now time.Time

	// FoldCase makes deny and ask rules match paths whatever the case of their
	// letters; set it where the file system does so ([FoldsCase]).
	FoldCase bool
	// Resolve returns where an absolute path really lies, as far as it exists,
	// the rest of the name left as it is; or empty. With it a deny or ask rule
	// that names a link also binds what the link points at. Compile and the
	// With methods call it, Decide never. Nil leaves links in rules alone.
	Resolve func(path string) string
	// ResolveDirectory is Resolve for the additional directories of rule sets. One that
	// answers the same for as long as a session lasts keeps a link that is changed
	// meanwhile from moving its working directories. Nil is Resolve.
	ResolveDirectory func(path string) string
	// Analyse reads a command, for the examples of rules on commands. Nil takes
	// them for one simple command each.
	Analyse func(text string) Command
}

// Layout is the directories of a session.
type Layout struct {
	// Cwd is where the session begins: the first working directory, and what
	// relative patterns are relative to.
	Cwd Dir
	// Worktree, where its Main is set, says that Cwd is the root of a worktree that was made for
	// the session.
	Worktree Worktree
	// Additional are further working directories.
	Additional []Dir
	// Home is the directory that ~ stands for; empty if it is not known.
	Home Dir
	// ProjectRoot is what a pattern with one leading slash is relative to in
	// rules of the project; default Cwd.
	ProjectRoot Dir
	// SessionFolder is the session's own folder, readable unasked.
	SessionFolder Dir
	// TempFolder is where the session's commands put temporary files. It counts as a working
	// directory, for other tools too.
	TempFolder Dir
	// Sessions holds the folders of all sessions. Reading those of others asks, as it does
	// in credential stores.
	Sessions Dir
	// HostFolders hold the host's own settings and plugins; changing anything
	// there asks.
	HostFolders []Dir
	// Skills are folders that have the folders skills and commands, and plugins with folders skills.
	// What is in those is no secret, though a folder of the host's own holds it.
	Skills []Dir
	// PlanFile is the one file that may be written in ModePlan.
	PlanFile Dir
}

// Worktree says which worktree of a repository a session came from that works in another one.
type Worktree struct {
	// Main is the root of the worktree that it came from; empty where it came from none. What
	// deny and ask rules say of paths in it holds for the same paths in [Layout.Cwd], too.
	Main Dir
	// Start is where the session began, in Main. Rules with relative patterns are about this
	// directory; allow rules, and those of a project in Main, about its twin in [Layout.Cwd].
	Start Dir
	// Own says that Cwd lies in a place of the host's own, where the session may work although
	// the place is protected.
	Own bool
}

// FoldsCase reports whether file systems of this platform commonly take names
// that differ in case for the same.
func FoldsCase() bool { return runtime.GOOS == "darwin" || runtime.GOOS == "windows" }

// RuleSet is the rules of one source.
type RuleSet struct {
	Source SourceKind
	// File is the settings file they stand in, for messages.
	File string
	// Folder is what patterns with one leading slash are relative to. Default:
	// for the project's rules the project root, for others that of File, else
	// the working directory.
	Folder Dir

	Deny, Ask, Allow []RuleText
	// Outside are patterns of commands, as in Bash(...), that may leave the sandbox where a
	// call asks for it, and run there unasked. A project's grant nothing.
	Outside []RuleText
	// Mode is the mode the source asks for. Of several, the weightiest
	// source's counts.
	Mode Mode
	// Directories are additional working directories, relative to Folder or
	// with ~.
	Directories []string
}

// RuleText is a rule as written.
type RuleText struct {
	Text string
	// Line is its line in the file; 0 is unknown.
	Line int
	// Match and NotMatch are examples that Compile holds the rule to: calls,
	// such as Read(/etc/hosts) or Bash(git push), or what stands in their
	// parentheses alone. See the package comment.
	Match, NotMatch []string
	// Expires is when the rule ceases to count; zero is never.
	Expires time.Time
}

// RuleTexts returns rules that stand in no file.
func RuleTexts(rules ...string) []RuleText {
	out := make([]RuleText, len(rules))
	for i, text := range rules {
		out[i].Text = text
	}
	return out
}

// Warning is something about a rule or setting that its writer may not expect.
// It never loosens anything.
type Warning struct {
	Source Source
	// Rule is the rule's text; empty for other settings.
	Rule    string
	Message string
}

// String returns the warning with its place.
func (w Warning) String() string {
	if w.Rule == "" {
		return fmt.Sprintf("%s: %s", w.Source, w.Message)
	}
	return fmt.Sprintf("%s: rule %s: %s", w.Source, w.Rule, w.Message)
}

// aliases are those of the setup and of its tools; the setup's count first.
func aliases(s *Setup) map[string]string {
	all := make(map[string]string)
	for i := range s.Tools {
		for _, alias := range s.Tools[i].Aliases {
			all[alias] = s.Tools[i].Name
		}
	}
	maps.Copy(all, s.Aliases)
	return all
}

func checkDirs(s *Setup) error {
	var errs []error
	check := func(what string, needed bool, dirs ...Dir) {
		for _, d := range dirs {
			for _, form := range []string{d.Path, d.Real} {
				if form != "" && !paths.IsClean(filepath.ToSlash(form)) || needed && d.Path == "" {
					errs = append(errs, fmt.Errorf("the %s %q is not an absolute, clean path", what, form))
				}
			}
		}
	}
	check("working directory", true, s.Cwd)
	check("working directory", true, s.Additional...)
	check("former worktree", false, s.Worktree.Main, s.Worktree.Start)
	check("home", false, s.Home)
	check("project root", false, s.ProjectRoot)
	check("session folder", false, s.SessionFolder)
	check("folder for temporary files", false, s.TempFolder)
	check("directory of sessions", false, s.Sessions)
	check("plan file", false, s.PlanFile)
	check("host folder", true, s.HostFolders...)
	check("folder of skills", true, s.Skills...)
	return errors.Join(errs...)
}
