package prepass

// valType reads a value type.
func (r *reader) valType() byte {
	at := r.pos
	switch b := r.byte(); b {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f:
		return b
	case 0x69, 0x68, 0x74, 0x75:
		r.fail(at, unsupported("exception handling"))
	case 0x63, 0x64, 0x6e, 0x6d, 0x6c, 0x6b, 0x6a, 0x71, 0x72, 0x73:
		r.fail(at, refusal(0x14))
	default:
		r.fail(at, "unknown value type")
	}
	return 0
}

// refType reads a reference type.
func (r *reader) refType() byte {
	at := r.pos
	b := r.valType()
	if r.err == nil && b != 0x70 && b != 0x6f {
		r.fail(at, "a table holds references only")
	}
	return b
}

// nullType reads what a null is of. Anything but the two kinds of reference
// there are is of a proposal, a type of the module by its number above all.
func (r *reader) nullType() {
	at := r.pos
	if b := r.byte(); r.err == nil && b != 0x70 && b != 0x6f {
		r.fail(at, refusal(0xd4))
	}
}
