package lines_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/cmd/host/internal/lines"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var here = host.CommandPlace{Cwd: "/here", Home: "/home/me"}

// golden compares with a file beside the questions.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func questions(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestTest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	failed, err := lines.Test(questions(t, "test.jsonl"), &out, here, lines.NewToolset(nil))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "test.golden", out.Bytes())
	// One line expects what it does not get, and ten cannot be answered.
	if want := 1 + strings.Count(out.String(), `{"error":`); failed != want {
		t.Errorf("%d lines failed, want %d", failed, want)
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := lines.Classify(questions(t, "classify.jsonl"), &out, here); err != nil {
		t.Fatal(err)
	}
	golden(t, "classify.golden", out.Bytes())
}

// TestLineByLine holds that who asks line by line gets each answer before the
// next question.
func TestLineByLine(t *testing.T) {
	t.Parallel()
	questions, ask := io.Pipe()
	answers, answer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- lines.Classify(questions, answer, here)
		_ = answer.Close()
	}()
	decoder := json.NewDecoder(answers)
	for range 3 {
		if _, err := io.WriteString(ask, `{"command":"ls"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		var e lines.Effects
		if err := decoder.Decode(&e); err != nil || !e.ReadOnly {
			t.Fatalf("got %+v and %v", e, err)
		}
	}
	_ = ask.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestLongLine holds that a line over the limit costs its own answer only.
func TestLongLine(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("x", lines.MaxLine+1) + "\n" + `{"command":"ls"}`
	var out bytes.Buffer
	if err := lines.Classify(strings.NewReader(in), &out, here); err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(out.String(), "\n")
	if !strings.Contains(first, "line 1: it is longer than") || !strings.Contains(second, `"read_only":true`) {
		t.Errorf("got\n%.300s\n%.300s", first, second)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestOutputFails(t *testing.T) {
	t.Parallel()
	if _, err := lines.Test(strings.NewReader(`{"tool":"T"}`), full{}, here, lines.NewToolset(nil)); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
}

// TestManyLines holds 10,000 lines, or some of them, to a time, many times over what they take.
func TestManyLines(t *testing.T) {
	t.Parallel()
	src, err := io.ReadAll(questions(t, "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	in := bytes.Repeat(src, 1+testenv.Sample(10_000)/bytes.Count(src, []byte("\n")))
	testenv.InTime(t, 5*time.Second, func() time.Duration {
		return testenv.Work(func() {
			if _, err := lines.Test(bytes.NewReader(in), io.Discard, here, lines.NewToolset(nil)); err != nil {
				t.Error(err)
			}
		})
	})
}
