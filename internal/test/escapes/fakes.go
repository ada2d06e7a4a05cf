//go:build linux

package escapes

import (
	"embed"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

//go:embed fakes
var fakes embed.FS

// Fakes are the names of programs that take bubblewrap's place and do not do its work.
func Fakes(tb testing.TB) []string {
	tb.Helper()
	entries, err := fs.ReadDir(fakes, "fakes")
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// FakesHang is how long a test waits for a fake: some neither work nor end. Where CI is set
// it is long enough for a busy machine to refuse the others first.
func FakesHang() time.Duration {
	if testenv.InCI() {
		return 3 * time.Second
	}
	return time.Second
}

// Fake writes a fake to a directory and returns its path. It tells a version. A sly one
// does bubblewrap's work when it is only tried. Other is a file with what bubblewrap said
// of another sandbox.
func Fake(tb testing.TB, dir, name string, sly bool, other string) string {
	tb.Helper()
	body, err := fakes.ReadFile("fakes/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	const tried = `for last; do :; done
[ "$last" = true ] && exec @REAL@ "$@"
`
	head := "#!/bin/bash\n[ \"$1\" = --version ] && { echo bubblewrap 0.8.0; exit; }\n"
	if sly {
		head = "#!/bin/bash\n[ \"$1\" = --version ] && exec @REAL@ --version\n" + tried
	}
	text := strings.NewReplacer("@REAL@", testenv.NeedTool(tb, "bwrap"), "@OTHER@", other).Replace(head + string(body))
	path := filepath.Join(dir, "fake-"+name)
	testenv.WriteProgram(tb, path, []byte(text))
	return path
}
