package plugins

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/manifest"
)

// ManifestError lists everything that is wrong with a manifest.
type ManifestError = manifest.Error

// ParseManifest reads a manifest strictly: unknown keys, wrong types and broken
// contracts are all faults, reported at once in a [ManifestError]. module is
// asked for the plugin's module only where the manifest leaves a tool's schema
// to it. file is the manifest's name for people.
func ParseManifest(file string, src []byte, module func(*abi.Manifest) ([]byte, error)) (*abi.Manifest, error) {
	return manifest.Parse(file, src, module)
}

// CustomSection returns the joined contents of every custom section of that
// name, in the module's order, without running or compiling anything. It is nil
// where there is none. The contents alias module.
func CustomSection(module []byte, name string) ([]byte, error) {
	return manifest.Section(module, name)
}

// AppendCustomSection returns a copy of module with one more custom section at
// its end. A section of that name that is there already is replaced, so that
// packing twice gives the same bytes.
func AppendCustomSection(module []byte, name string, data []byte) ([]byte, error) {
	return manifest.AppendSection(module, name, data)
}
