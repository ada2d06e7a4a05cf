package abi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestGoldenCanonical(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "canonical.json")
	want := slices.Concat(canonicalAccepted, canonicalRefused)
	if *update {
		writeJSON(t, file, want)
	}
	var cases []canonicalCase
	if err := json.Unmarshal(readFile(t, file), &cases); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cases, want) {
		t.Error("canonical.json differs from the table; run the test with -update and look at the change")
	}
	for _, c := range cases {
		t.Run(c.About, func(t *testing.T) {
			out, err := abi.Canonical(c.input())
			if c.Error == "" {
				if err != nil || string(out) != c.Out {
					t.Fatalf("%q, %v\nwant %q", out, err, c.Out)
				}
				return
			}
			wantCode(t, err, c.Error)
			fault := abi.JSONFault{}
			if f, ok := errors.AsType[*abi.JSONFault](err); !ok {
				t.Fatalf("%T carries no *abi.JSONFault", err)
			} else {
				fault = *f
			}
			if fault.Path != c.Path || fault.Offset != *c.Offset {
				t.Errorf("at %q, byte %d, want %q, byte %d: %v", fault.Path, fault.Offset, c.Path, *c.Offset, err)
			}
			if len(err.Error()) > 500 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestCanonicalAppends(t *testing.T) {
	t.Parallel()
	out, err := abi.AppendCanonical([]byte("x="), []byte(`{"b":[{"d":1,"c":"\u0041"}],"a":0}`))
	if want := `x={"a":0,"b":[{"c":"A","d":1}]}`; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
	out, err = abi.AppendCanonical([]byte("x="), []byte(`{"b":`))
	if err == nil || string(out) != "x=" {
		t.Errorf("%q, %v; a refused document must leave dst as it was", out, err)
	}
}

func TestCanonicalBounds(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	objects := strings.Repeat(`{"a":`, 100_000)
	inputs := []string{deep, objects, strings.Repeat("[", 10_000_000)}
	for _, in := range inputs {
		var err error
		// 5 ms at most, with the race detector 50.
		if work := testenv.Work(func() { _, err = abi.Canonical([]byte(in)) }); work > 2*time.Second {
			t.Errorf("refusing a document of %d bytes took %v", len(in), work)
		}
		wantCode(t, err, abi.CodeInvalidInput)
		if !strings.Contains(err.Error(), "256") {
			t.Errorf("%v does not name the limit", err)
		}
	}
	big := make([]byte, abi.MaxJSON+1)
	_, err := abi.Canonical(big)
	wantCode(t, err, abi.CodeTooLarge)
}

// A document whose every level is out of order must not be copied once a level.
func TestCanonicalUnsortedLevelsAreLinear(t *testing.T) {
	t.Parallel()
	const levels = abi.MaxDepth - 1
	pad := strings.Repeat("x", 1<<20)
	in := strings.Repeat(`{"b":`, levels) + `"` + pad + `"` + strings.Repeat(`,"a":0}`, levels)
	want := strings.Repeat(`{"a":0,"b":`, levels) + `"` + pad + `"` + strings.Repeat(`}`, levels)
	var out []byte
	var err error
	work := testenv.Work(func() { out, err = abi.Canonical([]byte(in)) })
	if err != nil || string(out) != want {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	if work > 2*time.Second {
		t.Errorf("took %v", work)
	}
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	var head abi.CallHead
	if err := abi.Unmarshal([]byte(`{"tool":"Read","id":"1","of_tomorrow":[{}]}`), &head); err != nil || head.Tool != "Read" {
		t.Errorf("%+v, %v", head, err)
	}
	for _, in := range []string{`{"tool":"a","tool":"b"}`, `{"tool":1}`, `{} {}`, `[]`, `nonsense`} {
		err := abi.Unmarshal([]byte(in), &head)
		wantCode(t, err, abi.CodeInvalidInput)
	}
	var anything any
	if err := abi.Unmarshal([]byte(`[12345678901234567890]`), &anything); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(anything); got != "[12345678901234567890]" {
		t.Errorf("%s: numbers in an any must stay exact", got)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, c := range slices.Concat(canonicalAccepted, canonicalRefused) {
		f.Add(c.input())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := abi.Canonical(in)
		if err != nil {
			if _, ok := errors.AsType[*abi.JSONFault](err); !ok {
				t.Fatalf("%T %v carries no place", err, err)
			}
			return
		}
		if !json.Valid(in) {
			t.Fatal("accepts what encoding/json does not")
		}
		if len(out) > len(in) {
			t.Fatalf("canonical form of %d bytes from %d", len(out), len(in))
		}
		again, err := abi.Canonical(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("not idempotent: %s, then %s, %v", out, again, err)
		}
		if want := reencoded(t, in); !bytes.Equal(out, want) {
			t.Fatalf("\n got %s\nwant %s", out, want)
		}
	})
}

// reencoded is the canonical form the slow way: through encoding/json, whose
// maps are written in the order of their keys' bytes.
func reencoded(t *testing.T, in []byte) []byte {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out := compactJSON(t, v)
	// encoding/json escapes these two for the sake of JavaScript.
	out = replaceEscape(out, `\u2028`, "\u2028")
	return replaceEscape(out, `\u2029`, "\u2029")
}

// replaceEscape replaces an escape where it is one, not the text of one.
func replaceEscape(b []byte, escape, with string) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		switch {
		case bytes.HasPrefix(b[i:], []byte(escape)):
			out = append(out, with...)
			i += len(escape) - 1
		case b[i] == '\\':
			out = append(out, b[i], b[i+1])
			i++
		default:
			out = append(out, b[i])
		}
	}
	return out
}

func BenchmarkCanonical(b *testing.B) {
	small := []byte(`{"file_path":"/work/src/main.go","old_string":"func main() {","new_string":"func run() {","n":2}`)
	unsorted := []byte(`{"pattern":"x","path":"/work/src/long/enough","glob":"*.go","output_mode":"content","-n":true,"z":1}`)
	ascii := []byte(`{"content":"` + strings.Repeat("0123456789abcdef", 100<<10/16) + `"}`)
	lines := []byte(`{"content":"` + strings.Repeat(`\treturn fmt.Errorf(\"no: %w\", err)\n`, 100<<10/38) + `"}`)
	wide := []byte(`{"content":"` + strings.Repeat("日本語のテキスト", 100<<10/24) + `"}`)
	for _, c := range []struct {
		name string
		in   []byte
	}{{"100B", small}, {"100B-unsorted", unsorted}, {"100KiB", ascii}, {"100KiB-escapes", lines}, {"100KiB-japanese", wide}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.in)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				var err error
				if dst, err = abi.AppendCanonical(dst[:0], c.in); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(c.in)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(c.in, &v); err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
