package engine

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// checksum is that of an entry of size bytes, but for the native code in it: wazero
// has a checksum of that by itself, and looks at it whenever it reads the entry. For
// a large module that is a megabyte or ten that need not be read twice.
func checksum(entry io.ReaderAt, size int64) (uint32, error) {
	from, to := nativeCode(entry, size)
	sum := crc32.New(castagnoli)
	for _, part := range []*io.SectionReader{io.NewSectionReader(entry, 0, from), io.NewSectionReader(entry, to, size-to)} {
		if _, err := io.Copy(sum, part); err != nil {
			return 0, err
		}
	}
	return sum.Sum32(), nil
}

// The entry as wazero's serializeCompiledModule writes it: the magic, a byte of length
// and the version; in 4 bytes how many functions there are, and in 8 each where it
// starts; in 8 the length of the code, the code, and in 4 its checksum; then the rest.
const (
	entryMagic = "WAZEVO"
	maxVersion = 1<<8 - 1
)

// nativeCode returns where in an entry the code lies whose checksum follows it; 0, 0
// where it is none as wazero writes them.
func nativeCode(entry io.ReaderAt, size int64) (from, to int64) {
	head := make([]byte, len(entryMagic)+1+maxVersion+4)
	n, _ := entry.ReadAt(head, 0)
	head, ok := bytes.CutPrefix(head[:n], []byte(entryMagic))
	if !ok || len(head) < 1+maxVersion+4 {
		return 0, 0
	}
	version := int64(head[0])
	functions := int64(binary.LittleEndian.Uint32(head[1+version:]))
	at := int64(len(entryMagic)) + 1 + version + 4 + 8*functions
	var length [8]byte
	if _, err := entry.ReadAt(length[:], at); err != nil {
		return 0, 0
	}
	from = at + 8
	code := binary.LittleEndian.Uint64(length[:])
	if code > uint64(max(size-from-4, 0)) {
		return 0, 0
	}
	return from, from + int64(code)
}
