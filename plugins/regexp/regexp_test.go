package regexp_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/regexp"
)

// engine is compiled once for all tests.
var engine *regexp.Engine

func TestMain(m *testing.M) {
	engine = regexp.New(regexp.Options{CacheDir: testenv.CompileCache()})
	regexp.Shared = engine
	code := m.Run()
	_ = engine.Close(context.Background())
	os.Exit(code)
}

// find returns what a pattern finds in a text.
func find(ctx context.Context, text, with string, o pattern.Options) ([]string, error) {
	x, err := engine.Compile(ctx, with, o)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	s, err := x.Search(ctx, len(text))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	window, err := s.Window(len(text))
	if err != nil {
		return nil, err
	}
	copy(window, text)
	found, err := s.Find(0, len(text), 100)
	var all []string
	for _, f := range found {
		all = append(all, text[f.Start:f.End])
	}
	return all, err
}

func TestFind(t *testing.T) {
	t.Parallel()
	fold, multi := pattern.Options{IgnoreCase: true}, pattern.Options{Multiline: true}
	for name, c := range map[string]struct {
		with, text string
		o          pattern.Options
		want       []string
	}{
		"lines":                {"b+", "a\nb\ncbb\n", pattern.Options{}, []string{"b\n", "cbb\n"}},
		"the last line":        {"b$", "a\nb", pattern.Options{}, []string{"b"}},
		"no line behind":       {"^$", "a\n", pattern.Options{}, nil},
		"empty lines":          {"^$", "\na\n\n", pattern.Options{}, []string{"\n", "\n"}},
		"everything":           {"", "a\n\n", pattern.Options{}, []string{"a\n", "\n"}},
		"Unicode words":        {`^\w+$`, "é٣\n-\n", pattern.Options{}, []string{"é٣\n"}},
		"ASCII words":          {`^(?-u:\w)+$`, "é\ne\n", pattern.Options{}, []string{"e\n"}},
		"folding":              {"STRASSE|ΣΑΣ", "ſtrasse\nσας\n", fold, []string{"ſtrasse\n", "σας\n"}},
		"no newline in class":  {`a[^b]c|a\sc`, "a\nc\n", pattern.Options{}, nil},
		"invalid UTF-8":        {"^.$", "\xff\nx\n", pattern.Options{}, []string{"x\n"}},
		"bytes":                {`(?-u)^\xff$`, "\xff\nx\n", pattern.Options{}, []string{"\xff\n"}},
		"a line is the text":   {`\Ab\z`, "a\nb\nab\n", pattern.Options{}, []string{"b\n"}},
		"ends of words":        {`\bfoo\b`, "éfoo\nfoo é\né\nfoo中\n中 foo\n", pattern.Options{}, []string{"foo é\n", "中 foo\n"}},
		"no end of a word":     {`\Bo`, "é o\néo\n", pattern.Options{}, []string{"éo\n"}},
		"words across lines":   {`\w+\b\n\bé`, "a é\nb\nb\néa\n", multi, []string{"b\né"}},
		"not between words":    {`a\b\né\b`, "a\néa\n", multi, nil},
		"across lines":         {"a.b", "a\nb\n", multi, []string{"a\nb"}},
		"across, but no lines": {"a+", "xa\nb\n", multi, []string{"xa\n"}},
		"across, empty":        {`(?m)^\n?`, "ab\n\n", multi, []string{"", "\n"}},
		"carriage return":      {"a$", "a\r\na\n", pattern.Options{}, []string{"a\n"}},
	} {
		got, err := find(t.Context(), c.text, c.with, c.o)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	for with, want := range map[string][]string{
		`\w+Reader\s+struct`:    {"Reader"},
		`func \w+\(ctx context`: {"(ctx context"},
		`(foo|barbar)\d`:        {"foo", "barbar"},
		`(foo|\d)x`:             nil,
		`(needle)?xyzz+`:        {"xyz"},
		`(abc){2,}`:             {"abc"},
		`(abc)*`:                nil,
		`ab[cd]e`:               {"abce", "abde"},
		`a.b`:                   nil,
	} {
		x, err := engine.Compile(t.Context(), with, pattern.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range x.Facts().Literals {
			got = append(got, string(l))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", with, got, want)
		}
		x.Close()
	}
}

// TestHostile holds that whatever a pattern is, it is refused or searched with soon,
// and that a search ends when it is cancelled.
func TestHostile(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(strings.Repeat("aé x", 1000)+"\n", 250)
	for name, with := range map[string]string{
		"nested stars":    `(a*)*$`,
		"words":           `\w{1000}`,
		"many words":      `(?i)\w{500}`,
		"repeats":         `x{0,100000}`,
		"nested repeats":  `((((a{100}){100}){100}){100}){100}`,
		"nested groups":   strings.Repeat("(", 2000) + strings.Repeat(")", 2000),
		"alternation":     "(?i)" + strings.Repeat("straße|", 400) + "x",
		"class":           "[" + strings.Repeat(`\w\W\pL`, 500) + "]{20}",
		"doubled classes": strings.Repeat("[^", 1000) + strings.Repeat("]", 1000),
		"ambiguous":       strings.Repeat("(a|aa|é)*", 100) + "b",
		"ends":            strings.Repeat(`\b\B$^`, 800),
	} {
		t.Run(name, func(t *testing.T) {
			testenv.InTime(t, 3*time.Second+5*time.Second, func() time.Duration {
				return testenv.Took(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					defer cancel()
					_, err := find(ctx, text, with, pattern.Options{})
					switch abi.CodeOf(err) {
					case abi.CodeInvalidInput, abi.CodeTimeout:
					default:
						if err != nil {
							t.Error(err)
						}
					}
				})
			})
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("aé x ", 2<<20)
	testenv.InTime(t, 50*time.Millisecond, func() time.Duration {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var at time.Time
		time.AfterFunc(200*time.Millisecond, func() { at = time.Now(); cancel() })
		_, err := find(ctx, text, `(?i)\w{500}`, pattern.Options{})
		if abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("got %v", err)
			return 0
		}
		return time.Since(at)
	})
}

func TestClosed(t *testing.T) {
	t.Parallel()
	e := regexp.New(regexp.Options{})
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Compile(t.Context(), "a", pattern.Options{}); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v", err)
	}
}
