package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions/audit"
)

func TestInputs(t *testing.T) {
	t.Parallel()
	const secret = "hunter2 is the password"
	many := `{"a":[` + strings.Repeat(`"x",`, 100_000) + `"x"]}`
	tests := map[string]struct {
		as    audit.Inputs
		input string
		want  string // what is logged
		how   audit.Inputs
	}{
		"hash":     {audit.InputsHash, `{"a":"b"}`, "", audit.InputsHash},
		"full":     {audit.InputsFull, `{"a": "<b>", "n":1.50}`, `{"a":"\u003cb\u003e","n":1.50}`, audit.InputsFull},
		"redacted": {audit.InputsRedacted, `{"f":"` + secret + `","n":1.50,"t":true,"z":null,"l":["` + secret + `",{"k":""}]}`, `{"f":"[redacted: 23 bytes, sha256 `, audit.InputsRedacted},
		"long":     {audit.InputsFull, `{"f":"` + strings.Repeat("x", 40_000) + `"}`, `{"f":"[redacted: 40000 bytes, sha256 `, audit.InputsRedacted},
		"many":     {audit.InputsFull, many, "", audit.InputsHash},
		"no JSON":  {audit.InputsFull, `{"a`, "", audit.InputsHash},
		"unknown":  {audit.Inputs(9), `{"a":1}`, `{"a":1}`, audit.InputsFull},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, how := tt.as.Of(json.RawMessage(tt.input))
			if how != tt.how || strings.Contains(string(got), secret) {
				t.Errorf("%v: %.200s", how, got)
			}
			if name == "redacted" {
				if n := strings.Count(string(got), "[redacted: "); n != 3 || !strings.HasSuffix(string(got), `"n":1.50,"t":true,"z":null}`) {
					t.Errorf("got %s", got)
				}
			}
			if !strings.HasPrefix(string(got), tt.want) || tt.want == "" && got != nil {
				t.Errorf("got %.200s, want %s", got, tt.want)
			}
		})
	}
}

// TestInputIsLogged: it is read back as it was given, and one that is too large does not make
// a line that cannot be read.
func TestInputIsLogged(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{})
	for _, input := range []string{`{"a":"b"}`, `{"a":"` + strings.Repeat("<", 30_000) + `"}`, `{"a":[` + strings.Repeat("1,", 50_000) + `1]}`, `no JSON`} {
		e := audit.Entry{Input: json.RawMessage(input), Inputs: audit.InputsFull}
		e.Tool = "T"
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, dir, audit.Filter{OldestFirst: true})
	if string(got[0].Input) != `{"a":"b"}` || got[0].Inputs != audit.InputsFull {
		t.Errorf("got %s, %v", got[0].Input, got[0].Inputs)
	}
	if !strings.HasPrefix(string(got[1].Input), `{"a":"[redacted: 30000 bytes`) || got[1].Inputs != audit.InputsRedacted {
		t.Errorf("got %.100s, %v", got[1].Input, got[1].Inputs)
	}
	for _, r := range got[2:] {
		if r.Input != nil || r.Inputs != audit.InputsHash {
			t.Errorf("got %.100s, %v", r.Input, r.Inputs)
		}
	}
	sound(t, dir)
	for i, name := range []string{"hash", "redacted", "full"} {
		if in, err := audit.ParseInputs(name); err != nil || in != audit.Inputs(i) || in.String() != name {
			t.Errorf("%s: %v, %v", name, in, err)
		}
	}
	if _, err := audit.ParseInputs("all"); err == nil || err.Error() != `"all" is not hash, redacted or full` {
		t.Errorf("got %v", err)
	}
}
