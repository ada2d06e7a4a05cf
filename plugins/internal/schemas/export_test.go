package schemas

import "time"

// Within sets how long a validation may take.
func (s *Schema) Within(d time.Duration) *Schema {
	s.budget.time = d
	return s
}

// PlainlyAccepts reports whether a value is accepted without the library.
func (s *Schema) PlainlyAccepts(canonical []byte) bool { return s.plain.accepts(canonical) }

// Examine validates by the library, whatever the schema.
func (s *Schema) Examine(canonical []byte) error { return s.examine(canonical) }
