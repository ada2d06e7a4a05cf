args=()
for a; do [ "$a" = --unshare-net ] || args+=("$a"); done
exec @REAL@ "${args[@]}"
