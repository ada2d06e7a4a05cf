package results_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

func document(media, data string) abi.Block {
	return abi.Block{Type: abi.BlockDocument, MediaType: media, Data: []byte(data)}
}

// A text is held to its limits as a document, too.
func TestTextDocuments(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]func(long string) []abi.Block{
		"alone":        func(long string) []abi.Block { return []abi.Block{document("text/plain", long)} },
		"another kind": func(long string) []abi.Block { return []abi.Block{document("text/html", long)} },
		"behind a text": func(long string) []abi.Block {
			return []abi.Block{abi.TextBlock("short\n"), document("text/plain", long)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := lines(name, 60_000)
			k := keep(t, sessions(t), results.Options{})
			r := abi.ToolResult{ToolUseID: "1", Content: content(long)}
			f := k.Fit(results.Call{Tool: "T"}, &r)
			if f == nil || f.Stored == nil || chars(r) > 3_000 || len(r.Content) != 1 {
				t.Fatalf("%d characters are left in %d blocks", chars(r), len(r.Content))
			}
			if kept := slurp(t, f.Stored.Path); !strings.HasSuffix(kept, long) {
				t.Errorf("%d of %d bytes were kept", len(kept), len(long))
			}
			r = abi.ToolResult{ToolUseID: "1", Content: content(long)}
			without(results.Options{}).Fit(results.Call{Tool: "T"}, &r)
			if n := chars(r); n > results.DefaultMaxChars || !strings.Contains(r.Text(), "the result was cut") {
				t.Errorf("without a directory %d characters are left", n)
			}
		})
	}
}

// Documents within their limit stay documents, and those of a turn are held to its
// budget together.
func TestTextDocumentsOfATurn(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{})
	rs := make([]abi.ToolResult, 6)
	for i := range rs {
		id := string(rune('1' + i))
		rs[i] = abi.ToolResult{ToolUseID: id, Content: []abi.Block{document("text/plain", lines(id, 40_000))}}
	}
	turn(k.Store, results.Call{Tool: "T"}, rs)
	whole := 0
	for _, r := range rs {
		if r.Content[0].Type == abi.BlockDocument {
			whole++
		}
	}
	if n := chars(rs...); n > results.DefaultMaxTurnChars || whole != 4 {
		t.Errorf("%d characters are left, %d documents whole", n, whole)
	}
}
