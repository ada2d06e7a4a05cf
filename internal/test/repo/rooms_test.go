package repo

import "strings"

// module is the import path of the root module.
const module = "github.com/toolquay/toolquay"

// Libraries that rooms may use, by the prefix of their import paths.
const (
	cobra      = "github.com/spf13/cobra"
	doublestar = "github.com/bmatcuk/doublestar/v4"
	extism     = "github.com/extism/go-sdk"
	extismPDK  = "github.com/extism/go-pdk"
	fsnotify   = "github.com/fsnotify/fsnotify"
	gojq       = "github.com/itchyny/gojq"
	jsonschema = "github.com/santhosh-tekuri/jsonschema/v5"
	otel       = "go.opentelemetry.io/otel"
	otlp       = "go.opentelemetry.io/proto/otlp"
	protobuf   = "google.golang.org/protobuf"
	pty        = "github.com/creack/pty"
	runewidth  = "github.com/mattn/go-runewidth"
	shell      = "mvdan.cc/sh/v3"
	testscript = "github.com/rogpeppe/go-internal"
	toml       = "github.com/BurntSushi/toml"
	wazero     = "github.com/tetratelabs/wazero"
	udiff      = "github.com/aymanbagabas/go-udiff"
	xsys       = "golang.org/x/sys"
	xterm      = "golang.org/x/term"
	xtext      = "golang.org/x/text"
	zstd       = "github.com/klauspost/compress"
)

// room is one row of the import table. It covers its folder and everything
// below that no longer row covers. The standard library and the room's own
// packages are allowed to every room.
type room struct {
	// dir is the folder, from the root.
	dir string
	// may lists what else its code may import: folders of this repository,
	// prefixed with "./", or libraries; see covers for what each stands for.
	may []string
	// never lists exceptions to may and to the room's own packages.
	never []string
	// tests lists what its test files may import besides: see testsMay for what
	// all others may.
	tests []string
	// separate rooms are modules of their own: they have no use for internal
	// packages, and their tests no looser rule.
	separate bool
}

// testsMay is the looser rule for test files: whatever their room imports,
// and on top of it the shared test helpers and testscript. What a room may
// never import its tests may not import either, but for their own list.
var testsMay = []string{"./internal", testscript}

// testOnly are packages that only tests, and each other, may import.
var testOnly = []string{
	"./internal/testenv", "./internal/test",
	"./plugins/internal/runnertest", "./host/sandbox/escapes",
}

// everything is what the rooms at the top may import.
var everything = []string{"./", cobra, doublestar, extism, jsonschema, runewidth, shell, toml, wazero, xsys, xterm}

