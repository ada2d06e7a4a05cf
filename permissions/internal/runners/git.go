package runners

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// gitRunners are the sub-commands of git that run the programs in their arguments.
var gitRunners = [][]string{{"git", "bisect", "run"}, {"git", "submodule", "foreach"}, {"git", "filter-branch"}}

// gitQuiet are settings that name no program; one that ends with a dot stands for a whole
// section. Most sections have settings that do: aliases, pagers, drivers, transports.
var gitQuiet = []string{
	"user.name", "user.email", "author.", "committer.", "advice.", "color.", "init.defaultbranch", "commit.gpgsign", "tag.gpgsign",
	"core.quotepath", "core.autocrlf", "core.abbrev", "core.filemode", "core.longpaths", "diff.renames", "diff.algorithm",
	"push.default", "pull.rebase", "pull.ff", "merge.conflictstyle", "log.date", "log.showsignature", "rebase.autostash",
}

// gitValued are git's own flags whose value is the next word and names no program.
var gitValued = []string{"-C", "--git-dir", "--work-tree", "--namespace"}

// gitRuns reports whether a command of git names a program for git to run: in a setting for this
// one call, as the directory of git's own programs, or after rebase --exec. Words that the shell
// expands may do so.
func gitRuns(texts []string, words []shellword.Word) bool {
	for i := 1; i < len(texts); i++ {
		switch t := texts[i]; {
		case !words[i].Literal, strings.HasPrefix(t, "--exec-path="), strings.HasPrefix(t, "--config-env"):
			return true
		case t == "-c":
			if i++; i == len(texts) || !words[i].Literal || !namesNoProgram(texts[i]) {
				return true
			}
		case slices.Contains(gitValued, t):
			i++
		case !strings.HasPrefix(t, "-"):
			return t == "rebase" && slices.ContainsFunc(texts[i+1:], isRebaseExec)
		}
	}
	return false
}

// namesNoProgram reports whether a setting, name=value, is one of [gitQuiet].
func namesNoProgram(setting string) bool {
	name, _, _ := strings.Cut(strings.ToLower(setting), "=")
	return slices.ContainsFunc(gitQuiet, func(quiet string) bool {
		return name == quiet || strings.HasSuffix(quiet, ".") && strings.HasPrefix(name, quiet)
	})
}

// isRebaseExec reports whether a flag may be -x, alone or among others, or --exec, also
// shortened.
func isRebaseExec(flag string) bool {
	if long, ok := strings.CutPrefix(flag, "--"); ok {
		return strings.HasPrefix(long, "ex")
	}
	return strings.HasPrefix(flag, "-") && strings.Contains(flag, "x")
}
