package settings

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// fill sets everything in a value that can be set to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*time.Location]() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint, reflect.Uint64:
		v.SetUint(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	}
}

// TestProjectsGetNothingElse fills in a project's file whole. What no bringer keeps
// has no effect, be it trusted or not: a field that is new to files needs one.
func TestProjectsGetNothingElse(t *testing.T) {
	t.Parallel()
	always := []string{"Kind", "Path", "Deny", "Ask", "Isolation", "Shell", "Sandbox"}
	shown := []string{"Allow", "Mode", "Directories", "Hooks", "Judge", "Results", "Scheduler", "Tools", "Tasks", "Servers"}
	var f File
	fill(reflect.ValueOf(&f).Elem())
	f.Kind, f.Isolation.Value = permissions.SourceProject, abi.IsolationProcess
	f.Judge.BaseURL = &url.URL{Scheme: "https", Host: "x"}
	pins := make(map[Pin]bool)
	for _, want := range [][]string{always, slices.Concat(always, shown)} {
		l := loader{o: Options{Project: permissions.Dir{Path: "/p"}}, shown: pins, out: &Loaded{}}
		left := reflect.ValueOf(*admit(&l, &f))
		for i := range left.NumField() {
			name := left.Type().Field(i).Name
			if empty := reflect.DeepEqual(left.Field(i).Interface(), reflect.Zero(left.Field(i).Type()).Interface()) ||
				left.Field(i).Kind() == reflect.Slice && left.Field(i).Len() == 0; empty == slices.Contains(want, name) {
				if name != "Results" || len(pins) > 0 { // its map is empty
					t.Errorf("%d shown: %s is left: %t", len(pins), name, !empty)
				}
			}
		}
		for _, b := range l.out.Brings {
			pins[b.Pin()] = true
		}
	}
	if len(pins) < 20 {
		t.Errorf("only %d things were shown", len(pins))
	}
}

// TestAllOfItIsShown changes each field of what needs trust by itself: what a person is
// shown, and so its pin, changes with it.
func TestAllOfItIsShown(t *testing.T) {
	t.Parallel()
	example := func(value any) []string { // which say nothing beyond what the rule says
		if _, ok := value.(*Rule); ok {
			return []string{"Match", "NotMatch", "Line"}
		}
		if _, ok := value.(*Server); ok {
			return []string{"Shared", "Source"}
		}
		return []string{"Source"}
	}
	show := func(value any) string {
		switch v := value.(type) {
		case *Rule:
			return v.brought()
		case *Hook:
			return v.String()
		}
		if v, ok := value.(*Server); ok {
			return v.String()
		}
		return value.(*Judge).String()
	}
	for _, value := range []any{
		&Rule{Text: "a"},
		&Hook{Event: PreToolUse, Matcher: "A", Command: []string{"a"}, Timeout: DefaultHookTimeout},
		&Judge{Provider: "a", Model: "a", Timeout: DefaultJudgeTimeout, MaxTokens: DefaultJudgeMaxTokens},
		&Server{Name: "a"},
	} {
		v := reflect.ValueOf(value).Elem()
		was := show(value)
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if slices.Contains(example(value), name) {
				continue
			}
			before := reflect.New(v.Type()).Elem()
			before.Set(v)
			fill(v.Field(i))
			if show(value) == was {
				t.Errorf("%T: %s is not shown: %s", value, name, was)
			}
			v.Set(before)
		}
	}
}

func listKey(values ...string) Key[[]string] { return Key[[]string]{Value: values, Set: true} }

// TestShownIsOneThing has pairs that a careless text would show alike.
func TestShownIsOneThing(t *testing.T) {
	t.Parallel()
	hook := func(matcher string, env []string, command ...string) string {
		h := Hook{Event: PreToolUse, Matcher: matcher, Command: command, Env: env, Timeout: DefaultHookTimeout}
		return printable(h.String())
	}
	server := func(s Server) string { return s.String() }
	long := strings.Repeat("x", maxValueShown)
	on, off := Key[bool]{Value: true, Set: true}, Key[bool]{Set: true}
	for name, pair := range map[string][2]string{
		"a server's folder or arguments": {server(Server{Dir: "b", Command: []string{"c"}}), server(Server{Command: []string{"c,", "in", "b"}})},
		"a server's hosts or paths":      {server(Server{Network: listKey("a,", "reading", "b")}), server(Server{Network: listKey("a"), Read: listKey("b")})},
		"a URL or a program":             {server(Server{URL: "https://a"}), server(Server{Command: []string{"https://a"}})},
		"the end of a list or a program": {server(Server{Read: listKey("a:", "b")}), server(Server{Read: listKey("a"), Command: []string{"b"}})},
		"two variables or one":           {server(Server{Env: map[string]string{"A": "x B=y"}}), server(Server{Env: map[string]string{"A": "x", "B": "y"}})},
		"the ends of long values":        {server(Server{Env: map[string]string{"A": long + "a"}}), server(Server{Env: map[string]string{"A": long + "b"}})},
		"annotations trusted or not":     {server(Server{TrustAnnotations: off}), server(Server{TrustAnnotations: on})},
		"off or nothing":                 {server(Server{Enabled: off}), server(Server{})},
		"environment or arguments":       {hook("", []string{"A"}, "x"), hook("", nil, "x,", "given", "A")},
		"matcher or command":             {hook("A: x", nil, "y"), hook("A", nil, "x:", "y")},
		"all tools":                      {hook("", nil, "y"), hook("all tools", nil, "y")},
		"one argument or two":            {hook("", nil, "a b"), hook("", nil, "a", "b")},
		"an escape or its text":          {printable("a\x1b"), printable(`a\x1b`)},
		"quotes or their text":           {printable("a\u202e"), printable(`"a\u202e"`)},
		"an end or a rule":               {printable((&Rule{Text: "A", Expires: time.Unix(1, 0)}).brought()), printable("A until 1970")},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s: both are shown as %s", name, pair[0])
		}
	}
}
