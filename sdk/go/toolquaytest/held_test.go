package toolquaytest_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

// ended is a test that a host ends.
type ended struct {
	testing.TB
	why string
}

func (e *ended) Helper() {}

func (e *ended) Fatalf(format string, args ...any) {
	e.why = fmt.Sprintf(format, args...)
	panic(e)
}

// fatal returns why a host ends a test.
func fatal(t *testing.T, do func(e *ended)) string {
	t.Helper()
	e := &ended{TB: t}
	func() {
		defer func() { _ = recover() }()
		do(e)
	}()
	return e.why
}

const held = "manifest = 1\nname = \"p\"\n[[tools]]\nname = \"Told\"\n[[tools]]\nname = \"Ask\"\n"

// The tool Told tells what it knows of the time, of chance and of its configuration,
// Assessed what it is asked about.
func init() {
	toolquay.Handle("Told", func(c *toolquay.Call, _ struct{}) (toolquay.Output, error) {
		now, err := c.Now()
		if err != nil {
			return toolquay.Output{}, err
		}
		drawn := make([]byte, 100_000)
		if err := c.Random(drawn); err != nil {
			return toolquay.Output{}, err
		}
		unit, _ := c.Config("unit")
		return toolquay.Text(now.Format(time.RFC3339) + unit + hex.EncodeToString(drawn[99_990:])), nil
	})
	toolquay.Register(toolquay.Tool{
		Name: "Assessed",
		Run:  func(*toolquay.Call) (toolquay.Output, error) { return toolquay.Output{}, nil },
		Assess: func(q *toolquay.Question) (toolquay.Assessment, error) {
			var in map[string]json.RawMessage
			err := q.Decode(&in)
			return toolquay.Assessment{Rendering: fmt.Sprintf("%s", in)}, err
		},
	})
}

func TestManifestFaultsEndTheTest(t *testing.T) {
	for name, tt := range map[string]struct{ manifest, config, tool, says string }{
		"no TOML":          {"manifest = ", "", "Told", "plugin.toml: line 1"},
		"no such tool":     {held, "", "Probe", "tool Probe: there is no [[tools]] table of that name"},
		"a size":           {held + "[limits]\noutput = \"big\"\n", "", "Told", `"big" is not a size`},
		"a scope":          {held + "[[capabilities]]\nname = \"fs.read\"\nscope = [\"//etc/**\"]\n", "", "Told", `cannot check the scope "//etc/**"`},
		"a scope outside":  {held + "[[capabilities]]\nname = \"fs.read\"\nscope = [\"./a/../../b\"]\n", "", "Told", "leads out of the working directory"},
		"a keyword":        {held + "input_schema = '{\"not\":{}}'\n", "", "Ask", `input_schema has the keyword "not", which this test host cannot check`},
		"no such key":      {held, "unit", "Told", `declares no configuration value "unit"`},
		"another type":     {held + "[[config]]\nname = \"unit\"\ntype = \"integer\"\n", "unit", "Told", `"unit" is "x", which is not of type integer`},
		"a default's type": {held + "[[config]]\nname = \"unit\"\ntype = \"boolean\"\ndefault = \"yes\"\n", "", "Told", `"unit" is yes, which is not of type boolean`},
		"a key is missing": {held + "[[config]]\nname = \"unit\"\nrequired = true\n", "", "Told", `"unit" is required and not set`},
	} {
		t.Run(name, func(t *testing.T) {
			host := toolquaytest.Files(nil).Manifest(tt.manifest)
			if tt.config != "" {
				host.Config(tt.config, "x")
			}
			if why := fatal(t, func(e *ended) { host.Call(e, tt.tool, struct{}{}) }); !strings.Contains(why, tt.says) {
				t.Errorf("it ends with %q; want %q", why, tt.says)
			}
		})
	}
}

// TestManifestIsFound has a host look for the manifest beside the test and above it.
func TestManifestIsFound(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(back)
	if err := os.Chdir(deep); err != nil {
		t.Fatal(err)
	}
	write("go.mod", "module m\n")
	call := func() string {
		return fatal(t, func(e *ended) { toolquaytest.Files(nil).Call(e, "Told", struct{}{}) })
	}
	if why := call(); !strings.Contains(why, "name it with Host.Manifest") {
		t.Errorf("without a manifest it ends with %q", why)
	}
	write("plugin.toml", held)
	if why := call(); why != "" {
		t.Errorf("with one it ends with %q", why)
	}
	write("a/go.mod", "module m/a\n")
	if why := call(); why == "" {
		t.Error("that of another module is taken")
	}
}

func TestTimeChanceAndConfiguration(t *testing.T) {
	manifest := held + "[[capabilities]]\nname = \"clock.now\"\n[[capabilities]]\nname = \"random.bytes\"\n[[config]]\nname = \"unit\"\ndefault = \"m\"\n"
	host := toolquaytest.Files(nil).Manifest(manifest)
	first, again := host.Call(t, "Told", struct{}{}), host.Call(t, "Told", struct{}{})
	if first.Text() != again.Text() || !strings.HasPrefix(first.Text(), "2023-11-14T22:13:20Zm") || strings.HasSuffix(first.Text(), "00000000") {
		t.Errorf("got %q, then %q", first.Text(), again.Text())
	}
	host = toolquaytest.Files(nil).Manifest(manifest).Time(time.Unix(0, 0)).Config("unit", "km")
	if r := host.Call(t, "Told", struct{}{}); !strings.HasPrefix(r.Text(), "1970-01-01T00:00:00Zkm") {
		t.Errorf("got %q", r.Text())
	}
	host = toolquaytest.Files(nil).Manifest(strings.Replace(manifest, `default = "m"`, "type = \"integer\"\ndefault = \" 10 \"", 1))
	if r := host.Call(t, "Told", struct{}{}); !strings.HasPrefix(r.Text(), "2023-11-14T22:13:20Z10") || strings.Contains(r.Text(), " ") {
		t.Errorf("got %q", r.Text())
	}
}

