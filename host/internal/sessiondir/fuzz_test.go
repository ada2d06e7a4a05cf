package sessiondir

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"
	"time"
)

// FuzzJournal reads and continues journals of any content. What is believed is what
// was written for that session, in the order in which it was.
func FuzzJournal(f *testing.F) {
	var good []byte
	last := firstSum("s")
	for _, data := range []string{"1", "two", "\u2028"} {
		var err error
		if good, err = last.appendLine(good, Record{Kind: "a", Data: data}, time.Unix(0, 0)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(good)
	f.Add(good[:len(good)-7])
	f.Add(append(bytes.Clone(good), good...))
	f.Add(bytes.Replace(good, []byte("two"), []byte("2"), 1))
	f.Add([]byte("\n\n\x00"))
	f.Add([]byte(`,"sum":"00000000000000000000000000000000"}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, size, last, err := readJournal(bytes.NewReader(content), "s")
		if err != nil {
			t.Fatal(err)
		}
		if common := commonLines(content, good); size != int64(common) {
			t.Fatalf("%d bytes are believed, %d were written", size, common)
		}
		text, err := last.appendLine(bytes.Clone(content[:size]), Record{Kind: "fuzz", Data: "next"}, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		found["fuzz"] = append(found["fuzz"], json.RawMessage(`"next"`))
		after, size, _, err := readJournal(bytes.NewReader(text), "s")
		if err != nil || size != int64(len(text)) || !maps.EqualFunc(found, after, equal) {
			t.Fatalf("continued, it holds %q, not %q; %v", after, found, err)
		}
	})
}

func equal(a, b []json.RawMessage) bool { return bytes.Equal(join(a), join(b)) }

func join(list []json.RawMessage) []byte {
	b, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return b
}

// commonLines is how many bytes of whole lines two texts begin with alike.
func commonLines(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}
