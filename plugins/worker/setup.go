package worker

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// setup is the first message to a child: what it is for and how it is bound.
type setup struct {
	// Limits are those of the operating system, put on before the module is
	// looked at.
	Limits limits `json:"limits"`
	// Compile is set for a child that compiles, Load for one that runs a plugin.
	Compile *compileSetup `json:"compile,omitempty"`
	Load    *loadSetup    `json:"load,omitempty"`
}

type compileSetup struct {
	Dir string `json:"dir"`
}

type loadSetup struct {
	ABI      string `json:"abi"`
	CacheDir string `json:"cache_dir"`
	Ahead    int    `json:"ahead"`
	// Manifest is the plugin's, with the limits in force in the place of those it
	// claims.
	Manifest loadManifest `json:"manifest"`
	Hash     [32]byte     `json:"hash"`
}

// files is the one directory that the child needs files of, "" for none.
func (s *setup) files() string {
	switch {
	case s.Compile != nil:
		return s.Compile.Dir
	case s.Load != nil:
		return s.Load.CacheDir
	}
	return ""
}

// unconfined is the error of a child that does not get what it must be confined
// with.
func (s *setup) unconfined(err error) error {
	what := "the module is to be compiled in a process of its own"
	if s.Load != nil {
		what = fmt.Sprintf("plugin %s is to run in a process of its own", s.Load.Manifest.Name)
	}
	return abi.Errorf(abi.CodeUnsupported, "%s, but this system does not confine that process: %w; the sandbox that this program runs in may forbid it", what, err)
}

// loadManifest is a manifest as it travels: the outer Limits hide the inner,
// which have no form in JSON.
type loadManifest struct {
	abi.Manifest
	Limits plugins.Limits
}

// limits bound a child as a whole. Zero fields bound nothing.
type limits struct {
	Memory   int64         `json:"memory"`    // bytes
	CPU      time.Duration `json:"cpu"`       // rounded up to seconds
	FileSize int64         `json:"file_size"` // bytes
}

// appendSetup encodes a setup and its module.
func appendSetup(b []byte, s *setup, wasm []byte) ([]byte, error) {
	head, err := json.Marshal(s)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInternal, "encoding the setup of a worker: %w", err)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	return append(append(b, head...), wasm...), nil
}

// decodeSetup reads what appendSetup wrote. The module aliases b.
func decodeSetup(b []byte) (*setup, []byte, error) {
	if len(b) < 4 {
		return nil, nil, violate("sent a setup of %d bytes", len(b))
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, violate("sent a setup with a head of %d bytes in %d", n, len(b))
	}
	var s setup
	if err := json.Unmarshal(b[4:4+n], &s); err != nil {
		return nil, nil, violate("sent a setup that is not one: %v", err)
	}
	return &s, b[4+n:], nil
}

// setup is what a worker for a module is told.
func (r *Runner) setup(m *plugins.Module) *setup {
	s := &setup{
		Limits: limits{
			Memory:   max(m.Limits.Memory*int64(r.opts.Parallel)+overhead, r.opts.CompileMemory),
			FileSize: engine.MaxCode(len(m.Wasm)),
		},
		Load: &loadSetup{
			ABI:      r.abi,
			Ahead:    r.opts.Parallel,
			Manifest: loadManifest{*m.Manifest, m.Limits},
			Hash:     m.Hash,
		},
	}
	if r.opts.CacheDir != "" {
		// Apart from the code that the host's own process runs, and from that of
		// other modules: one that takes its worker over while that loads it can spoil
		// nothing but its own.
		s.Load.CacheDir = filepath.Join(r.opts.CacheDir, "isolated-"+hex.EncodeToString(m.Hash[:]))
	}
	return s
}