// TestAssessGetsWhatACallGets has a tool be asked about an input as it would be called with.
func TestAssessGetsWhatACallGets(t *testing.T) {
	host := toolquaytest.Files(nil).Manifest("[[tools]]\nname = \"Assessed\"\nstrict = true\ninput_schema = '{\"properties\":{\"n\":{\"type\":\"integer\"},\"m\":{\"type\":\"integer\"},\"x\":{\"type\":[\"integer\",\"number\"]},\"any\":{\"anyOf\":[{\"type\":\"integer\",\"maximum\":3},{\"type\":\"integer\",\"minimum\":9}]}}}'\n")
	if a := host.Assess(t, "Assessed", rawJSON(`{"n":2.0,"m":null,"any":9.0,"x":2.0,"y":2.0}`)); a.Rendering != "map[any:9 n:2 x:2.0 y:2.0]" {
		t.Errorf("got %+v", a)
	}
	if why := fatal(t, func(e *ended) { host.Assess(e, "Told", rawJSON(`{}`)) }); !strings.Contains(why, "no [[tools]] table of that name") {
		t.Errorf("it ends with %q", why)
	}
}

func TestReadOnlyToolsDoNotWrite(t *testing.T) {
	host := toolquaytest.Files(nil).Manifest("[[capabilities]]\nname = \"fs.write\"\n[[tools]]\nname = \"Ask\"\nread_only = true\n")
	r := host.Call(t, "Ask", map[string]any{"do": []any{map[string]any{
		"capability": "fs.write", "args": map[string]any{"path": "a.txt"}, "parts": []string{"x"}}}})
	if _, there := host.File("a.txt"); there || !strings.Contains(string(r.Structured), "Ask declares itself read-only and asked for fs.write on /work/a.txt") {
		t.Errorf("got %s", r.Structured)
	}
}

func TestShow(t *testing.T) {
	host := toolquaytest.Files(map[string]string{"a.txt": "one", "b.txt": "two"}).WithoutManifest().Show("a.txt").Show("none")
	for name, holds := range map[string]string{"a.txt": "x", "b.txt": "two"} {
		host.Call(t, "Ask", map[string]any{"do": []any{map[string]any{
			"capability": "fs.write", "args": map[string]any{"path": name}, "parts": []string{"x"}}}})
		if got, _ := host.File(name); string(got) != holds {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

func TestSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"kind":{"enum":["a",1,null]}, "n":{"type":"integer","minimum":1,"exclusiveMaximum":5,"multipleOf":2},
		"s":{"type":["string","null"],"minLength":2,"maxLength":3,"pattern":"^[a-zä]+$"},
		"list":{"type":"array","items":{"type":"object","required":["x"],"properties":{"x":{"const":true}},"additionalProperties":false},"minItems":1,"maxItems":2},
		"any":{"anyOf":[{"type":"string"},{"type":"boolean"}]},"one":{"oneOf":[{"type":"number"},{"type":"integer"}]},"all":{"allOf":[{"minimum":1},{"maximum":2}]},
		"map":{"type":"object","additionalProperties":{"type":"number"},"minProperties":1,"maxProperties":1},"never":false,"description":{"description":"x"}},
		"additionalProperties":false}`
	host := toolquaytest.Files(nil).Manifest("[[tools]]\nname = \"Ask\"\ninput_schema = '''" + schema + "'''\n")
	for input, why := range map[string]string{
		`{}`: "", `{"kind":1.0}`: "", `{"kind":null}`: "", `{"n":4.0}`: "", `{"s":"äb"}`: "", `{"s":null}`: "", `{"list":[{"x":true}]}`: "",
		`{"any":true}`: "", `{"one":1.5}`: "", `{"all":2}`: "", `{"map":{"k":1}}`: "", `{"description":[]}`: "",
		`[]`: "the input is not of type object", `{"kind":"b"}`: "kind is none of", `{"n":0}`: "n is 0, less than the minimum 1", `{"n":5}`: "n is 5, not less than 5",
		`{"n":3}`: "no multiple of 2", `{"n":2.5}`: "no multiple of 2", `{"n":"2"}`: "n is not of type integer", `{"s":"a"}`: "shorter than 2", `{"s":"abcd"}`: "longer than 3", `{"s":"AB"}`: "does not match",
		`{"list":[]}`: "shorter than 1", `{"list":[{}]}`: `list[0] lacks "x"`, `{"list":[{"x":false}]}`: "list[0].x is none of", `{"list":[{"x":true,"y":1}]}`: "list[0].y is not allowed",
		`{"any":1}`: "any is not of type string", `{"one":1}`: "fits more than one", `{"all":3}`: "over the maximum", `{"map":{"k":"v"}}`: "map.k is not of type number",
		`{"map":{}}`: "smaller than 1", `{"map":{"a":1,"b":2}}`: "larger than 1", `{"never":1}`: "never is not allowed", `{"other":1}`: "other is not allowed",
	} {
		r := host.Call(t, "Ask", rawJSON(input))
		refused := r.Err != nil && r.Err.Code == toolquay.CodeInvalidInput && strings.HasPrefix(r.Err.Message, "Ask: ")
		if why == "" == refused || !strings.Contains(r.Text(), why) {
			t.Errorf("%s: got %q; want %q", input, r.Text(), why)
		}
	}
}

// rawJSON is an input as it is.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }
