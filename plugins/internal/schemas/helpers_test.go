package schemas_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// wantProblem checks that an error says what it should and has the code.
func wantProblem(tb testing.TB, err error, code abi.Code, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("there is no error; want one of code %s that says %q", code, parts)
	}
	if got := abi.CodeOf(err); code != "" && got != code {
		tb.Errorf("the code of %q is %s, want %s", err, got, code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			tb.Errorf("the error %q does not say %q", err, part)
		}
	}
}
