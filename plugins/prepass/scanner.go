package prepass

// scanner goes through function bodies, one at a time, instruction by
// instruction. It checks whatever could reach into what the rewriting adds, and
// notes what is to be done where.
type scanner struct {
	m *module
	c *code

	buf    []byte // the module up to the end of the body
	b      *body
	labels []label
	owners []owner
	loops  []loop
	params []byte
	groups []group
	seen   []access // of each local
	// most bounds the edits of the module, and edits counts those ahead of the
	// body.
	most, edits int
	// branchWeight is added to every branch: values that differ between paths
	// are moved about where paths meet.
	branchWeight uint32
	// The last i32.const, if it is the instruction before the one at constEnd.
	constEnd, constValue int
}

// label is what a branch can name: a block, a loop, an if or the function.
type label struct {
	op byte
	// arity is the number of values that a branch to it takes along.
	arity uint16
	// owner is the one whose code follows on the label.
	owner uint32
	// wraps counts the loops up to this label that the rewriting puts a block of
	// its own into.
	wraps uint32
	// from is the number of the earliest chunk, but the first, that branches to
	// the label, or noChunk; since is that of the chunk an if lies in.
	from, since uint32
	// sets is the body's count where the label opens, and joined says that there
	// is more than one way to where it leads.
	sets   int
	joined bool
}

// owner is a function's or a loop's own code, while it is being scanned.
type owner struct {
	head   uint32 // its first chunk
	chunk  uint32 // the current one
	number uint32 // counted from 0 within the owner
	weight uint32 // of the current chunk, so far
	// due says that a new chunk starts at the next instruction of any weight.
	due bool
}

func (s *scanner) fault(at int, message string) *Error {
	return &Error{Section: sectionNames[secCode], Offset: at, Message: message}
}

func (s *scanner) edit(e edit) { s.c.edits = append(s.c.edits, e) }
