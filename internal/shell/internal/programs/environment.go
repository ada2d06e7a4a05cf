package programs

import (
	"slices"
	"strconv"
	"strings"
)

// Environment lists the variables under which a command that was judged
// read-only must run in bash: "NAME=value" is to be set, "NAME" alone to be left
// out. They keep programs from what the repository, or its user's profile, would
// have them start; the table of programs counts on them.
func Environment() []string {
	out := make([]string, 0, len(variables)+2*len(gitSettings)+1)
	for _, v := range variables {
		out = append(out, v.text)
	}
	out = append(out, "GIT_CONFIG_COUNT="+strconv.Itoa(len(gitSettings)))
	for i, s := range gitSettings {
		name, value, _ := strings.Cut(s.text, "=")
		out = append(out, "GIT_CONFIG_KEY_"+strconv.Itoa(i)+"="+name, "GIT_CONFIG_VALUE_"+strconv.Itoa(i)+"="+value)
	}
	return out
}

// HasFunction reports whether a name is that of a shell function of [Environment].
func HasFunction(name string) bool { return functionOf(name) != "" }

// functionOf is the setting that makes a function of a name; empty without one.
func functionOf(name string) string {
	i := slices.IndexFunc(variables, func(s setting) bool { return strings.HasPrefix(s.text, "BASH_FUNC_"+name+"%%=") })
	if i < 0 {
		return ""
	}
	return variables[i].text
}

// Function is a setting that makes a shell function of the name of a program. Called with
// one of the lists of words, which the separator joins, it runs the program under
// [Environment]; else it runs the program as it is. BASH_EXECUTION_STRING tells the shell
// that runs the command from those of scripts.
func Function(name, separator string, calls []string) string {
	var set, unset, known strings.Builder
	for _, e := range Environment() {
		switch variable, value, ok := strings.Cut(e, "="); {
		case strings.HasPrefix(e, "BASH_FUNC_"):
		case ok:
			set.WriteString(" " + variable + "=" + inQuotes(value))
		default:
			unset.WriteString(" " + variable)
		}
	}
	for i, call := range calls {
		if i > 0 {
			known.WriteString(" | ")
		}
		known.WriteString(inQuotes("x" + call))
	}
	head, body, _ := strings.Cut(functionOf(name), "=")
	return head + "=() {\n  local IFS=" + inQuotes(separator) + "\n  local words=\"$*\"\n  unset IFS\n" +
		"  case ${BASH_EXECUTION_STRING+x}$words in\n  " + known.String() + ") ;;\n  *) command " + name + " \"$@\"; return ;;\n  esac\n" +
		"  (\n    unset" + unset.String() + "\n    export" + set.String() + "\n    " + name + body + "\n    " + name + " \"$@\"\n  )\n}"
}

// inQuotes writes a text so that bash reads it as one word.
func inQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// setting is one line of the environment, and why it is there.
type setting struct{ text, why string }

