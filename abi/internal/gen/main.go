// Command gen writes the Go SDK's copy of the wire types of package abi, with a
// JSON codec for each that needs no reflection. Run it with
//
//	go generate ./abi
//
// It reads the package's source in the current directory and writes
// wire/wire_gen.go and types_gen.go below the directory of -out. The output
// depends on nothing but that source, so that CI can ask for no difference.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "", "the root of the Go SDK")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	src, err := load(".")
	if err != nil {
		return err
	}
	wire, err := wireFile(src)
	if err != nil {
		return err
	}
	types, err := typesFile(src)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "wire", "wire_gen.go"), wire, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "types_gen.go"), types, 0o644)
}
