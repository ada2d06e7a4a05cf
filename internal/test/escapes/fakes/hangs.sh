sleep 1000
