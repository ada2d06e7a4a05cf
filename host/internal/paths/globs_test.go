package paths

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestMatchesName has no name overlooked that bash takes a pattern to match, whether it counts
// characters or bytes.
func TestMatchesName(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // names may be any bytes there
	testenv.NeedTool(t, "bash")
	r, dir := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	of := func(n int, parts ...string) string {
		var text strings.Builder
		for range 1 + r.IntN(n) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		return text.String()
	}
	for range 400 {
		if name := of(3, "a", "b", "B", ".", "!", "^", "]", "[", "-", "é", `\`, "*", "\xff"); name != "." && name != ".." {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	patterns := make([]string, 2000)
	var lines strings.Builder
	for i := range patterns {
		patterns[i] = of(4, "a", "B", ".", "!", "^", "]", "[", "-", "é", "*", "?", "[a-b]", "[!a]", "[^a]", "[]", `\.`, `\[`, `\*`, `\\`, `[\]]`, "[[:alpha:]]", "[a-", "[b-a]")
		fmt.Fprintf(&lines, "printf '/\\0'; for f in %s; do [[ -e $f ]] && printf '%%s\\0' \"$f\"; done\n", patterns[i])
	}
	for _, locale := range []string{"C", "C.UTF-8"} {
		cmd := exec.CommandContext(t.Context(), "bash")
		cmd.Stdin = strings.NewReader("shopt -s nullglob\n" + lines.String() + ":")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL="+locale)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		matches := strings.Split(string(out), "/\x00")[1:]
		for i, pattern := range patterns {
			if !strings.ContainsAny(pattern, "*?[") {
				continue
			}
			for name := range strings.SplitSeq(matches[i], "\x00") {
				if name != "" && !MatchesName(pattern, name) {
					t.Errorf("%s: %q matches %q", locale, pattern, name)
				}
			}
		}
	}
	for pattern, name := range map[string]string{"*.go": "a.txt", "*": ".env", "[!s]*": "s", "[.]env": ".env", `\[!*`: "[^"} {
		if MatchesName(pattern, name) {
			t.Errorf("%q does not match %q", pattern, name)
		}
	}
}
