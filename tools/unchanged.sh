#!/usr/bin/env bash
# unchanged.sh COMMAND... runs a command and fails, showing the difference, where
# it changed, made or removed a file that git would see. It needs no clean tree:
# what was uncommitted before may stay so.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
top=$(git rev-parse --show-toplevel)
index=$(git rev-parse --path-format=absolute --git-path index)
objects=$(git rev-parse --path-format=absolute --git-path objects)

# in_scratch runs git with an index and an object store that are thrown away, so
# that the repository's own stay as they are.
in_scratch() {
  GIT_INDEX_FILE=$scratch/index \
    GIT_OBJECT_DIRECTORY=$scratch/objects \
    GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects \
    git -C "$top" "$@"
}

# snapshot prints the id of the tree as it is now.
snapshot() {
  in_scratch add --all
  in_scratch write-tree
}

mkdir "$scratch/objects"
if [ -f "$index" ]; then
  cp "$index" "$scratch/index"
fi
before=$(snapshot)
"$@"
after=$(snapshot)

if [ "$before" != "$after" ]; then
  echo "these files are not what \`$*\` makes of them; commit what it made:" >&2
  in_scratch --no-pager diff --stat --patch "$before" "$after" | head -n 200 >&2 || true
  exit 1
fi
