sleep 5 &
while [ "$1" != -- ]; do
	[ "$1" = --info-fd ] && eval "echo '{\"child-pid\": $!}' >&$2; exec $2>&-"
	shift
done
shift
"$@"
wait
