package worktree

import (
	"os"
	"strings"
)

// setting is one of git's, which comes before that of the repository's configuration.
type setting struct{ key, value string }

// settings have git start no program, connect to nothing, tidy nothing up and look at all files. By
// git-config(1); keys whose middle is anything are in [against].
var settings = []setting{
	{"core.hooksPath", os.DevNull},
	{"core.fsmonitor", "false"},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.askPass", ""},
	{"core.sshCommand", "false"},
	{"core.gitProxy", "none"},
	{"core.alternateRefsCommand", "false"},
	{"core.attributesFile", os.DevNull},
	{"core.ignoreStat", "false"}, // else changes are not noticed
	{"credential.helper", ""},
	{"gpg.program", "false"},
	{"gpg.ssh.program", "false"},
	{"gpg.ssh.defaultKeyCommand", ""},
	{"gpg.x509.program", "false"},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
	{"log.showSignature", "false"},
	{"diff.external", ""},
	{"diff.ignoreSubmodules", "none"},
	{"sequence.editor", "false"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"status.submoduleSummary", "false"},
	{"protocol.allow", "never"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"branch.autoSetupMerge", "false"},
	{"worktree.useRelativePaths", "false"}, // a sandbox shows the two in other places
}

// against returns the settings against the programs that keys of a configuration name.
func against(keys []string) []setting {
	var out []setting
	done := make(map[string]bool)
	put := func(key, value string) {
		if !done[key] {
			done[key] = true
			out = append(out, setting{key, value})
		}
	}
	for _, key := range keys {
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		if first < 0 || first == last {
			continue
		}
		switch name := key[:last]; key[:first] {
		case "filter": // an empty one is none
			put(name+".clean", "")
			put(name+".smudge", "")
			put(name+".process", "")
			put(name+".required", "false")
		case "hook":
			put(name+".enabled", "false")
			put(name+".command", "false")
		case "diff":
			put(name+".command", "")
			put(name+".textconv", "")
		case "merge":
			put(name+".driver", "false")
		case "credential":
			put(name+".helper", "")
		case "gpg":
			put(name+".program", "false")
		}
	}
	return out
}
