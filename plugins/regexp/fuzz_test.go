package regexp_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
)

// FuzzFind: whatever a pattern and a text are, the answer is lines of the text, or an
// error that says whose fault it is; and it comes soon.
func FuzzFind(f *testing.F) {
	for _, with := range []string{`a+b`, `(?i)\w{30}\b`, `^$`, `[^a]\pL`, `(?-u:\xff)`, `\Ab\z`, `((a*)*)*`, `(`} {
		f.Add(with, "ab\nÉé \xff\n\nbbb", false, false)
		f.Add(with, "\na b\r\n", true, true)
	}
	// The first pattern loads the guest, for longer than an input may take.
	if _, err := find(f.Context(), "", "", pattern.Options{}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, with, text string, fold, multiline bool) {
		if len(with) > 4096 {
			return // no host passes that on
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		found, err := find(ctx, text, with, pattern.Options{IgnoreCase: fold, Multiline: multiline})
		if code := abi.CodeOf(err); err != nil && code != abi.CodeInvalidInput {
			t.Fatalf("%q in %d bytes: after %v: %v", with, len(text), time.Since(start), err)
		}
		for _, line := range found {
			if !multiline && line == "" {
				t.Errorf("%q finds a line that is none", with)
			}
		}
	})
}
