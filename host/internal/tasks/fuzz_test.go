package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReplay reads records of any content: what comes of them is tasks that can be
// listed, each once, with a state that there is.
func FuzzReplay(f *testing.F) {
	f.Add(`{"id":"b12345678","title":"t","output":"tasks/x","time":"2026-01-02T03:04:05Z"}`, `{"id":"b12345678","state":"failed","exit":1}`, `{"id":"b12345678","to":7}`, `{"ids":["b12345678"]}`)
	f.Add(`{"id":"b12345678"}`+"\n"+`{"id":"a12345678","forgot":["b12345678"]}`, `{"id":"a12345678","state":"lost","bytes":-1}`, `{"id":"a12345678","to":-7}`, `{"ids":[""]}`)
	f.Add(`{"id":"../../etc"}`, `{"id":"b12345678","state":"running"}`, `[]`, `null`)
	f.Fuzz(func(t *testing.T, began, ended, shown, told string) {
		records := make(map[string][]json.RawMessage)
		for kind, text := range map[string]string{recordBegan: began, recordEnded: ended, recordShown: shown, recordTold: told} {
			for line := range strings.Lines(text) {
				records[kind] = append(records[kind], json.RawMessage(line))
			}
		}
		b := replay("/sessions/s", records)
		if len(b.order) != len(b.tasks) {
			t.Fatalf("%d tasks in order, %d in all", len(b.order), len(b.tasks))
		}
		over := 0
		for _, k := range b.order {
			i := &k.info
			if b.tasks[i.ID] != k || !isID(i.ID) || i.Kind == "" || i.Bytes < 0 || i.Shown < 0 {
				t.Errorf("the task %+v", i)
			}
			if i.Over() {
				over++
			}
			if text := Notice(*i); !strings.Contains(text, i.ID) || i.Elapsed() < 0 && i.Over() {
				t.Errorf("%s after %v", text, i.Elapsed())
			}
		}
		if over != len(b.ends) {
			t.Errorf("%d have ended, %d are listed so", over, len(b.ends))
		}
	})
}

// FuzzScan reads a text in pieces, while it grows, as it is and through a filter: put
// together they are all of it, and all of its lines that match.
func FuzzScan(f *testing.F) {
	f.Add([]byte("one\ntwo\r\nthree"), uint8(5), uint8(8), "t")
	f.Add([]byte("日é🙂\n\n\xff\xf0\x9f\nx"), uint8(3), uint8(8), ".")
	f.Add(bytes.Repeat([]byte("long"), 50), uint8(1), uint8(9), "$")
	f.Fuzz(func(t *testing.T, content []byte, step, most uint8, pattern string) {
		filter, err := regexp.Compile(pattern)
		if err != nil || most < utf8.UTFMax || step == 0 || len(content) > 512 || len(pattern) > 20 {
			return
		}
		plain := grow(t, content, int64(step), int64(most), func(s *scan) error { return s.take(context.Background()) })
		if !bytes.Equal(plain.text, content) {
			t.Fatalf("%q comes to %q", content, plain.text)
		}
		got := grow(t, content, int64(step), int64(most), func(s *scan) error { return s.filter(context.Background(), filter) })
		if longest(content) >= int(most) {
			return // such lines are judged in pieces
		}
		var want []byte
		var skipped int64
		for line := range bytes.Lines(content) {
			if filter.Match(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))) {
				want = append(want, line...)
			} else {
				skipped++
			}
		}
		if !bytes.Equal(got.text, want) || got.skipped != skipped {
			t.Fatalf("the lines %q come to %q, %d left out; want %q, %d", content, got.text, got.skipped, want, skipped)
		}
	})
}

// grow reads a text that gets longer step by step until it is whole, and puts together
// what was read.
func grow(t *testing.T, content []byte, step, most int64, read func(*scan) error) scan {
	t.Helper()
	all := scan{}
	for size := int64(0); ; size = min(size+step, int64(len(content))) {
		final := size == int64(len(content))
		for more := true; more; {
			s := scan{src: bytes.NewReader(content[:size]), most: most, at: all.at, size: size, final: final}
			if err := read(&s); err != nil {
				t.Fatal(err)
			}
			if int64(len(s.text)) > most || s.at > size {
				t.Fatalf("%d bytes up to %d of %d", len(s.text), s.at, size)
			}
			more = s.at > all.at
			all = scan{at: s.at, text: slices.Concat(all.text, s.text), skipped: all.skipped + s.skipped}
		}
		if final {
			if all.at != size {
				t.Fatalf("it stops at %d of %d", all.at, size)
			}
			return all
		}
	}
}

func longest(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		n = max(n, len(line))
	}
	return n
}
