args=()
for a; do [ "$a" = --unshare-pid ] || args+=("$a"); done
exec @REAL@ "${args[@]}"
