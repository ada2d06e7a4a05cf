package runnertest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func testAnswers(t *testing.T, s *Suite) {
	t.Helper()
	for name, test := range map[string]struct {
		guest  string
		answer abi.Answer
		body   string
	}{
		"handed on":               {"pass_through", answer(digits(50_000), 50_000), digits(50_000)},
		"handed on, size unknown": {"pass_through", answer(digits(500_000), -1), digits(500_000)},
		"handed on, empty":        {"pass_through", answer("", 0), ""},
		"handed on, no body":      {"pass_through", abi.Answer{OK: struct{}{}}, ""},
		"read":                    {"read_answer", answer(digits(100), 100), digits(100)}, // short: its header must be UTF-8 too
	} {
		t.Run(name, func(t *testing.T) {
			g := s.load(t, test.guest, patient)
			var asked []abi.Request
			result, err := g.Call(t.Context(), g.asking(func(_ context.Context, r abi.Request) (abi.Answer, error) {
				asked = append(asked, r)
				return test.answer, nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			got := result.Text()
			if test.guest == "read_answer" {
				got = bodyOf(t, got)
			}
			if got != test.body {
				t.Errorf("got %.60q", got)
			}
			if len(asked) != 1 || asked[0].Name != "test.echo" || string(asked[0].Args) != `{"n":1}` {
				t.Errorf("the gate was asked for %v", asked)
			}
		})
	}
}

func digits(n int) string { return strings.Repeat("0123456789", n/10) }

// bodyOf takes the message of an answer apart.
func bodyOf(t *testing.T, message string) string {
	t.Helper()
	head, parts, err := abi.DecodeAnswer([]byte(message))
	if err != nil || string(head.OK) != `{"n":1}` || len(parts) != 1 {
		t.Fatalf("the guest read %s, %q, %v", head.OK, parts, err)
	}
	return string(parts[0].Data)
}

func testRefused(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", patient)
	_, err := g.Call(t.Context(), g.asking(func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{}, abi.Errorf(abi.CodeDenied, "the rule Read(./x) says no")
	}))
	WantCode(t, err, abi.CodeDenied, "Read(./x)")
}

func testOversized(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", patient)
	_, err := g.Call(t.Context(), g.asking(Echoing(strings.Repeat("x", int(Limits.Output)+1))))
	WantCode(t, err, abi.CodeLimit, "limit output")
}

// testErrorWithLastBytes: half an answer must not pass for a whole one.
func testErrorWithLastBytes(t *testing.T, s *Suite) {
	t.Helper()
	failure := abi.Errorf(abi.CodeIO, "the disk is gone")
	WantCode(t, s.halfAnswer(t, "read_answer", failure), abi.CodeTrap, "unreachable")
	WantCode(t, s.halfAnswer(t, "pass_through", failure), abi.CodeIO, "the disk is gone")
}

func testUncodedError(t *testing.T, s *Suite) {
	t.Helper()
	failure := errors.New("the disk is gone")
	WantCode(t, s.halfAnswer(t, "read_answer", failure), abi.CodeTrap, "unreachable")
	WantCode(t, s.halfAnswer(t, "pass_through", failure), abi.CodeInternal, "the disk is gone")
}

// halfAnswer gives a guest an answer that fails on the way.
func (s *Suite) halfAnswer(t *testing.T, name string, failure error) error {
	t.Helper()
	g := s.load(t, name, patient)
	_, err := g.Call(t.Context(), g.asking(Answering(abi.Answer{OK: struct{}{}, Body: &onceBody{fails: failure}, Size: -1})))
	return err
}
