package wasmgen

import "encoding/binary"

// The ids of sections.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// header is the magic number and version 1.
const header = "\x00asm\x01\x00\x00\x00"

// order is the one in which sections stand in a module.
var order = [...]byte{
	sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal,
	sectionExport, sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
}

// Bytes encodes the module. Sections without entries are left out.
func (m *Module) Bytes() []byte {
	payloads := m.payloads()
	out := m.appendRaw([]byte(header), 0)
	for _, id := range order {
		if payload := payloads[id]; payload != nil {
			out = appendSection(out, id, payload)
		}
		out = m.appendRaw(out, id)
	}
	return out
}

func (m *Module) payloads() map[byte][]byte {
	payloads := map[byte][]byte{}
	for id, v := range map[byte]*vector{
		sectionType: &m.types, sectionImport: &m.imports, sectionTable: &m.tables,
		sectionMemory: &m.memory, sectionGlobal: &m.globals, sectionExport: &m.exports,
		sectionElement: &m.elems, sectionData: &m.data,
	} {
		if v.n > 0 {
			payloads[id] = v.encode()
		}
	}
	if m.data.n > 0 {
		payloads[sectionDataCount] = binary.AppendUvarint(nil, uint64(m.data.n))
	}
	if m.start != nil {
		payloads[sectionStart] = binary.AppendUvarint(nil, uint64(*m.start))
	}
	if len(m.funcs) > 0 {
		payloads[sectionFunction], payloads[sectionCode] = m.functions()
	}
	return payloads
}

func (m *Module) functions() (types, code []byte) {
	types = binary.AppendUvarint(nil, uint64(len(m.funcs)))
	code = binary.AppendUvarint(nil, uint64(len(m.funcs)))
	for _, f := range m.funcs {
		types = binary.AppendUvarint(types, uint64(f.typ))
		code = appendBytes(code, f.body)
	}
	return types, code
}

func (m *Module) appendRaw(out []byte, after byte) []byte {
	for _, s := range m.raw {
		if s.after == after {
			out = appendSection(out, s.id, s.payload)
		}
	}
	return out
}

func appendSection(out []byte, id byte, payload []byte) []byte {
	return appendBytes(append(out, id), payload)
}

func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

func appendName(out []byte, name string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(name))), name...)
}

func appendIndexes(out []byte, indexes []uint32) []byte {
	out = binary.AppendUvarint(out, uint64(len(indexes)))
	for _, i := range indexes {
		out = binary.AppendUvarint(out, uint64(i))
	}
	return out
}

// appendSigned encodes a signed LEB128 number.
func appendSigned(out []byte, v int64) []byte {
	for v < -64 || v > 63 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v)&0x7f)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}
