package discovery

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/manifest"
)

// MaxModule is the largest module in bytes, as the engine has it: a larger one need not be
// read.
const MaxModule = 32 << 20

// Candidate is a folder or file that looks like a plugin.
type Candidate struct {
	Origin Origin
	// Path is where it lies, for people.
	Path string
	// Folder is the folder of a folder plugin, File the file of a single-file plugin,
	// within the place's file system.
	Folder, File string

	fs     fs.FS
	module string // of a folder plugin that was named by its module; else empty
}

// Command is a command of toolquay about the candidate, with these arguments. One that was
// named for this run is named again in it.
func (c Candidate) Command(args string) string {
	if c.Origin != OriginFlag {
		return "toolquay " + args
	}
	return "toolquay --plugins '" + strings.ReplaceAll(c.Path, "'", `'\''`) + "' " + args
}

// Bundle is what was read of a candidate.
type Bundle struct {
	Finding
	Parsed *abi.Manifest
	// ReadAt is when reading began.
	ReadAt time.Time
}

// Read reads a candidate's manifest and, where that needs it, its module.
func (c Candidate) Read() (*Bundle, error) {
	if c.File != "" {
		return c.readSingle()
	}
	b := &Bundle{ReadAt: time.Now(), Finding: Finding{Entry: c.Folder}}
	raw, at, err := readFile(c.fs, c.manifestFile(), manifest.MaxSize)
	if err != nil {
		return nil, err
	}
	b.Manifest, b.ManifestAt = sha256.Sum256(raw), at
	b.Parsed, err = manifest.Parse(c.ManifestPath(), raw, func(m *abi.Manifest) ([]byte, error) {
		module, at, err := c.ReadModule(ModuleOf(m))
		if err == nil {
			b.Completed, b.ModuleAt, b.Carried = true, at, Carried(module)
		}
		return module, err
	})
	if err != nil {
		return nil, err
	}
	b.Summary = Summarise(b.Parsed, ModuleOf(b.Parsed))
	if c.module != "" && c.module != b.Summary.Module {
		return nil, abi.Errorf(abi.CodeLoad, "it carries no manifest, and %s beside it is for the module %s; name that one, or pack a manifest into this one",
			abi.ManifestFile, b.Summary.Module)
	}
	if !b.Completed {
		b.ModuleAt, err = c.checkModule(b.Summary.Module)
	}
	return b, err
}

// manifestFile is where a folder plugin's manifest stands within its file system.
func (c Candidate) manifestFile() string { return path.Join(c.Folder, abi.ManifestFile) }

// ManifestPath is where a candidate's manifest stands, for people.
func (c Candidate) ManifestPath() string {
	switch {
	case c.File != "":
		return c.Path
	case c.module != "":
		return filepath.Join(filepath.Dir(c.Path), abi.ManifestFile)
	}
	return filepath.Join(c.Path, abi.ManifestFile)
}

// readSingle reads a module that carries its manifest.
func (c Candidate) readSingle() (*Bundle, error) {
	b := &Bundle{ReadAt: time.Now(), Finding: Finding{Entry: c.File, Single: true, Completed: true}}
	module, at, err := readFile(c.fs, c.File, MaxModule)
	if err != nil {
		return nil, err
	}
	b.ManifestAt, b.ModuleAt = at, at
	section, err := manifest.Section(module, abi.SectionManifest)
	if err != nil {
		return nil, err
	}
	if section == nil {
		return nil, abi.Errorf(abi.CodeLoad, "the module carries no manifest (custom section %s); put a plugin.toml beside it in a folder, or pack one into it", abi.SectionManifest)
	}
	b.Manifest, b.Carried = sha256.Sum256(section), Carried(module)
	b.Parsed, err = manifest.Parse(c.ManifestPath(), section, func(*abi.Manifest) ([]byte, error) { return module, nil })
	if err == nil && b.Parsed.Module != "" {
		err = abi.Errorf(abi.CodeLoad, "the manifest inside a module must not name another one (module = %q)", b.Parsed.Module)
	}
	if err != nil {
		return nil, err
	}
	b.Summary = Summarise(b.Parsed, c.File)
	return b, nil
}

// Settled reports whether changed files would have other stamps.
func (b *Bundle) Settled() bool {
	return b.ManifestAt.Settled(b.ReadAt) && (!b.Completed || b.ModuleAt.Settled(b.ReadAt))
}

// ModuleOf is the name of a folder plugin's module.
func ModuleOf(m *abi.Manifest) string { return path.Base(m.ModuleFile()) }

// ReadModule reads a plugin's module, of a folder plugin by its name.
func (c Candidate) ReadModule(name string) ([]byte, Stamp, error) {
	file := c.moduleFile(name)
	module, at, err := readFile(c.fs, file, MaxModule)
	if errors.Is(err, fs.ErrNotExist) {
		err = missingModule(file)
	}
	return module, at, err
}

// checkModule looks whether a folder plugin's module is there, without reading
// it.
func (c Candidate) checkModule(name string) (Stamp, error) {
	file := c.moduleFile(name)
	at, err := checkFile(c.fs, file, MaxModule)
	if errors.Is(err, fs.ErrNotExist) {
		err = missingModule(file)
	}
	return at, err
}

func (c Candidate) moduleFile(name string) string {
	if c.File != "" {
		return c.File
	}
	return path.Join(c.Folder, name)
}

func missingModule(file string) error {
	return abi.Errorf(abi.CodeLoad, "its module %s is not there; build the plugin first", path.Base(file))
}

// Carried is the SHA-256 of what a module says of itself in our own sections.
func Carried(module []byte) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range []string{abi.SectionManifest, abi.SectionTools} {
		section, _ := manifest.Section(module, name) // a broken module carries nothing
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(section))))
		h.Write(section)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// RawManifest reads the manifest's bytes.
func (c Candidate) RawManifest() ([]byte, error) {
	if c.File == "" {
		raw, _, err := readFile(c.fs, c.manifestFile(), manifest.MaxSize)
		return raw, err
	}
	module, _, err := readFile(c.fs, c.File, MaxModule)
	if err != nil {
		return nil, err
	}
	return manifest.Section(module, abi.SectionManifest)
}

// Stamps asks the file system for the stamps of a candidate's manifest and module now. They
// are not told of places that are not on disk.
func (p Place) Stamps(c Candidate, module string) (manifestAt, moduleAt Stamp, ok bool) {
	if p.Program != nil {
		return p.Program.Stamp, p.Program.Stamp, true
	}
	if p.Dir == "" {
		return manifestAt, moduleAt, false
	}
	const separator = string(filepath.Separator)
	if c.File != "" {
		manifestAt, ok = stampAt(p.Dir + separator + c.File)
		return manifestAt, manifestAt, ok && manifestAt.Size <= MaxModule
	}
	if manifestAt, ok = stampAt(p.Dir + separator + c.Folder + separator + abi.ManifestFile); !ok {
		return manifestAt, moduleAt, false
	}
	moduleAt, ok = stampAt(p.Dir + separator + c.Folder + separator + module)
	return manifestAt, moduleAt, ok && moduleAt.Size <= MaxModule
}
