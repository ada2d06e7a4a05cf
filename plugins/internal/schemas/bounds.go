package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolquay/toolquay/abi"
)

// Schemas come from strangers, and a small one can ask for any amount of work:
// 1.5 KB of nested allOf for 2^30 visits. What grows in one step of the library
// is bounded beforehand by these numbers, what grows by its steps on the way.
const (
	// maxNodes bounds the objects and booleans of a schema, each of which may be
	// a schema itself: the library compiles in the square of them.
	maxNodes = 4000
	// maxRefNodes bounds references times nodes: a reference to a place that
	// holds no schema by itself has the library check all of it again.
	maxRefNodes = 200_000
	// maxPatterns bounds the regular expressions of a schema together, in
	// instructions, about one a character when repetitions are written out.
	maxPatterns = 10_000
	// maxMatch bounds instructions times bytes matched against them, which is
	// about a second of the matcher at its slowest.
	maxMatch = 1 << 25
	// maxSpread bounds the parts of one allOf, anyOf or oneOf times the elements
	// of one array or object: the library copies the latter's keys for each.
	maxSpread = 5_000_000
	// maxDigits bounds a number's length and the power of ten it is written
	// with: the library calculates with all its digits.
	maxDigits = 400
	// maxSteps bounds the schema nodes one validation may visit, and the
	// elements and alternatives seen there.
	maxSteps = 1_000_000
	// maxCheck bounds a validation that takes few steps but slow ones: each that
	// finds a fault, deep inside the schema, takes 20 us.
	maxCheck = time.Second
)

// census counts in a JSON document what decides how much work it makes.
type census struct {
	nodes   int // objects and booleans
	widest  int // elements of its largest array or object
	longest int // bytes of its longest string or key
	keys    int // bytes of all keys, and one for each
	huge    bool
	member  func(key string, value any) // called for each, if not nil
}

func (c *census) count(v any) {
	switch v := v.(type) {
	case bool:
		c.nodes++
	case string:
		c.longest = max(c.longest, len(v))
	case json.Number:
		c.huge = c.huge || isHuge(string(v))
	case []any:
		c.widest = max(c.widest, len(v))
		for _, e := range v {
			c.count(e)
		}
	case map[string]any:
		c.nodes++
		c.widest = max(c.widest, len(v))
		for key, e := range v {
			c.longest = max(c.longest, len(key))
			c.keys += len(key) + 1
			if c.member != nil {
				c.member(key, e)
			}
			c.count(e)
		}
	}
}

func isHuge(number string) bool {
	if len(number) > maxDigits {
		return true
	}
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		return false
	}
	power, err := strconv.Atoi(number[at+1:])
	return err != nil || power > maxDigits || power < -maxDigits
}

// schemaShape is what of a schema multiplies with an input's size.
type schemaShape struct {
	spread  int // the longest allOf, anyOf or oneOf
	pattern int // the largest pattern that reads on, in instructions
	names   int // the patterns for names of properties, together
}

// measure refuses schemas that take too long to compile.
func measure(doc any) (schemaShape, error) {
	var shape schemaShape
	refs, patterns := 0, 0
	c := census{member: func(key string, value any) {
		switch key {
		case "allOf", "anyOf", "oneOf":
			list, _ := value.([]any)
			shape.spread = max(shape.spread, len(list))
		case "dependentSchemas", "dependencies":
			table, _ := value.(map[string]any)
			shape.spread = max(shape.spread, len(table))
		case "$ref", "$dynamicRef", "$recursiveRef":
			refs++
		case "pattern":
			if text, ok := value.(string); ok {
				n, short := instructions(text)
				if !short {
					shape.pattern = max(shape.pattern, n)
				}
				patterns += n
			}
		case "patternProperties":
			table, _ := value.(map[string]any)
			for text := range table {
				n, _ := instructions(text)
				shape.names += n
			}
		}
	}}
	c.count(doc)
	switch {
	case c.nodes > maxNodes:
		return shape, fmt.Errorf("the schema has %d objects and booleans, over the limit of %d", c.nodes, maxNodes)
	case c.nodes*refs > maxRefNodes:
		return shape, fmt.Errorf("the schema has %d references in %d objects, together over the limit of %d", refs, c.nodes, maxRefNodes)
	case patterns+shape.names > maxPatterns:
		return shape, fmt.Errorf("the schema's patterns come to %d instructions, over the limit of %d; write fewer or smaller repetitions", patterns+shape.names, maxPatterns)
	case c.huge:
		return shape, fmt.Errorf("the schema holds a number of more than %d digits", maxDigits)
	}
	return shape, nil
}

