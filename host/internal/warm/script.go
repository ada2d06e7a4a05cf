package warm

import (
	"strconv"
	"strings"
)

// script is what the waiting bash runs. CONTROL and NOTES stand for descriptors.
//
// It is one line, so that the commands' own lines are counted from 1, and it has
// neither functions nor variables of its own, so that commands see none. It makes do
// with two that bash has anyway and that each call sets: OLDPWD, which is none when
// bash starts, and BASH_EXECUTION_STRING, which counts the calls in the waiting bash
// and is the command in its child.
//
// Before anything else it says which PID namespace it is in, and waits: the host lets
// it go on only if that is not its own.
const script = `builtin printf '%s\0' "$(PATH=/usr/bin:/bin command readlink /proc/self/ns/pid)" >&CONTROL; ` +
	`IFS= read -r -d '' -u CONTROL OLDPWD || exit; ` +
	`BASH_EXECUTION_STRING=0; ` +
	`while :; do ` +
	`BASH_EXECUTION_STRING=$((BASH_EXECUTION_STRING + 1)); ` +
	`( ` + child + ` ); ` +
	`OLDPWD=$?; ` +
	`if kill -9 -1 2>/dev/null; then OLDPWD+=' left'; else OLDPWD+=' clean'; fi; ` +
	`printf '%s %s\0' "$BASH_EXECUTION_STRING" "$OLDPWD" >&CONTROL || exit; ` +
	`done`

// child is what a forked child does: it reads what it is to do, and becomes what
// bash -c would be. The last command before eval is there for $_. That it came this
// far it notes, so that a failure before is not taken for the command's.
const child = `IFS= read -r -d '' -u CONTROL OLDPWD || exit; ` +
	`case $OLDPWD in *` + flagMerged + `*) exec >/proc/self/fd/1 2>&1 ;; *) exec >/proc/self/fd/1 2>/proc/self/fd/2 ;; esac; ` +
	`case $OLDPWD in *` + flagMoves + `*) trap "printf '%s\0' \"\$PWD\" >/proc/$$/fd/NOTES" EXIT ;; esac; ` +
	`IFS= read -r -d '' -u CONTROL OLDPWD && IFS= read -r -d '' -u CONTROL BASH_EXECUTION_STRING || exit; ` +
	`cd -P -- "$OLDPWD" && unset OLDPWD && export OLDPWD || exit; ` +
	`printf 'r\0' >&NOTES; ` +
	`exec CONTROL>&- NOTES>&-; ` +
	`: "$0"; ` +
	`eval "$BASH_EXECUTION_STRING"`

// The flags of a request.
const (
	// flagMerged sends both streams into one pipe, in order.
	flagMerged = "m"
	// flagMoves has the child say at its end which directory it is in.
	flagMoves = "d"
)

// running is the note that the command was begun.
const running = "r\x00"

// scriptFor returns the script for a shell that has these descriptors.
func scriptFor(control, notes int) string {
	return strings.NewReplacer("CONTROL", strconv.Itoa(control), "NOTES", strconv.Itoa(notes)).Replace(script)
}

// request is what the child reads.
func request(dir, command string, merged bool) string {
	flags := "-" // an empty field would do too, but is easily lost sight of
	if merged {
		flags += flagMerged
	}
	if moves(command) {
		flags += flagMoves
	}
	return flags + "\x00" + dir + "\x00" + command + "\x00"
}
