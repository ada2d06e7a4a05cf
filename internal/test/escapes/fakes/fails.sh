echo "bwrap: it is broken" >&2
exit 1
