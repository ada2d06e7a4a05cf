package prepass

import (
	"unicode/utf8"
)

// reader reads a part of the module. The first fault sticks: what is read after
// it is zero, so that callers may look for it once at the end of an entry.
type reader struct {
	buf     []byte
	pos     int
	end     int
	section string
	err     *Error
}

func (r *reader) fail(at int, message string) {
	if r.err == nil {
		r.err = &Error{Section: r.section, Offset: at, Message: message}
		r.pos = r.end
	}
}

func (r *reader) more() bool { return r.err == nil && r.pos < r.end }

func (r *reader) byte() byte {
	if r.pos >= r.end {
		r.fail(r.pos, "unexpected end")
		return 0
	}
	b := r.buf[r.pos]
	r.pos++
	return b
}

// peek is the next byte, or 0 at the end.
func (r *reader) peek() byte {
	if r.pos >= r.end {
		return 0
	}
	return r.buf[r.pos]
}

func (r *reader) u32() uint32 {
	start := r.pos
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(start, "integer takes more than 32 bits")
	return 0
}

// skipLEB passes over an integer of at most size bytes.
func (r *reader) skipLEB(size int) {
	start := r.pos
	for range size {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(start, "integer too long")
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.end-r.pos) {
		r.fail(r.pos, "length reaches past the end")
		return nil
	}
	b := r.buf[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// name reads a UTF-8 string of at most limit bytes.
func (r *reader) name(what string, limit int) string {
	start := r.pos
	n := r.u32()
	if r.err == nil && uint64(n) > uint64(limit) {
		r.fail(start, over(what+" bytes", uint64(n), uint64(limit)))
		return ""
	}
	b := r.bytes(n)
	if !utf8.Valid(b) {
		r.fail(start, what+" is not UTF-8")
		return ""
	}
	return string(b)
}

// count reads the length of a vector.
func (r *reader) count(what string, limit int) int { return r.further(what, 0, limit) }

// further reads the length of a vector whose entries come on top of others. Each
// entry takes at least one byte, which bounds them by what is left even before
// limit does.
func (r *reader) further(what string, have, limit int) int {
	start := r.pos
	n := r.u32()
	switch {
	case r.err != nil:
		return 0
	case uint64(have)+uint64(n) > uint64(limit):
		r.fail(start, over(what, uint64(have)+uint64(n), uint64(limit)))
		return 0
	case uint64(n) > uint64(r.end-r.pos):
		r.fail(start, "length reaches past the end")
		return 0
	}
	return int(n)
}
