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
	wasm  []byte
	facts prepass.Facts
	hash  [32]byte // SHA-256 of wasm, which names the code in the cache
	back  func()   // gives wasm back where it is borrowed, else nil
}

// close gives the module's bytes back.
func (re *rewritten) close() {
	if re.back != nil {
		re.back()
	}
	re.wasm, re.back = nil, nil
}

// rewrite runs the pre-pass and lets go of the module as it came. A large result
// is kept outside of Go's heap, from where it can be given back when it is not
// needed any more.
func (e *Engine) rewrite(s *Source) (*rewritten, error) {
	re, err := rewrite(s, e.opts.MaxModule)
	s.Wasm = nil
	if err != nil || len(re.wasm) <= muchGarbage {
		return re, err
	}
	collect(len(re.wasm))
	if room, back := borrow(len(re.wasm)); back != nil {
		transfer(room, re.wasm)
		re.wasm, re.back = room, back
		collect(len(re.wasm))
	}
	return re, nil
}

func rewrite(s *Source, most int) (*rewritten, error) {
	m, err := prepass.Rewrite(s.Wasm, prepass.Options{
		Bounds:    prepass.Bounds{ModuleBytes: max(most, len(s.Wasm))}, // strangers' were measured before
		MaxMemory: uint64(s.MaxMemory),
		Rename:    s.Rename,
		Reentrant: s.Reentrant,
	})
	if refused, ok := errors.AsType[*prepass.Error](err); ok {
		return nil, &abi.Error{Code: abi.CodeLoad, Message: "the module is refused: " + refused.Error(), Err: refused}
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeLoad, "the module is refused: %w", err)
	}
	return &rewritten{wasm: m.Wasm, facts: m.Facts, hash: sha256.Sum256(m.Wasm)}, nil
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
