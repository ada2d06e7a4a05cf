package repo

import (
	"go/parser"
	"strconv"
	"testing"
)

// TestImportTable holds every Go file to the row of the import table that covers it, and
// the table to what is imported.
func TestImportTable(t *testing.T) {
	t.Parallel()
	all := rooms(t)
	for _, file := range goFiles(t, parser.ImportsOnly) {
		r := roomOf(all, file.dir())
		if r == nil {
			t.Errorf("%s lies in no room: add its folder to the table of ARCHITECTURE.md, or move it", file.name)
			continue
		}
		for _, spec := range file.ast.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Errorf("%s: %v", file.name, err)
				continue
			}
			if !r.allows(all, importPath, file.isTest()) {
				t.Errorf("%s imports %s, which the room %s may not: see the table of ARCHITECTURE.md", file.name, importPath, r.dir)
			}
		}
	}
	for _, r := range all {
		for _, item := range r.may {
			if !r.row.may[item] && item != everything {
				t.Errorf("ARCHITECTURE.md: the room %s may import %s, and its code does not", r.dir, item)
			}
		}
		for _, item := range r.tests {
			if !r.row.tests[item] {
				t.Errorf("ARCHITECTURE.md: the tests of the room %s may import %s, and do not", r.dir, item)
			}
		}
	}
}

