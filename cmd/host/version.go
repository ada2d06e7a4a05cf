package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the program's version and what it was built with",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			b := readBuild()
			a.out.Printf("toolquay %s\ncommit %s\nABI %s\nwazero %s\n%s %s/%s\n",
				b.Version, b.Commit, abi.ImportModule, b.Wazero, b.Go, runtime.GOOS, runtime.GOARCH)
		},
	}
}

// build is what the program knows of itself.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Wazero  string `json:"wazero"`
}

func readBuild() build {
	b := build{Version: "(devel)", Commit: "unknown", Go: runtime.Version(), Wazero: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Commit += " with changes"
		}
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" {
			b.Wazero = dep.Version
		}
	}
	return b
}
