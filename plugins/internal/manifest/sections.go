package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// wasmMagic is a core module's first eight bytes: "\0asm" and version 1. A
// component, which this host does not run, differs in the version.
var wasmMagic = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// Section returns the joined contents of every custom section of that
// name, in the module's order, without running or compiling anything. It is nil
// where there is none. The contents alias module.
func Section(module []byte, name string) ([]byte, error) {
	var found [][]byte
	err := eachSection(module, func(id byte, body []byte) error {
		if id != 0 {
			return nil
		}
		sectionName, rest, err := takeName(body)
		if err != nil {
			return err
		}
		if sectionName == name {
			found = append(found, rest)
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return bytes.Join(found, nil), nil
}

// AppendSection returns a copy of module with one more custom section at
// its end. A section of that name that is there already is replaced, so that
// packing twice gives the same bytes.
func AppendSection(module []byte, name string, data []byte) ([]byte, error) {
	out := append([]byte(nil), wasmMagic...)
	err := eachSection(module, func(id byte, body []byte) error {
		if id == 0 {
			if n, _, err := takeName(body); err != nil {
				return err
			} else if n == name {
				return nil
			}
		}
		out = appendSection(out, id, body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	body := binary.AppendUvarint(nil, uint64(len(name)))
	body = append(append(body, name...), data...)
	return appendSection(out, 0, body), nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	out = binary.AppendUvarint(append(out, id), uint64(len(body)))
	return append(out, body...)
}

// eachSection walks a module's sections. Their order and contents are for the
// runtime to judge.
func eachSection(module []byte, visit func(id byte, body []byte) error) error {
	if err := checkMagic(module); err != nil {
		return err
	}
	rest := module[len(wasmMagic):]
	for len(rest) > 0 {
		at := len(module) - len(rest)
		id := rest[0]
		size, n, err := takeU32(rest[1:])
		if err != nil {
			return abi.Errorf(abi.CodeLoad, "the module's section at byte %d has a broken length: %w", at, err)
		}
		rest = rest[1+n:]
		if uint64(size) > uint64(len(rest)) {
			return abi.Errorf(abi.CodeLoad, "the module is truncated: its section at byte %d claims %d bytes, but %d follow", at, size, len(rest))
		}
		if err := visit(id, rest[:size:size]); err != nil {
			return fmt.Errorf("section at byte %d: %w", at, err)
		}
		rest = rest[size:]
	}
	return nil
}

// CheckModule makes sure that a file is a module and whole, which a compiler
// tells its user less well.
func CheckModule(module []byte) error {
	return eachSection(module, func(byte, []byte) error { return nil })
}

func checkMagic(module []byte) error {
	switch {
	case bytes.HasPrefix(module, wasmMagic):
		return nil
	case len(module) >= 8 && bytes.Equal(module[:4], wasmMagic[:4]) && module[6] != 0:
		return abi.Errorf(abi.CodeLoad, "this is a WebAssembly component; Toolquay runs core modules (build for wasm32-unknown-unknown or wasip1)")
	case len(module) < 8:
		return abi.Errorf(abi.CodeLoad, "%d bytes are not a WebAssembly module", len(module))
	}
	return abi.Errorf(abi.CodeLoad, "not a WebAssembly module: it starts with % x, not % x", module[:8], wasmMagic)
}

func takeName(b []byte) (string, []byte, error) {
	n, used, err := takeU32(b)
	if err != nil || uint64(n) > uint64(len(b)-used) {
		return "", nil, abi.Errorf(abi.CodeLoad, "a custom section's name is broken")
	}
	name := b[used : used+int(n)]
	if !utf8.Valid(name) {
		return "", nil, abi.Errorf(abi.CodeLoad, "a custom section's name is not UTF-8")
	}
	return string(name), b[used+int(n):], nil
}

var errLEB = errors.New("not an unsigned 32-bit LEB128 number")

func takeU32(b []byte) (uint32, int, error) {
	v, n := binary.Uvarint(b[:min(len(b), 5)])
	if n <= 0 || v > 1<<32-1 {
		return 0, 0, errLEB
	}
	return uint32(v), n, nil
}