// TestImportTableItself checks the table against arrows whose direction the
// design settles, so that a slip in the table does not pass for a permission.
func TestImportTableItself(t *testing.T) {
	t.Parallel()
	const (
		extism   = "github.com/extism/go-sdk"
		fsnotify = "github.com/fsnotify/fsnotify"
		otel     = "go.opentelemetry.io/otel"
		shell    = "mvdan.cc/sh/v3"
		wazero   = "github.com/tetratelabs/wazero"
	)
	const (
		contract   = module + "/host/capability"
		capability = module + "/host/internal/capability"
	)
	tests := map[string]struct {
		dir, importPath string
		test            bool
		want            bool
	}{
		"standard library":                 {"abi", "encoding/json", false, true},
		"abi knows nothing of ours":        {"abi", module + "/internal/x", false, false},
		"a tagged sub-package of a room":   {"internal/shell", module + "/permissions", false, true},
		"prefixes end at a slash":          {"host", module + "/hostile", false, false},
		"permissions parses shell":         {"internal/shell", shell + "/syntax", false, true},
		"permissions knows no plugins":     {"permissions", module + "/plugins", false, false},
		"permissions knows no wazero":      {"permissions", wazero, false, false},
		"scheduler knows no contract":      {"scheduler", module + "/abi", false, false},
		"scheduler tests use helpers":      {"scheduler", module + "/internal/testenv", true, true},
		"scheduler tests know no host":     {"scheduler", module + "/host", true, false},
		"plugins know wazero":              {"plugins/direct", wazero + "/api", false, true},
		"plugins know no permissions":      {"plugins", module + "/permissions", false, false},
		"extism only in its package":       {"plugins", extism, false, false},
		"extism only in tests of its room": {"plugins/extism", extism, false, false},
		"which compare with it":            {"plugins/extism", extism, true, true},
		"the pre-pass knows no engine":     {"plugins/prepass", wazero, false, false},
		"extism is opt-in for plugins":     {"plugins", module + "/plugins/extism", false, false},
		"extism is opt-in for the host":    {"host", module + "/plugins/extism", false, false},
		"the command opts in":              {"cmd/host", module + "/plugins/extism", false, true},
		"the command uses the host":        {"cmd/host", module + "/host", false, true},
		"but not its shell analysis":       {"cmd/host", module + "/internal/shell", false, false},
		"nor that of PowerShell":           {"cmd/host/internal/lines", module + "/internal/powershell", false, false},
		"the host knows no wazero":         {"host", wazero, false, false},
		"nor its tests":                    {"host", wazero, true, false},
		"the host knows its capabilities":  {"host", capability + "/fs", false, true},
		"the host never calls up":          {"host", module + "/cmd/host", false, false},
		"it knows no environment":          {"host", module + "/host/config", true, false},
		"which knows the host":             {"host/config", module + "/host", false, true},
		"capabilities share the contract":  {"host/internal/capability/fs", contract, false, true},
		"and the workspace":                {"host/internal/capability/fs", capability + "/workspace", false, true},
		"capabilities know no other":       {"host/internal/capability/search", capability + "/fs", false, false},
		"nor do their tests":               {"host/internal/capability/search", capability + "/fs", true, false},
		"capabilities know no host":        {"host/internal/capability/fs", module + "/host", false, false},
		"capabilities have sub-packages":   {"host/internal/capability/search/x", capability + "/search", false, true},
		"the contract knows no capability": {"host/capability", capability + "/fs", false, false},
		"folders know no contract":         {"host/internal/sessiondir", module + "/abi", false, false},
		"results know folders":             {"host/internal/results", module + "/host/internal/sessiondir", false, true},
		"results know no host":             {"host/internal/results", module + "/host", false, false},
		"the host knows results":           {"host", module + "/host/internal/results", false, true},
		"the host knows no telemetry":      {"host", module + "/host/telemetry", false, false},
		"nor messages":                     {"host", module + "/host/message/stream", true, false},
		"the stream knows messages":        {"host/message/stream", module + "/host/message", false, true},
		"telemetry knows the API":          {"host/telemetry", otel + "/trace", false, true},
		"and not the SDK":                  {"host/telemetry", otel + "/sdk/trace", false, false},
		"which its tests do":               {"host/telemetry", otel + "/sdk/trace", true, true},
		"telemetry knows no exporter":      {"host/telemetry/otlp", otel + "/exporters/otlp/otlptrace", false, false},
		"but the SDK where it sends":       {"host/telemetry/otlp", otel + "/sdk/trace", false, true},
		"that knows no plugins":            {"host/telemetry/otlp", module + "/plugins", false, false},
		"tools are asked for, no path":     {"host/internal/capability/tools", capability + "/workspace", false, false},
		"a lock needs no watcher":          {"internal/filelock", fsnotify, false, false},
		"a watcher does":                   {"internal/filewatch", fsnotify, false, true},
		"internal lies below the rooms":    {"internal/x", module + "/host", false, false},
		"benchmarks are above them":        {"host/internal/test/bench", module + "/host", false, true},
		"and nothing is above those":       {"host", module + "/host/internal/test/bench", false, false},
		"test helpers stay in tests":       {"plugins", module + "/internal/testenv", false, false},
		"but for packages of tests":        {"plugins/internal/runnertest", module + "/internal/testenv", false, true},
		"which only tests use":             {"plugins/extism", module + "/plugins/internal/runnertest", false, false},
		"as those of runners do":           {"plugins/extism", module + "/plugins/internal/runnertest", true, true},
		"old packages of the library":      {"host", "math/rand", false, false},
		"embedders use public rooms":       {"examples/embed", module + "/internal/x", false, false},
		"the SDK has no dependencies":      {"sdk/go", module + "/abi", true, false},
		"but packages of its own":          {"sdk/go", module + "/sdk/go/wire", false, true},
		"examples know the SDK":            {"plugin-examples/x", module + "/sdk/go", false, true},
		"examples know no host":            {"plugin-examples/x", module + "/abi", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := rooms(t)
			r := roomOf(all, tt.dir)
			if r == nil {
				t.Fatalf("%s lies in no room", tt.dir)
			}
			if got := r.allows(all, tt.importPath, tt.test); got != tt.want {
				t.Errorf("%s (room %s) importing %s, test file %t: allowed %t, want %t",
					tt.dir, r.dir, tt.importPath, tt.test, got, tt.want)
			}
		})
	}
}
