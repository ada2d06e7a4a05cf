package warm_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/warm"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// commands are the lines of testdata/commands.txt, with \n for a new line, that were
// judged to only read.
func commands(tb testing.TB, dir string) []string {
	tb.Helper()
	text, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		command := strings.TrimSuffix(line, "\n")
		if !strings.Contains(command, `'`) { // where it is text
			command = strings.ReplaceAll(command, `\n`, "\n")
		}
		if shell.Analyse(command, shell.Place{Cwd: dir, Home: "/nonexistent"}).ReadOnly {
			out = append(out, command)
		}
	}
	return out
}

// TestSameAsOneShot holds what a warm shell makes of commands that only read against
// a bash and a sandbox of its own for each.
func TestSameAsOneShot(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	tried, refused := 0, 0
	for i, command := range commands(t, dir) {
		if !testenv.Thorough() && i%10 != 0 {
			continue
		}
		if !warm.Fit(command) {
			refused++
			continue
		}
		tried++
		got, _, err := warmly(t, pool, dir, command)
		if want := oneShot(t, dir, command); err != nil || got != want {
			t.Errorf("%s\n got %v, %v\nwant %v", command, got, err, want)
		}
	}
	enough := testenv.Sample(150)
	t.Logf("%d commands tried, %d more go the long way", tried, refused)
	if tried < enough {
		t.Errorf("only %d commands tried", tried)
	}
}

// TestDiesOfASignal: bash's words on it depend on how it was started, so that the
// long way tells.
func TestDiesOfASignal(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	for _, command := range []string{"sh -c 'kill -9 $$'", "sh -c 'kill -SEGV $$'; true; exit 139", "kill -9 $BASHPID"} {
		if _, _, err := warmly(t, pool, dir, command); !errors.Is(err, warm.ErrAgain) {
			t.Errorf("%s: %v", command, err)
		}
	}
}
