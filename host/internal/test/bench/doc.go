// Command bench measures Toolquay against baselines in the same run and prints
// a table: raw wazero, the Extism SDK, and other programs where they are
// installed. Times differ from machine to machine; the ratios are what to look
// at.
//
//	go run ./internal/test/bench [-benchtime 1s] [-count 3] [-run regexp]
//
// The same cases run under go test -bench. The guests in Rust, under guests, are
// committed; guests/build.sh builds them.
package main