// variables are the environment but for git's settings.
var variables = []setting{
	{"PAGER=cat", "programs that page would start what this names"},
	{"MANPAGER=cat", "as PAGER"},
	{"SYSTEMD_PAGER=cat", "as PAGER, for systemctl and journalctl"},
	{"GIT_PAGER=cat", "it goes before core.pager and pager.log of a repository; git starts nothing for cat"},
	{"GIT_OPTIONAL_LOCKS=0", "git status would write the index it refreshed"},
	{"GIT_NO_LAZY_FETCH=1", "a missing object would be fetched from a host the repository names, by its program"},
	{"GIT_ALLOW_PROTOCOL=none", "no transport works: for a git that does not know GIT_NO_LAZY_FETCH"},
	{"GIT_NO_REPLACE_OBJECTS=1", "a commit may have a file put in its place, which git show prints"},
	{"GIT_NOTES_REF=refs/notes/none", "notes may be any file of the repository, and git log prints them"},
	{"GIT_NOTES_DISPLAY_REF=", "as GIT_NOTES_REF"},
	{"GIT_TERMINAL_PROMPT=0", "nobody is there to answer"},
	{"GIT_TRACE2=0", "the profile may have traces written to files"},
	{"GIT_TRACE2_EVENT=0", "as GIT_TRACE2"},
	{"GIT_TRACE2_PERF=0", "as GIT_TRACE2"},
	{"GOTOOLCHAIN=local", "a go.mod may name another go, which would be fetched and started"},
	{"GOPROXY=off", "as GOTOOLCHAIN"},
	{"TEST_TELEMETRY_DIR=/dev/null", "go counts its calls in files of the profile, and starts itself to send them"},
	{"GOFLAGS=", "flags for go, -toolexec among them"},
	{"BASH_FUNC_git%%=" + gitFunction, "filters and drivers have names of their own, which no fixed setting can name; nor can one say where a tree lies"},
	{"GIT_TRACE", "it may name a file to write"},
	{"GIT_TRACE_SETUP", "as GIT_TRACE"},
	{"GIT_TRACE_PACKET", "as GIT_TRACE"},
	{"GIT_TRACE_PERFORMANCE", "as GIT_TRACE"},
	{"GIT_EXTERNAL_DIFF", "a program for every changed file"},
	{"GIT_CONFIG_PARAMETERS", "settings that go before those below"},
	{"GIT_DIR", "another repository than that of the directory"},
	{"GIT_WORK_TREE", "as GIT_DIR"},
	{"GIT_COMMON_DIR", "as GIT_DIR"},
	{"GIT_INDEX_FILE", "as GIT_DIR"},
	{"GIT_EXEC_PATH", "where git finds the programs it is made of"},
	{"LESSOPEN", "a program for every file that less opens"},
	{"LESSCLOSE", "as LESSOPEN"},
	{"RIPGREP_CONFIG_PATH", "a file of flags for rg, --pre among them"},
	{"GREP_OPTIONS", "flags for old versions of grep"},
	{"NODE_OPTIONS", "flags for node, --require among them"},
	{"PYTHONSTARTUP", "code"},
	{"PYTHONPATH", "where Python takes code from"},
	{"LUA_INIT", "code for lua, with -v too"},
	{"MAKEFLAGS", "flags for make"},
	{"MAKEFILES", "as MAKEFLAGS"},
	{"PERL5OPT", "flags for perl, -M among them: shasum is written in it"},
	{"PERL5LIB", "where perl takes code from"},
	{"RUBYOPT", "flags for ruby, -r among them"},
	{"TAR_OPTIONS", "flags for tar, --to-command among them"},
	{"XZ_OPT", "flags for xz"},
	{"XZ_DEFAULTS", "as XZ_OPT"},
	{"GZIP", "flags for gzip"},
	{"ZIPINFO", "flags for zipinfo"},
	{"UNZIP", "flags for unzip"},
	{"UNZIPOPT", "as UNZIP"},
	{"ZIPINFOOPT", "as ZIPINFO"},
	{"BZIP", "flags for bzcat"},
	{"BZIP2", "as BZIP"},
	{"POSIXLY_CORRECT", "programs take flags behind operands for operands then: uniq FILE -c writes"},
	{"POSIX_ME_HARDER", "as POSIXLY_CORRECT"},
	{"_POSIX2_VERSION", "old forms of operands: tail +1f does not end"},
	{"GAWK_PERSIST_FILE", "a file in which gawk keeps its variables"},
	{"LD_DEBUG_OUTPUT", "a file that every program writes"},
	{"LD_PROFILE", "as LD_DEBUG_OUTPUT"},
	{"PS_PERSONALITY", "ps takes -e for the flag that shows environments"},
	{"CMD_ENV", "as PS_PERSONALITY"},
	{"I_WANT_A_BROKEN_PS", "as PS_PERSONALITY"},
	{"PS_FORMAT", "columns for ps, the environment among them"},
	{"DPKG_PAGER", "as PAGER, for dpkg -l"},
	{"LD_PRELOAD", "code for every program"},
	{"LD_LIBRARY_PATH", "as LD_PRELOAD"},
	{"LD_AUDIT", "as LD_PRELOAD"},
	{"BASH_ENV", "a script for every shell that a program is written in"},
	{"ENV", "as BASH_ENV"},
	{"PS4", "commands in it run under set -x"},
	{"PROMPT_COMMAND", "a command for a prompt"},
	{"MAGIC", "files that file takes its patterns from"},
	{"OPENSSL_CONF", "settings of openssl, code to load among them"},
	{"XML_CATALOG_FILES", "files that xmllint looks names up in"},
	{"LOCATE_PATH", "lists of files for locate"},
	{"DEBUGINFOD_URLS", "hosts that readelf asks"},
	{"SYSTEMD_EDITOR", "as PAGER"},
}

