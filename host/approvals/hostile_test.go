package approvals_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
)

// TestHostileFiles puts things where questions and answers are looked for. None
// answers anything.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	good := func(t *testing.T) (s *approvals.Store, q, a string) {
		t.Helper()
		s, dir := store(t, approvals.Options{})
		says(t, durable(s), question("Q1"), host.AnswerLater)
		found, err := filepath.Glob(filepath.Join(dir, "*.question"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return s, found[0], strings.TrimSuffix(found[0], "question") + "answer"
	}
	yes := []byte(`{"answer":"allow","at":"2026-01-01T00:00:00Z"}`)
	for name, do := range map[string]func(question, answer string) error{
		"nonsense":         func(_, a string) error { return os.WriteFile(a, []byte("allow"), 0o600) },
		"empty":            func(_, a string) error { return os.WriteFile(a, nil, 0o600) },
		"an unknown word":  func(_, a string) error { return os.WriteFile(a, []byte(`{"answer":"yes"}`), 0o600) },
		"said twice":       func(_, a string) error { return os.WriteFile(a, []byte(`{"answer":"deny","answer":"allow"}`), 0o600) },
		"a huge one":       func(_, a string) error { return errors.Join(os.WriteFile(a, yes, 0o600), os.Truncate(a, 1<<30)) },
		"a directory":      func(_, a string) error { return os.Mkdir(a, 0o700) },
		"a cut question":   func(q, a string) error { return errors.Join(os.WriteFile(a, yes, 0o600), os.Truncate(q, 100)) },
		"another question": func(q, a string) error { return errors.Join(os.WriteFile(a, yes, 0o600), edit(q, `"s"`, `"t"`)) },
		"another binding":  func(q, a string) error { return errors.Join(os.WriteFile(a, yes, 0o600), edit(q, `ab12`, `ab13`)) },
		"another id":       func(q, a string) error { return errors.Join(os.WriteFile(a, yes, 0o600), edit(q, `"Q1"`, `"Q2"`)) },
		"another version": func(q, a string) error {
			return errors.Join(os.WriteFile(a, yes, 0o600), edit(q, `"version":1`, `"version":3`))
		},
		"for ever": func(q, a string) error {
			return errors.Join(os.WriteFile(a, yes, 0o600), edit(q, `"expires":"`, `"expires":"9999-01-01T00:00:00Z","x":"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, q, a := good(t)
			if err := do(q, a); err != nil {
				t.Fatal(err)
			}
			if items, err := s.List(); err == nil || len(items) != 0 {
				t.Errorf("%+v, %v", items, err)
			}
			says(t, durable(s), question("Q9"), host.AnswerLater)
		})
	}
	t.Run("strange names", func(t *testing.T) {
		t.Parallel()
		s, q, _ := good(t)
		for _, name := range []string{"x", "a.b.question", "0011223344556677.Q-1.question", "zz11223344556677.Q1.question", "..question", "0011223344556677.Q1.question.bak"} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(q), name), yes, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if items, err := s.List(); err != nil || len(items) != 1 {
			t.Errorf("%+v, %v", items, err)
		}
	})
}

func edit(path, old, with string) error {
	content, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(content, []byte(old)) {
		err = fmt.Errorf("%s holds no %s", path, old)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.ReplaceAll(content, []byte(old), []byte(with)), 0o600)
}

// FuzzStore reads questions and answers of any content.
func FuzzStore(f *testing.F) {
	s, dir := store(f, approvals.Options{})
	says(f, durable(s), question("Q1"), host.AnswerLater)
	found, err := filepath.Glob(filepath.Join(dir, "*.question"))
	if err != nil || len(found) != 1 {
		f.Fatal(found, err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content, []byte(`{"answer":"allow","at":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{}`), []byte(`{"answer":"replaced"}`))
	f.Fuzz(func(t *testing.T, q, a []byte) {
		s, dir := store(t, approvals.Options{})
		path := filepath.Join(dir, filepath.Base(found[0]))
		err := errors.Join(os.WriteFile(path, q, 0o600), os.WriteFile(strings.TrimSuffix(path, "question")+"answer", a, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		items, err := s.List()
		if len(items) == 0 && err == nil {
			t.Error("a question vanished")
		}
		for _, item := range items {
			if item.ID != "Q1" || item.Session != "s" || item.Binding != "ab12" {
				t.Errorf("%+v", item)
			}
		}
		allowed := 0
		for i := range 3 { // whatever it says, it says it once
			reply, err := durable(s).Ask(t.Context(), asked(question(fmt.Sprintf("R%d", i))))
			if err != nil {
				t.Fatal(err)
			}
			if reply.Answer == host.AnswerAllow {
				allowed++
			}
		}
		if allowed > 1 {
			t.Errorf("it was allowed %d times", allowed)
		}
	})
}
