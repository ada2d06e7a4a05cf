package ignore

import (
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestBounds: no file of patterns, however written, takes long to read or to match.
func TestBounds(t *testing.T) {
	t.Parallel()
	path := strings.Repeat("aaaaaaaaaaaaaaaaaaaa/", 200) + "b"
	for name, file := range map[string]string{
		"deep":       strings.Repeat("**/", 2000) + "x\n",
		"deep twice": strings.Repeat("**/a*/", 1300) + "x\n",
		"stars":      strings.Repeat("a*", 4000) + "x\n",
		"classes":    strings.Repeat("[a-z]", 1600) + "\n",
		"brackets":   strings.Repeat("[", 8000) + "\n",
		"long":       strings.Repeat("a", 1<<20) + "\n",
		"many":       strings.Repeat("*a*b*\n", 20_000),
		"backslash":  strings.Repeat(`\`, 8001) + "\n",
	} {
		work := testenv.Work(func() { Parse([]byte(file)).Match(path, false) })
		if work > 2*time.Second {
			t.Errorf("%s: %v", name, work)
		}
	}
}
