package search

import (
	"context"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/regexp"
)

// engine is the real one, compiled once for all tests.
var engine *regexp.Engine

func TestMain(m *testing.M) {
	engine = regexp.New(regexp.Options{CacheDir: testenv.CompileCache()})
	m.Run()
	_ = engine.Close(context.Background())
}
