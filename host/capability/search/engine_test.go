package search

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/toolquay/toolquay/plugins/regexp"
)

// engine is the real one, compiled once for all tests.
var engine *regexp.Engine

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "regexp-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	engine = regexp.New(regexp.Options{CacheDir: dir})
	code := m.Run()
	_ = engine.Close(context.Background())
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