// rooms is the import table. Dependencies point down this list only; a library
// or an arrow that is not here is added on purpose or not at all.
var rooms = []room{
	// The contract: plain data.
	{dir: "abi"},
	// Judges and orders; knows neither tools nor plugins.
	{dir: "permissions", may: []string{"./abi", "./internal"}},
	// What commands do. The judgement takes it as facts and does not know it.
	{dir: "permissions/shell", may: []string{"./abi", "./permissions:", "./internal", shell, gojq}},
	// Settings files, as they are found, read, watched and written.
	{dir: "permissions/settings", may: []string{"./abi", "./permissions:", "./internal", toml, xsys}},
	// What PowerShell commands do.
	{dir: "permissions/powershell", may: []string{"./abi", "./permissions:", "./permissions/shell", "./internal"}},
	{dir: "permissions/audit", may: []string{"./abi", "./permissions:", "./internal", xsys}},
	{dir: "permissions/grants", may: []string{"./abi", "./permissions:", "./internal"}},
	{dir: "permissions/lines", may: []string{"./abi", "./permissions"}},
	{dir: "scheduler"},
	// The only place that knows wazero. Its own tests may run the built-ins.
	{
		dir: "plugins", may: []string{"./abi", "./internal", jsonschema, toml, wazero, xsys},
		never: []string{"./plugins/extism"}, tests: []string{"./builtin"},
	},
	// What every runner must do, as tests.
	{dir: "plugins/internal/runnertest", may: []string{"./abi", "./plugins"}},
	// Reads and writes modules; knows no engine. Its tests run what it wrote.
	{dir: "plugins/prepass", tests: []string{"./abi", "./builtin", wazero}},
	// Links modules to the Extism kernel. The SDK is what its tests compare with.
	{dir: "plugins/extism", may: []string{"./abi", "./internal", "./plugins", wazero}, tests: []string{"./plugins/internal/runnertest", extism}},
	// Hostile modules against every runner there is.
	{dir: "plugins/hostile", tests: []string{"./abi", "./internal", "./plugins", "./host", wazero, xsys}},
	// The native side: no capability knows another, none knows the host.
	{
		dir: "host/capability", may: []string{"./abi", "./permissions", "./internal"},
		never: []string{"./host/capability/"},
	},
	{dir: "host/capability/workspace", may: []string{"./abi", "./permissions", "./internal", "./host/capability:", xsys}},
	{dir: "host/capability/fs", may: []string{
		"./abi", "./permissions", "./internal", "./host/capability:", "./host/capability/workspace", xsys, xtext, udiff,
	}},
	// What ToolSearch asks: it touches no file.
	{dir: "host/capability/tools", may: []string{"./abi", "./permissions:", "./host/capability:"}},
	{
		dir: "host/capability/search", may: []string{
			"./abi", "./permissions", "./internal", "./host/capability:", "./host/capability/workspace", xsys,
		},
		tests: []string{"./plugins/regexp"}, // the engine that the host gives it
	},
	// Commands: how they are started, confined and kept ready; what they did.
	{dir: "host/capability/shell", may: []string{
		"./abi", "./permissions:", "./permissions/shell:", "./host/capability:", "./host/process", "./host/sandbox", "./host/sandbox/proxy",
		"./host/warm", "./host/gitevents", "./internal", shell, xsys,
	}, tests: []string{"./host/sandbox/escapes", "./permissions/powershell"}},
	{dir: "host/capability/task", may: []string{"./abi", "./permissions:", "./host/capability:"}, tests: []string{"./host/tasks"}},
	{dir: "host/process", may: []string{"./abi", "./internal/procfs", xsys}},
	{dir: "host/sandbox", may: []string{"./abi", "./host/process", "./internal", xsys}},
	// What commands try to get out of a sandbox by, as tests.
	{dir: "host/sandbox/escapes", may: []string{"./host/sandbox:", "./internal", xsys}},
	{dir: "host/sandbox/proxy", may: []string{"./permissions:", xsys}},
	{dir: "host/warm", may: []string{"./abi", "./host/process", "./host/sandbox:", "./internal", xsys}, tests: []string{"./permissions:", "./permissions/shell"}},
	{dir: "host/gitevents", may: []string{"./host/capability:", "./permissions:", "./internal", shell}, tests: []string{"./permissions/shell"}},
	{dir: "host/tasks", may: []string{"./abi", "./host/capability:", "./host/folder", "./internal"}},
	{dir: "host/capability/*", may: []string{
		"./abi", "./permissions", "./internal", "./host/capability:", "./host/capability/workspace", doublestar, xsys,
	}},
	// The tools in the box: embedded modules and manifests.
	// Its tests look into the modules.
	{dir: "builtin", tests: []string{"./abi", toml, wazero}},
	// The thing to embed. Extism modules are for embedders to opt into.
	{
		dir:   "host",
		may:   []string{"./abi", "./permissions", "./scheduler", "./plugins", "./builtin", "./internal"},
		never: []string{"./plugins/extism", "./host/telemetry", "./host/message", "./host/approvals"}, tests: []string{"./plugins/extism"},
	},
	// Ways to ask a person. The host knows none of them.
	{dir: "host/approvals", may: []string{"./abi", "./permissions:", "./host:", "./host/message:", "./internal"}},
	// Sessions' own folders, and what becomes of long results in them.
	{dir: "host/folder", may: []string{"./internal", xsys}},
	// What the two below have in common: a file that is as it was written down, or not.
	{dir: "host/internal/ondisk", may: []string{"./abi", "./internal", "./host/capability/workspace"}},
	// What files were before they were written, and how they get it back.
	{dir: "host/history", may: []string{
		"./abi", "./host/capability:", "./host/capability/workspace", "./host/internal/ondisk", "./internal", udiff, zstd,
	}},
	// What sessions write before a person applies it.
	{dir: "host/stage", may: []string{
		"./abi", "./host/capability:", "./host/capability/workspace", "./host/history", "./host/internal/ondisk", "./internal",
	}},
	{dir: "host/results", may: []string{"./abi", "./host/folder", "./internal"}},
	{dir: "host/hooks", may: []string{"./abi", "./permissions:", "./internal", xsys}},
	{dir: "host/judge", may: []string{"./abi", "./permissions:", "./internal"}},
	// Model APIs' messages, and the protocol of run --stream over them. The host knows
	// neither.
	{dir: "host/message", may: []string{"./abi", "./host:"}},
	{dir: "host/message/stream", may: []string{"./abi", "./permissions:", "./host:", "./host/capability:", "./host/message:", "./host/results"}},
	// Telemetry knows the host, never the other way. Embedders opt in: what observes
	// knows OpenTelemetry's API alone, what sends its SDK, whose exporters link gRPC.
	{
		dir: "host/telemetry", may: []string{"./abi", "./permissions:", "./host:", otel},
		never: []string{otel + "/sdk", otel + "/exporters"}, tests: []string{"./host/capability:", "./host/results", otel + "/sdk"},
	},
	{
		dir: "host/telemetry/otlp", may: []string{"./host:", "./host/telemetry:", otel},
		tests: []string{"./abi", "./permissions:", otlp, protobuf},
	},
	{dir: "cmd", may: append([]string{otel + "/propagation"}, everything...), tests: []string{otlp, protobuf, pty}},
	// What an embedder writes: the public rooms only.
	{dir: "examples", may: []string{"./abi", "./permissions", "./scheduler", "./plugins", "./host", "./builtin"}},
	// What two rooms share. It lies below all of them.
	{dir: "internal", may: []string{"./abi", "./internal", fsnotify, toml, xsys, xterm}, tests: []string{doublestar}},
	{dir: "internal/filelock", may: []string{xsys}},
	{dir: "internal/filewatch", may: []string{fsnotify}},
	{dir: "internal/test/wasmgen", tests: []string{wazero}},
	{dir: "internal/test/bench", may: everything, never: []string{"./cmd"}},
	{dir: "internal/test/e2e", may: everything, never: []string{"./cmd"}, tests: []string{"./cmd", pty}},
	// What plugin authors import, and what they would write.
	{dir: "sdk/go", separate: true},
	{dir: "plugin-examples", may: []string{"./sdk/go", extismPDK}, separate: true},
}

