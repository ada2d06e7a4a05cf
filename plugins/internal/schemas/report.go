package schemas

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// maxProblems bounds how many faults of an input are told to the model.
	maxProblems = 10
	// maxFormProblems is the same for what a caller wants, see [CompileForm].
	maxFormProblems = 100
	// maxLeaves bounds how many are looked at to find those.
	maxLeaves = 200
	// maxProblem bounds one of them, in bytes: an enum is listed in full by the
	// library, and names come from the input.
	maxProblem = 500
)

// problems lists the leaves of a validation error as a model can act on them,
// in an order that does not change from one time to the next.
func (s *Schema) problems(err *jsonschema.ValidationError) []string {
	var list []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			if len(list) < maxLeaves {
				walk(c)
			}
		}
		if len(e.Causes) == 0 {
			list = append(list, s.problem(e)...)
		}
	}
	walk(err)
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > s.most {
		list = append(list[:s.most], "and more")
	}
	return list
}

// problem words a leaf for the model. The library's message tells its kind; the keyword's
// place in the schema does not, where a property's schema is just false.
func (s *Schema) problem(e *jsonschema.ValidationError) []string {
	at := pathOf(e.InstanceLocation, "")
	if names, ok := strings.CutPrefix(e.Message, "missing properties: "); ok {
		return s.each(quotedNames(names), at, ": required")
	}
	if names, ok := strings.CutPrefix(e.Message, "additionalProperties "); ok {
		if names, ok = strings.CutSuffix(names, " not allowed"); ok {
			return s.each(quotedNames(names), at, ": unknown field"+s.fields(e.InstanceLocation))
		}
	}
	if e.Message == "not allowed" && strings.HasSuffix(e.KeywordLocation, "/unevaluatedProperties") {
		parent := e.InstanceLocation[:strings.LastIndexByte(e.InstanceLocation, '/')]
		return []string{clip(at) + ": unknown field" + s.fields(parent)}
	}
	if at == "" {
		at = s.about
	}
	return []string{clip(at) + ": " + clip(plainBounds(e.Message))}
}

// overlong words the bound that a list is over, in a value that takes too much work to say more of;
// empty where none is. It follows no references.
func overlong(s *jsonschema.Schema, value any, at string) string {
	switch v := value.(type) {
	case []any:
		if s.MaxItems >= 0 && len(v) > s.MaxItems {
			return clip(fmt.Sprintf("%s: maximum %d items required, but found %d items", cmp.Or(at, "the whole"), s.MaxItems, len(v)))
		}
		for i, e := range v {
			if s.Items2020 == nil || i < len(s.PrefixItems) {
				break
			}
			if found := overlong(s.Items2020, e, at+"["+strconv.Itoa(i)+"]"); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if found := overlong(s.Properties[name], v[name], join(at, name)); found != "" {
				return found
			}
		}
	}
	return ""
}

// bound is a bound as the library writes it that is a large number: 3.6e+06.
var bound = lazyregexp.New(`^(must be (?:<|<=|>|>=) -?)(\d(?:\.\d+)?e\+\d\d)\b`)

// plainBounds writes the bound of a message with all of its digits.
func plainBounds(message string) string {
	found := bound.FindStringSubmatch(message)
	if found == nil {
		return message
	}
	number, err := strconv.ParseFloat(found[2], 64)
	if err != nil {
		return message // it is longer than numbers are
	}
	return found[1] + strconv.FormatFloat(number, 'f', -1, 64) + message[len(found[0]):]
}

// each puts what is the matter behind the path of every name. More are left out
// than are shown of all.
func (s *Schema) each(names []string, at, matter string) []string {
	slices.Sort(names)
	names = names[:min(len(names), s.most+1)]
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = clip(join(at, name)) + matter
	}
	return out
}

// fields names the fields the tool does have, where the fault is at its root.
func (s *Schema) fields(location string) string {
	if location != "" || len(s.compiled.Properties) == 0 {
		return ""
	}
	names := make([]string, 0, len(s.compiled.Properties))
	for name := range s.compiled.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return " (there are " + clip(strings.Join(names, ", ")) + ")"
}

// quotedNames takes the names out of the library's "'a', 'b'", which it does not
// offer otherwise.
func quotedNames(list string) []string {
	list = strings.TrimSuffix(strings.TrimPrefix(list, "'"), "'")
	return strings.Split(list, "', '")
}

// clip makes what a schema, an input or a manifest says fit for a message.
func clip(text string) string { return visible.Short(text, maxProblem) }

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// pathOf writes the library's kind of JSON pointer, whose tokens are escaped as
// in a URL too, as edits[2].old_string.
func pathOf(pointer, root string) string {
	if pointer == "" || pointer == "/" {
		return root
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	var b strings.Builder
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = unescape.Replace(token)
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}
