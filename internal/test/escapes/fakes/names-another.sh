# The sandbox of another command, of the same mounts, takes the place of its own.
fd=
for word; do
	[ "$fd" = next ] && fd=$word
	[ "$word" = --info-fd ] && fd=next
done
eval "cat '@OTHER@' >&$fd; exec $fd>&-"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
