package abi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func TestErrorsPrint(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk on fire")
	_, syntax := abi.Canonical([]byte(`{"a":[1,}`))
	fault, _ := errors.AsType[*abi.JSONFault](syntax)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"message":       {&abi.Error{Code: abi.CodeIO, Message: "reading failed", Err: cause}, "reading failed"},
		"cause alone":   {&abi.Error{Code: abi.CodeIO, Err: cause}, "disk on fire"},
		"code alone":    {&abi.Error{Code: abi.CodeIO}, "io"},
		"nothing":       {&abi.Error{}, "internal"},
		"nil":           {(*abi.Error)(nil), "<nil>"},
		"formatted":     {abi.Errorf(abi.CodeIO, "reading %q: %w", "x", cause), `reading "x": disk on fire`},
		"fault":         {syntax, `invalid JSON at a[1] (byte 8): '}' where a value was expected`},
		"fault itself":  {fault, `invalid JSON at a[1] (byte 8): '}' where a value was expected`},
		"fault of root": {&abi.JSONFault{Offset: 3, Message: "x"}, `invalid JSON at byte 3: x`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestErrorsIsAs(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("call 7: %w", abi.Errorf(abi.CodeDenied, "no: %w and %w", fs.ErrPermission, fs.ErrClosed))
	if !errors.Is(err, &abi.Error{Code: abi.CodeDenied}) || errors.Is(err, &abi.Error{Code: abi.CodeIO}) {
		t.Error("errors.Is must ask for the code")
	}
	if errors.Is(err, &abi.Error{Code: abi.CodeDenied, Message: "other"}) {
		t.Error("errors.Is with a message must not match by code")
	}
	if !errors.Is(err, fs.ErrPermission) || !errors.Is(err, fs.ErrClosed) {
		t.Error("the causes are lost")
	}
	if e, ok := errors.AsType[*abi.Error](err); !ok || e.Code != abi.CodeDenied {
		t.Error("errors.As must find it")
	}
	if errors.Is((*abi.Error)(nil), err) || (*abi.Error)(nil).Unwrap() != nil {
		t.Error("a nil *Error is nothing")
	}
}

func TestCodeOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want abi.Code
	}{
		"own":        {abi.Errorf(abi.CodeIO, "x"), abi.CodeIO},
		"wrapped":    {fmt.Errorf("y: %w", abi.Errorf(abi.CodeIO, "x")), abi.CodeIO},
		"outermost":  {abi.Errorf(abi.CodeLimit, "y: %w", abi.Errorf(abi.CodeIO, "x")), abi.CodeLimit},
		"cancelled":  {fmt.Errorf("y: %w", context.Canceled), abi.CodeCancelled},
		"timeout":    {context.DeadlineExceeded, abi.CodeTimeout},
		"other":      {errors.New("x"), abi.CodeInternal},
		"nil inside": {fmt.Errorf("y: %w", (*abi.Error)(nil)), abi.CodeInternal},
	} {
		if got := abi.CodeOf(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCodeOfEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause error
		want  abi.Code
	}{
		"cancelled":  {nil, abi.CodeCancelled},
		"own code":   {fmt.Errorf("y: %w", abi.Errorf(abi.CodeTimeout, "x")), abi.CodeTimeout},
		"deadline":   {fmt.Errorf("y: %w", context.DeadlineExceeded), abi.CodeTimeout},
		"any cause":  {errors.New("interrupted (terminated)"), abi.CodeCancelled},
		"no defects": {abi.Errorf(abi.CodeInternal, "x"), abi.CodeCancelled},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		if got := abi.CodeOfEnd(ctx); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestErrorCrossesTheBorder(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(abi.Errorf(abi.CodeIO, "secret path: %w", errors.New("x")))
	if want := `{"code":"io","message":"secret path: x"}`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

// TestCodesAreAllListed reads the constants out of the source.
func TestCodesAreAllListed(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[abi.Code]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared[abi.Code(text)] = true
		return true
	})
	for _, c := range abi.Codes() {
		if !declared[c.Code] {
			t.Errorf("%q is listed twice or is no constant", c.Code)
		}
		delete(declared, c.Code)
		if c.Meaning == "" || c.Blame == "" || c.Code.Blame() != c.Blame || !c.Code.Known() {
			t.Errorf("%+v", c)
		}
	}
	for c := range declared {
		t.Errorf("%q is not in the table of Codes", c)
	}
	if c := abi.Code("of_tomorrow"); c.Known() || c.Blame() != abi.BlameHost {
		t.Error("an unknown code must count as internal")
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		bytes int64
		text  string
	}{
		"0": {0, "0B"}, "1": {1, "1B"}, "512B": {512, "512B"}, "1KiB": {1024, "1KiB"}, " 64 MiB ": {64 << 20, "64MiB"},
		"1GiB": {1 << 30, "1GiB"}, "1025": {1025, "1025B"}, "1536KiB": {1536 << 10, "1536KiB"}, "4294967296GiB": {1 << 62, "4294967296GiB"},
	} {
		var s abi.Size
		if err := s.UnmarshalText([]byte(in)); err != nil || int64(s) != want.bytes || s.String() != want.text {
			t.Errorf("%q: %d, %s, %v; want %d, %s", in, s, s, err, want.bytes, want.text)
		}
	}
	for _, in := range []string{"", "x", "-1", "1.5GiB", "1GB", "1 k", "4294967297GiB", "99999999999999999999", "GiB", "0x10", "1e3", "+1", "1_000"} {
		var s abi.Size
		if err := s.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is read as %d", in, s)
		} else if err.Error() == "" {
			t.Error("an error without a text")
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"500ms": "500ms", " 30s ": "30s", "2m": "2m0s", "1h30m": "1h30m0s", "0": "0s"} {
		var d abi.Duration
		if err := d.UnmarshalText([]byte(in)); err != nil || d.String() != want {
			t.Errorf("%q: %s, %v; want %s", in, d, err, want)
		}
	}
	for _, in := range []string{"", "30", "-1s", "1d", "s", "300000000h"} {
		var d abi.Duration
		if err := d.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is read as %s", in, d)
		}
	}
}