// roomOf returns the row with the longest folder that covers dir, with a "*" in
// it replaced by the folder's name, or false.
func roomOf(dir string) (room, bool) {
	var best room
	for _, r := range rooms {
		if parent, wild := strings.CutSuffix(r.dir, "/*"); wild {
			rest, below := strings.CutPrefix(dir, parent+"/")
			if !below {
				continue
			}
			name, _, _ := strings.Cut(rest, "/")
			r.dir = parent + "/" + name
		}
		// At equal length the row without a "*" was there first.
		if covers(r.dir, dir) && len(r.dir) > len(best.dir) {
			best = r
		}
	}
	return best, best.dir != ""
}

// covers reports whether name is prefix or lies below it. A prefix that ends in
// ":" covers itself alone, and one that ends in "/" what lies below it.
func covers(prefix, name string) bool {
	if exact, only := strings.CutSuffix(prefix, ":"); only {
		return name == exact
	}
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(prefix, "/"))
}

func anyCovers(prefixes []string, name string) bool {
	for _, p := range prefixes {
		if covers(p, name) {
			return true
		}
	}
	return false
}

// allows reports whether a file of the room may import a package.
func (r room) allows(importPath string, test bool) bool {
	name := importPath
	if rest, ok := strings.CutPrefix(importPath, module); ok {
		name = "." + rest
	}
	first, _, _ := strings.Cut(importPath, "/")
	own := covers("./"+r.dir, name)
	switch {
	case !strings.Contains(first, "."):
		return true // the standard library
	case test && anyCovers(r.tests, name):
		return true
	case anyCovers(r.never, name):
		return false
	case test && !r.separate && anyCovers(testsMay, name):
		return true
	case anyCovers(testOnly, name):
		return own || anyCovers(testOnly, "./"+r.dir)
	}
	return own || anyCovers(r.may, name)
}