// instructions is about the size of a compiled pattern, without compiling it,
// and whether it is short: ^ at the start and no open repetition, so that the
// matcher gives up after a few characters of however long a text. One that is no
// regular expression is the library's to refuse.
func instructions(pattern string) (n int, short bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 1, true
	}
	anchored := re.Op == syntax.OpConcat && re.Sub[0].Op == syntax.OpBeginText
	return weigh(re), anchored && !open(re)
}

func open(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 ||
		slices.ContainsFunc(re.Sub, open)
}

func weigh(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += weigh(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		return n * max(re.Min, re.Max, 1)
	}
	return n + 1
}

// admits refuses values on which a single step of a validation would take too
// long.
func (s schemaShape) admits(value any) error {
	var c census
	c.count(value)
	switch {
	case c.huge:
		return abi.Errorf(abi.CodeInvalidInput, "the input holds a number of more than %d digits", maxDigits)
	case s.pattern*c.longest > maxMatch || s.names*c.keys > maxMatch:
		return abi.Errorf(abi.CodeLimit, "a text of %d bytes is too long to be matched against the patterns of the tool's schema", c.longest)
	case s.spread*c.widest > maxSpread:
		return abi.Errorf(abi.CodeLimit, "a list of %d elements is too long to be checked against the %d alternatives of the tool's schema", c.widest, s.spread)
	}
	return nil
}

// budget counts the work of a validation. The library has no hook for that, but
// it runs an extension at the end of every node; this one holds nothing but the
// count. One validation of a schema runs at a time.
type budget struct {
	compiled int
	time     time.Duration // that one validation may take

	mu       sync.Mutex
	steps    int
	look     int // at how many steps left the clock is looked at
	deadline time.Time
}

// lookEvery is how many steps pass between looks at the clock.
const lookEvery = 256

type spent struct{}

func (b *budget) within(validate func() error) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.steps, b.look, b.deadline = maxSteps, maxSteps-lookEvery, time.Now().Add(b.time)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case spent:
			err = fmt.Errorf("checking takes more than %d steps or %s; the tool's schema multiplies", maxSteps, b.time)
		default:
			err = fmt.Errorf("the schema library failed: %v", r)
		}
	}()
	return validate()
}

func (b *budget) spend(steps int) {
	b.steps -= steps
	if b.steps >= b.look {
		return
	}
	b.look = b.steps - lookEvery
	if b.steps < 0 || time.Now().After(b.deadline) {
		panic(spent{})
	}
}

// Compile weighs a schema node by the nodes below it: some of those end before
// they would be counted themselves.
func (b *budget) Compile(_ jsonschema.CompilerContext, node map[string]any) (jsonschema.ExtSchema, error) {
	if b.compiled++; b.compiled > maxNodes {
		return nil, errors.New("the schema's references multiply it")
	}
	weight := 1
	for _, v := range node {
		switch v := v.(type) {
		case []any:
			weight += len(v)
		case map[string]any:
			weight += len(v)
		}
	}
	return visit{b, weight}, nil
}

type visit struct {
	budget *budget
	weight int
}

// Validate counts a node; it finds no fault with any value.
func (v visit) Validate(_ jsonschema.ValidationContext, value any) error {
	steps := v.weight
	switch value := value.(type) {
	case []any:
		steps += len(value)
	case map[string]any:
		steps += len(value)
	}
	v.budget.spend(steps)
	return nil
}