// noProgram is for settings of git that name a program: it cannot be started.
const noProgram = "/dev/null"

// gitSettings are settings of git, put before those of any file.
var gitSettings = []setting{
	{"core.fsmonitor=false", "a program, or a daemon that stays, asked what has changed"},
	{"core.hooksPath=" + noProgram, "hooks: post-index-change runs where the index is written"},
	{"core.pager=cat", "for a git that does not heed GIT_PAGER"},
	{"core.sshCommand=" + noProgram, "a program that reaches hosts"},
	{"core.alternateRefsCommand=" + noProgram, "a program that lists the references of another repository"},
	{"core.askPass=" + noProgram, "a program that asks for passwords"},
	{"credential.helper=", "programs that know passwords; empty forgets those listed before"},
	{"column.ui=never", "git column would be started"},
	{"diff.autoRefreshIndex=false", "git diff would write the index it refreshed"},
	{"diff.external=", "a program for every changed file; git is told --no-ext-diff besides"},
	{"diff.ignoreSubmodules=dirty", "git status would be started in submodules, with their settings"},
	{"diff.submodule=short", "git diff would be started in submodules"},
	{"status.submoduleSummary=false", "git submodule would be started"},
	{"submodule.recurse=false", "git would be started in submodules"},
	{"format.pretty=medium", "a format that checks signatures"},
	{"log.showSignature=false", "gpg would be started"},
	{"log.follow=false", "git log of one file would print what it held under other names"},
	{"log.diffMerges=separate", "remerge writes objects"},
	{"gpg.program=" + noProgram, "a program that checks signatures"},
	{"gpg.openpgp.program=" + noProgram, "as gpg.program"},
	{"gpg.x509.program=" + noProgram, "as gpg.program"},
	{"gpg.ssh.program=" + noProgram, "as gpg.program"},
	{"gpg.ssh.defaultKeyCommand=", "as gpg.program"},
	{"safe.bareRepository=explicit", "files that look like a repository must not become one"},
}

// gitFunction is the shell function git, passed on to bash in the environment.
// It makes every filter that the repository's settings name empty, which git
// takes for none, and tells the forms that show changes to start no drivers. Where
// settings name a work tree, it is to be the one that holds the repository: git diff
// would print the files of any other, by names that its index has.
const gitFunction = `() {
  local key n=${GIT_CONFIG_COUNT:-0}
  while IFS= read -r -d '' key; do
    if [[ $key == core.worktree ]]; then
      local top=$PWD
      until [[ -z $top || -e $top/.git ]]; do top=${top%/*}; done
      [[ $(command git rev-parse --show-toplevel 2>/dev/null) -ef $top ]] && continue
      echo "git: not run, as core.worktree of this repository leads elsewhere" >&2
      return 128
    fi
    local -x "GIT_CONFIG_KEY_$n=$key" "GIT_CONFIG_VALUE_$n="
    n=$((n + 1))
  done < <(command git config -z --name-only --get-regexp '^(filter\..*\.(clean|smudge|process|required)|core\.worktree)$')
  local -x GIT_CONFIG_COUNT=$n
  local -a before=()
  while [[ ${1-} == -* ]]; do before+=("$1"); shift; done
  case ${1-}/${2-} in
  reflog/show | stash/list | stash/show) set -- "$1" "$2" --no-ext-diff --no-textconv "${@:3}" ;;
  reflog/*) set -- reflog show --no-ext-diff --no-textconv "${@:2}" ;;
  blame/* | annotate/*) set -- "$1" --no-textconv "${@:2}" ;;
  status/*) set -- "$1" --ignore-submodules=dirty "${@:2}" ;;
  diff/* | diff-files/* | diff-index/* | diff-tree/*)
    set -- "$1" --no-ext-diff --no-textconv --ignore-submodules=dirty "${@:2}" ;;
  log/* | show/*) set -- "$1" --no-ext-diff --no-textconv "${@:2}" ;;
  esac
  command git ${before[@]+"${before[@]}"} "$@"
}`
