package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/plugins"
)

// The largest files that pack reads, in bytes: what the loader takes.
const (
	maxManifest = 1 << 20
	maxModule   = 64 << 20
)

func pluginPackCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Make one .wasm file of a plugin folder",
		Long: `Pack puts the bytes of DIR/plugin.toml into the plugin's module, as the custom
section toolquay.manifest, so that one file is the whole plugin. The same folder
always gives the same bytes. A plugin that plugins check finds fault with is not
packed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return packPlugin(cmd.Context(), a, args[0], output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write (default NAME.wasm)")
	return cmd
}

func packPlugin(ctx context.Context, a *app, dir, output string) error {
	file := filepath.Join(dir, abi.ManifestFile)
	manifest, err := a.read(ctx, file, maxManifest)
	if err != nil {
		return err
	}
	var module []byte
	var source string
	read := func(m *abi.Manifest) ([]byte, error) {
		source = filepath.Join(dir, filepath.Base(m.Name+".wasm"))
		module, err = a.read(ctx, source, maxModule)
		return module, err
	}
	m, err := plugins.ParseManifest(file, manifest, read)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if m.Module != "" {
		return usageError("%s names a module (module = %q), which a plugin of one file must not; rename the module to %s.wasm and take the line out",
			file, m.Module, m.Name)
	}
	if module == nil {
		if _, err := read(m); err != nil {
			return err
		}
	}
	packed, err := plugins.AppendCustomSection(module, abi.SectionManifest, manifest)
	if err != nil {
		return usageError("%s: %w", source, err)
	}
	output = cmp.Or(output, m.Name+".wasm")
	if sameFile(output, source) {
		return usageError("%s is the plugin's own module; name another file with -o", output)
	}
	if err := checkPackable(ctx, a, dir); err != nil {
		return err
	}
	if err := atomicfile.Write(output, packed, 0o644); err != nil {
		return hostError(fmt.Errorf("writing the packed plugin: %w", err))
	}
	a.out.Printf("%s: %s %s, %d bytes\n", output, m.Name, m.Version, len(packed))
	return nil
}

// checkPackable refuses a folder's plugin that could never be used. What else is installed
// has no say in it.
func checkPackable(ctx context.Context, a *app, dir string) error {
	a.flags.noUser, a.flags.noProject, a.flags.plugins = true, true, nil
	list, err := checkPath(ctx, a, dir)
	if err != nil {
		return err
	}
	if c := &list[0]; !c.OK {
		return &exitError{exitFailed, fmt.Errorf("nothing was packed: plugin %s cannot be used as it is:\n%s", c.Name, indent(found(c.Diagnostics)))}
	}
	return nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
