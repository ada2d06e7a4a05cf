package proof

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// value is an argument or an expected result: lanes of a number of bits each,
// one of them unless it is a vector.
type value struct {
	typ   string
	width int
	lanes []lane
	// any is set of a reference that may be any but null.
	any bool
}

// lane is a bit pattern, or a set of them.
type lane struct {
	bits uint64
	nan  nanKind
}

type nanKind int

const (
	exact      nanKind = iota
	canonical          // the quiet bit alone, of either sign
	arithmetic         // any payload with the quiet bit
)

var widths = map[string]int{
	"i8": 8, "i16": 16, "i32": 32, "f32": 32, "i64": 64, "f64": 64,
	"funcref": 64, "externref": 64,
}

// UnmarshalJSON reads {"type": ..., "value": ..., "lane_type": ...}, where value
// is a text or, for vectors, a list of them.
func (v *value) UnmarshalJSON(data []byte) error {
	var raw struct {
		Type     string          `json:"type"`
		LaneType string          `json:"lane_type"`
		Value    json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	v.typ = raw.Type
	texts, elem := []string{""}, raw.Type
	switch {
	case raw.Value == nil: // only a type: the result of what traps, or any reference
		v.any = true
		return nil
	case raw.Type == "v128":
		elem = raw.LaneType
		if err := json.Unmarshal(raw.Value, &texts); err != nil {
			return err
		}
	default:
		if err := json.Unmarshal(raw.Value, &texts[0]); err != nil {
			return err
		}
	}
	v.width = widths[elem]
	if v.width == 0 {
		return fmt.Errorf("values of type %q are unknown", elem)
	}
	for _, text := range texts {
		l, err := parseLane(elem, text, v.width)
		if err != nil {
			return err
		}
		v.lanes = append(v.lanes, l)
	}
	return nil
}

func parseLane(typ, text string, width int) (lane, error) {
	switch {
	case text == "nan:canonical":
		return lane{nan: canonical}, nil
	case text == "nan:arithmetic":
		return lane{nan: arithmetic}, nil
	case text == "null":
		return lane{}, nil
	case strings.HasPrefix(text, "-"):
		n, err := strconv.ParseInt(text, 10, width)
		return lane{bits: uint64(n) & mask(width)}, err
	}
	n, err := strconv.ParseUint(text, 10, width)
	if typ == "externref" {
		n++ // 0 is what wazero calls null
	}
	return lane{bits: n}, err
}

func mask(width int) uint64 { return ^uint64(0) >> (64 - width) }

// slots are how wazero hands the value over.
func (v value) slots() []uint64 {
	if v.typ != "v128" {
		return []uint64{v.lanes[0].bits}
	}
	var out [2]uint64
	for i, l := range v.lanes {
		bit := i * v.width
		out[bit/64] |= l.bits << (bit % 64)
	}
	return out[:]
}

// matches takes the value's slots off results and reports whether they are as
// expected.
func (v value) matches(results []uint64) (rest []uint64, ok bool) {
	n := 1
	if v.typ == "v128" {
		n = 2
	}
	if len(results) < n {
		return nil, false
	}
	got, rest := results[:n], results[n:]
	if v.any {
		return rest, v.typ != "funcref" && v.typ != "externref" || got[0] != 0
	}
	for i, l := range v.lanes {
		bit := i * v.width
		if !l.matches(got[bit/64]>>(bit%64)&mask(v.width), v.width) {
			return nil, false
		}
	}
	return rest, true
}

func (l lane) matches(bits uint64, width int) bool {
	if l.nan == exact {
		return bits == l.bits
	}
	mantissa := map[int]int{32: 23, 64: 52}[width]
	quiet := mask(width-1) &^ mask(mantissa-1) // exponent and quiet bit
	switch l.nan {
	case canonical:
		return bits&mask(width-1) == quiet
	default:
		return bits&quiet == quiet
	}
}

// match reports whether all results are as expected.
func match(expected []value, results []uint64) bool {
	for _, v := range expected {
		var ok bool
		if results, ok = v.matches(results); !ok {
			return false
		}
	}
	return len(results) == 0
}

func slotsOf(args []value) []uint64 {
	var out []uint64
	for _, v := range args {
		out = append(out, v.slots()...)
	}
	return out
}
