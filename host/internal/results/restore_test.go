package results_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// Records that make no sense, behind a checksum that is right, take nothing down and
// have nothing written outside of the session's directory.
func TestSenselessRecords(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{
		"fewer notes than none": {"notes": -3},
		"more notes than there": {"notes": 1 << 40},
		"a negative size":       {"stored": map[string]any{"path": "x.txt", "chars": -1, "bytes": -1}},
		"a file above":          {"stored": map[string]any{"path": "../../above.txt"}},
		"no file's name":        {"stored": map[string]any{"path": ".."}},
		"the root":              {"stored": map[string]any{"path": "/"}},
		"no text":               {"text": nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(sessions(t), "all")
			long := lines(name, 60_000)
			call := results.Call{Tool: "T"}
			k := keep(t, dir, results.Options{})
			r := text("1", long)
			k.Fit(call, &r)
			k.close()
			rewrite(t, dir, change)

			k = keep(t, dir, results.Options{})
			defer k.close()
			r = text("1", long)
			r.Content = append(r.Content, abi.TextBlock("a note"))
			f := k.Fit(call, &r)
			k.Turn([]abi.ToolResult{r}, []*results.Fitted{f})
			r = text("1", long)
			f = k.Fit(call, &r)
			if k.Turn([]abi.ToolResult{r}, []*results.Fitted{f}); len(r.Content) == 0 {
				t.Error("the result has nothing left")
			}
			above, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*"))
			if err != nil || fmt.Sprint(above) != fmt.Sprint([]string{dir}) {
				t.Errorf("beside the sessions there are %v, %v", above, err)
			}
		})
	}
}

// rewrite repeats the one record of a replacement with other fields, in the session
// of [keep].
func rewrite(t *testing.T, dir string, change map[string]any) {
	t.Helper()
	f, err := sessiondir.Open(dir, "s", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records := f.Recall("replaced")
	if len(records) != 1 {
		t.Fatalf("there are %d records", len(records))
	}
	record := make(map[string]any)
	if err := json.Unmarshal(records[0], &record); err != nil || !strings.Contains(record["text"].(string), "persisted") {
		t.Fatalf("%s, %v", records[0], err)
	}
	maps.Copy(record, change)
	if err := f.Append(sessiondir.Record{Kind: "replaced", Data: record}); err != nil {
		t.Fatal(err)
	}
}
