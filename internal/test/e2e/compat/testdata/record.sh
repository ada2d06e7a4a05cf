#!/usr/bin/env bash
# Records what a version of the command writes: bash record.sh TOOLQUAY NAME makes the
# folder NAME here. It is run once for a version, where /home/ada is free and bubblewrap
# is installed. What it made is never made again; see the README.
set -euo pipefail
toolquay=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd) into=$here/$2 home=/home/ada
if [ -e "$home" ] || [ -e "$into" ]; then echo "$home or $into exists" >&2; exit 1; fi
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_CONFIG_HOME='' XDG_STATE_HOME='' XDG_CACHE_HOME=/tmp/toolquay-record
config=$home/.config/toolquay project=$home/project
mkdir -p "$into" "$config/plugins/outside" "$project/.git" "$project/.toolquay/plugins/helper"

# Settings, files and plugins, as people write them.
cat >"$config/settings.toml" <<'TOML'
[permissions]
deny = ["Read(.env)"]
mode = "acceptEdits"

[tools]
defer = "always"

[results.tools.Grep]
max_chars = 200
TOML
cat >"$project/.toolquay/settings.toml" <<'TOML'
[permissions]
deny = ["Read(secret.txt)"]
allow = ["Read(//usr/share/doc/**)"]

[results]
max_turn_chars = 100000
TOML
cat >"$project/.toolquay/plugins/helper/plugin.toml" <<'TOML'
manifest = 1
name = "helper"
version = "1.0.0"
description = "Asks for nothing"

[[tools]]
name = "Helper"
summary = "Does nothing"
input_schema = '{"type": "object"}'
TOML
cp "$here/../../../../../plugins/direct/testdata/ok.wasm" "$project/.toolquay/plugins/helper/helper.wasm"
cp "$here/plugin/plugin.toml" "$here/plugin/outside.wasm" "$config/plugins/outside/"
mkdir "$home/packed"
sed '/^module/d; s/"outside"/"packed"/; s/"Outside"/"Packed"/; s/"Above"/"PackedAbove"/; s/"Nothing"/"PackedNothing"/' \
  "$here/plugin/plugin.toml" >"$home/packed/plugin.toml"
cp "$here/plugin/outside.wasm" "$home/packed/packed.wasm"
cd "$project"
"$toolquay" plugins pack "$home/packed" -o "$config/plugins/packed.wasm"
rm -r "$home/packed"
echo above >"$home/outside.txt"
printf 'one\ntwo\n' >a.txt
seq -f 'line %g' 1 50 >long.txt

# Trust and grants.
"$toolquay" plugins trust --yes outside
"$toolquay" plugins trust --yes packed
"$toolquay" trust --yes
"$toolquay" permissions grants add 'Read(//srv/granted/**)'

# A conversation, in a copy of the project. "> " is a line to the command, "< " one of its.
keep() { # what the home directory holds, without what is made anew where it is missing
  rm -rf "$project/.git" "$home/.local/state/toolquay/sandbox"
  cp -R "$home" "$into/$1"
  mkdir "$project/.git"
}
keep before
coproc talk { exec "$toolquay" --mode default --session talk run --stream --input jsonl -; }
say() { printf '%s\n' "$1" >&"${talk[1]}"; printf '> %s\n' "$1"; }
hear() { # until a line matches
  while IFS= read -r line <&"${talk[0]}"; do
    printf '< %s\n' "$line"
    if [[ $line =~ $1 ]]; then return; fi
  done
}
asks='"approval":"([A-Z0-9]+)"'
{
  hear '"type":"session"'
  say '{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a.txt"}}'
  hear '"type":"result"'
  say '{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"../outside.txt"}}'
  hear "$asks"
  say '{"type":"permission","approval":"'"${BASH_REMATCH[1]}"'","answer":"allow"}'
  hear '"type":"result"'
  say '{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"b.txt","content":"b\n"}}'
  hear "$asks"
  say '{"type":"permission","approval":"'"${BASH_REMATCH[1]}"'","answer":"deny","message":"not now"}'
  hear '"type":"result"'
  say '{"type":"end"}'
  hear '"type":"done"'
  say '{"type":"tool_use","id":"u1","name":"Grep","input":{"pattern":"line","path":"long.txt","output_mode":"content"}}'
  hear '"type":"result"'
  say '{"type":"tool_use","id":"u2","name":"Write","input":{"file_path":"b.txt","content":"b\n"}}'
  hear "$asks"
  say '{"type":"permission","approval":"'"${BASH_REMATCH[1]}"'","answer":"allow","remember":"edits"}'
  hear '"type":"result"'
  say '{"type":"tool_use","id":"u3","name":"Helper","input":{}}'
  hear '"type":"result"'
  say 'no JSON'
  hear '"type":"error"'
  say '{"type":"sing"}'
  hear '"type":"error"'
  say '{"type":"tool_use","id":"u4","name":"Read","input":{"file_path":"../outside.txt","limit":1}}'
  hear "$asks"
  say '{"type":"interrupt"}'
  hear '"type":"result"'
  say '{"type":"end"}'
  hear '"type":"done"'
  say '{"type":"tool_use","id":"v1","name":"Read","input":{"file_path":"../outside.txt","limit":2}}'
  hear "$asks"
  say '{"type":"discard"}'
  hear '"type":"done"'
  say '{"type":"tool_use","id":"w1","name":"Edit","input":{"file_path":"a.txt","old_string":"two","new_string":"three"}}'
  hear '"type":"result"'
  say '{"type":"end"}'
  hear '"type":"done"'
} >"$into/talk.txt"
exec {talk[1]}>&-
wait
rm -rf "$home"
cp -R "$into/before" "$home"
mkdir "$project/.git"
cd "$project"
find "$home" -type d -path '*/.local*' -exec chmod 700 {} +

