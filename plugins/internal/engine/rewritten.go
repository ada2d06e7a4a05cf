package engine

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// rewriting identifies what the pre-pass of this program writes: a hash over
// what it makes of a set of modules, which a test keeps right. Where it changes,
// what older programs wrote is not used any more.
//
//go:embed rewriting.sum
var rewriting string

// rewritten is a module as the pre-pass wrote it.
type rewritten struct {
	wasm  buffer
	facts prepass.Facts
	code  []string // the files of its code in the cache, by their paths
}

// close gives the module's bytes back.
func (re *rewritten) close() { re.wasm.close() }

// rewrite runs the pre-pass and lets go of the module as it came.
func (l *loader) rewrite(s *Source) (*rewritten, error) {
	m, err := rewrite(s, l.opts.MaxModule)
	s.Wasm = nil
	if err != nil {
		return nil, err
	}
	re := &rewritten{facts: m.Facts, wasm: buffer{b: m.Wasm}}
	re.wasm.outside()
	return re, nil
}

func rewrite(s *Source, most int) (*prepass.Module, error) {
	m, err := prepass.Rewrite(s.Wasm, s.prepass(most))
	if err != nil {
		return nil, refused(err)
	}
	return m, nil
}

// prepass is how the pre-pass reads the module, of at most so many bytes where it is
// not trusted.
func (s *Source) prepass(most int) prepass.Options {
	return prepass.Options{
		Bounds:    prepass.Bounds{ModuleBytes: max(most, len(s.Wasm))}, // strangers' were measured before
		MaxMemory: uint64(s.MaxMemory),
		Rename:    s.Rename,
		Reentrant: s.Reentrant,
	}
}

// refused is the error of a module that the pre-pass refuses.
func refused(err error) error {
	if known, ok := errors.AsType[*prepass.Error](err); ok {
		return &abi.Error{Code: abi.CodeLoad, Message: "the module is refused: " + known.Error(), Err: known}
	}
	return abi.Errorf(abi.CodeLoad, "the module is refused: %w", err)
}

// key names what the pre-pass makes of a module with its options.
func (s *Source) key() [32]byte {
	b := append([]byte(nil), s.Hash[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.MaxMemory))
	if s.Reentrant {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.RenameID)))
	b = append(b, s.RenameID...)
	return sha256.Sum256(append(b, rewriting...))
}
