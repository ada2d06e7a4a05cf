package shell

import (
	"fmt"
	"os"
	"path/filepath"
)

// What git says when it cannot write its settings, and when it does not know who commits.
var (
	gitSetting  = []string{"could not write config file", "could not lock config file", "unable to write upstream branch configuration"}
	gitIdentity = []string{
		"please tell me who you are", "empty ident name", "unable to auto-detect email address", "no email was given and auto-detection is disabled",
	}
)

// gitIrregular is what git says of a hidden file that it is to add.
const gitIrregular = "can only add regular files"

// exclude says how git adds what lies beside a hidden file; it is empty for other programs.
func (a *account) exclude(hidden string) string {
	if !a.said.has(gitIrregular) {
		return ""
	}
	return fmt.Sprintf(" Git adds the rest with git add -A -- ':!%s'.", filepath.Base(hidden))
}

// settings says which settings of git's a command could not change, and what to do. It is
// empty if there are none.
func (a *account) settings() string {
	switch {
	case !a.said.has(gitSetting...):
		return ""
	case a.said.has(".gitconfig", ".config/git/config", "/etc/gitconfig"):
		return "Commands cannot change the user's own settings of git: the user can, and git -c key=value has one for a single command."
	}
	text := "The settings of a repository cannot be changed in a sandbox, as they name programs that git runs outside of it, too; what else the command did stands."
	if a.said.has("set up to track") {
		text += " The branch has no upstream: name it, as in git push origin HEAD."
	}
	return text + " The user can change them, or allow the command with " + leaveSandbox + "."
}

// identity says how to commit where git does not know who does; it is empty elsewhere.
func (a *account) identity() string {
	if a.status.Code == 0 || !a.said.has(gitIdentity...) {
		return ""
	}
	return "Git knows no name and address to commit with. The user can set them, once, with git config --global user.name and user.email; for one command they are given as in git -c user.name=NAME -c user.email=ADDRESS commit."
}

// around says that the session's directory lies in a repository that commands do not see as a
// whole; git would take the rest for deleted. It is empty where there is none.
func (a *account) around() string {
	if !a.said.has("not a git repository") {
		return ""
	}
	for dir := filepath.Dir(a.dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(a.held.at(filepath.Join(dir, ".git"))); err == nil && !inside(dir, a.held.Working) {
			return "The repository " + dir + " is not in sight: commands see the session's directories alone. The user can start in it, or add it as a directory of the session."
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