# Sessions: files read and written, a result that was too long, a tool that was loaded,
# files that were staged, a task of the background.
"$toolquay" --session writes run -q - <<'JSON' >"$into/reply.jsonl"
[{"id": "t1", "name": "Read", "input": {"file_path": "a.txt"}},
 {"id": "t2", "name": "Edit", "input": {"file_path": "a.txt", "old_string": "two", "new_string": "three"}},
 {"id": "t3", "name": "Write", "input": {"file_path": "made.txt", "content": "made\n"}},
 {"id": "t4", "name": "Grep", "input": {"pattern": "line", "path": "long.txt", "output_mode": "content"}}]
JSON
"$toolquay" --session loaded call ToolSearch '{"query": "select:Nothing"}'
"$toolquay" --session staged run -q --stage - <<'JSON'
[{"id": "s1", "name": "Read", "input": {"file_path": "long.txt"}},
 {"id": "s2", "name": "Edit", "input": {"file_path": "long.txt", "old_string": "line 25\n", "new_string": "line 5 by 5\n"}},
 {"id": "s3", "name": "Write", "input": {"file_path": "staged.txt", "content": "staged\n"}}]
JSON
"$toolquay" --allow Bash --session tasks run --stream --quiet - <<'JSON'
{"type":"tool_use","id":"b1","name":"Bash","input":{"command":"echo begun; sleep 60","description":"Sleep","run_in_background":true}}
{"type":"end"}
JSON

# Questions: one that waits, and one that was answered and whose call was not run again.
"$toolquay" --approval later --session asked call Outside || true
"$toolquay" --approval later --session answered call Packed || true
"$toolquay" approvals allow "$("$toolquay" approvals --json | sed -n 's/.*"id":"\([A-Z0-9]*\)".*"session":"answered".*/\1/p')"
"$toolquay" permissions log --verify

keep home

# Settings with every key, and what the command says of them.
rm -rf "$home"
mkdir -p "$config" "$project/.git" "$project/.toolquay" "$project/.claude" "$project/docs" "$project/lib" "$home/notes"
cd "$project"
cp "$here/settings/user.toml" "$config/settings.toml"
cp "$here/settings/project.toml" "$project/.toolquay/settings.toml"
cp "$here/settings/local.toml" "$project/.toolquay/settings.local.toml"
cp "$here/settings/claude.json" "$project/.claude/settings.json"
"$toolquay" trust --yes
COLLECTOR_AUTH=x COLLECTOR_TENANT=x "$toolquay" doctor |
  grep -E '^ok +(rules|settings|hooks|judge|log|setting) ' >"$into/doctor.txt"
keep settings

# Every command with every flag, each with a value of its type; first the flags of all.
flags() {
  "$toolquay" "$@" --help | awk -v command="$*" '
    function add(name, kind) {
      value = kind == "duration" ? "1s" : kind ~ /^(int|uint|float)/ ? "1" : kind == "" ? "true" : "x"
      line = line " --" name "=" value
    }
    /^Flags:/ { on = 1; next } # those of all commands are told with the first
    /^$|^Use / { on = 0 }
    on && match($0, /--[a-z-]+( [a-zA-Z]+)?  /) {
      split(substr($0, RSTART + 2, RLENGTH - 2), word, " +")
      if (word[1] != "help") add(word[1], word[2])
    }
    END { sub(/^ /, "", line); print command (command != "" && line != "" ? " " : "") line }'
}
walk() {
  flags "$@"
  "$toolquay" "$@" --help | awk '/^Available Commands:/ { on = 1; next } /^$/ { on = 0 } on && $1 != "help" { print $1 }' |
    while read -r name; do walk "$@" "$name"; done
}
walk >"$into/flags.txt"
