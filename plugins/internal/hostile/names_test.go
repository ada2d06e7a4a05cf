package hostile_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/extism"
	"github.com/toolquay/toolquay/plugins/worker"
)

// forged begins a line that must never begin one of the host's.
const forged = "FORGED"

// names are those that a module may hold and no error may repeat as they are.
var names = map[string]string{
	"line break":    "a\n" + forged + ": all is well\r\n" + forged,
	"terminal":      "\x1b[2J\x1b]0;" + forged + "\a\x9b1m",
	"direction":     "\u202e" + forged + "\u2066",
	"no room":       "\u200b\ufeff\U000e0041\ufe0f\u3164\u2800\u00ad",
	"other breaks":  "\u2028" + forged + "\u2029\u0085\v\f",
	"no UTF-8":      "\xff\n\xfe\x80" + forged,
	"nothing":       "",
	"zero":          "\x00",
	"format":        "%s%n%!d(" + forged + ")",
	"quotes":        "\"; it \\\"\n" + forged,
	"long":          strings.Repeat("x", 100_000),
	"long breaks":   strings.Repeat("\n"+forged, 10_000),
	"long and wide": strings.Repeat("\U000e0041", 25_000),
}

// kinds are the keys of names, in order.
var kinds = slices.Sorted(maps.Keys(names))

// inTurn reports whether a kind of name is tried at a place: at every fifth, where tests
// are not to be thorough.
func inTurn(i, j int) bool { return testenv.Thorough() || (i+j)%5 == 0 }

// place is where a name can stand in a module.
type place struct {
	name string
	// only is the ABI that has it; empty: all.
	only  string
	build func(g *guest, name string)
}

var places = []place{
	{"imported module", "", func(g *guest, name string) { g.ImportFunc(name, "f", none) }},
	{"imported function", "", func(g *guest, name string) { g.ImportFunc("env", name, none) }},
	{"function of the host", "", func(g *guest, name string) { g.ImportFunc(abi.ImportModule, name, none) }},
	{"function of WASI", "", func(g *guest, name string) { g.ImportFunc("wasi_snapshot_preview1", name, none) }},
	{"function of Extism", "", func(g *guest, name string) { g.ImportFunc("extism:host/env", name, none) }},
	{"user function of Extism", "", func(g *guest, name string) { g.ImportFunc("extism:host/user", name, none) }},
	{"many imports", "", func(g *guest, name string) {
		for i := range 500 {
			g.ImportFunc(name[:min(len(name), 200)], strconv.Itoa(i), none)
		}
	}},
	{"version of the ABI", "", func(g *guest, name string) { g.ImportFunc("toolquay:host/"+name, "submit", none) }},
	{"imported memory", "", func(g *guest, name string) { g.ImportMemory(name, name, wg.AtLeast(1)) }},
	{"imported global", "", func(g *guest, name string) { g.ImportGlobal(name, name, wg.I32, false) }},
	{"export", "", func(g *guest, name string) {
		g.Export(name, wg.Function, g.Func(none, new(wg.Code)))
		g.main.Op(wg.Unreachable)
	}},
	{"only export", "", func(g *guest, name string) {
		g.plain = true
		g.Export(name, wg.Function, g.Func(none, new(wg.Code)))
	}},
	{"exported twice", "", func(g *guest, name string) {
		f := g.Func(none, new(wg.Code))
		g.Export(name, wg.Function, f)
		g.Export(name, wg.Function, f)
	}},
	{"custom section", "", func(g *guest, name string) {
		g.Custom(name, []byte(name))
		g.main.Op(wg.Unreachable)
	}},
	{"functions in a trap", "", func(g *guest, name string) {
		g.Custom("name", nameSection(name, 8))
		g.main.Op(wg.Unreachable)
	}},
	{"functions in a start", "", func(g *guest, name string) {
		g.Custom("name", nameSection(name, 8))
		g.Start(g.Func(none, new(wg.Code).Op(wg.Unreachable)))
	}},
	{"broken section of tools", "", func(g *guest, name string) {
		g.Custom(abi.SectionTools, []byte(`{"name":`+jsonText(name)+`,`+jsonText(name)+`:1}`))
	}},
	{"section of other tools", "", func(g *guest, name string) {
		g.Custom(abi.SectionTools, []byte(`{"name":`+jsonText(name)+`,"description":"x","input_schema":{}}`))
	}},
	{"last words", abi.ABIDirect, func(g *guest, name string) {
		g.report(`{"log":{"level":"warn","message":` + jsonText(name[:min(len(name), abi.MaxReportText/4)]) + `}}`)
		g.main.Op(wg.Unreachable)
	}},
	{"last words on standard error", abi.ABIDirect, func(g *guest, name string) {
		write := g.wasi("fd_write", i32s(4)...)
		g.Data(new(wg.Code).I32(heap), append([]byte(name), '\n'))
		g.Data(new(wg.Code).I32(512), binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, heap), uint32(len(name)+1)))
		g.main.I32(2).I32(512).I32(1).I32(600).Call(write).Op(wg.Drop, wg.Unreachable)
	}},
	{"level of a log line", abi.ABIDirect, func(g *guest, name string) {
		g.report(`{"log":{"level":` + jsonText(name) + `,"message":"x"}}`)
	}},
	{"key of a report", abi.ABIDirect, func(g *guest, name string) { g.report(`{` + jsonText(name) + `:"x"}`) }},
	{"capability", abi.ABIDirect, func(g *guest, name string) {
		g.submit(`{"capability":` + jsonText(name) + `,"args":{}}`)
	}},
	{"arguments of a capability", abi.ABIDirect, func(g *guest, name string) {
		g.submit(`{"capability":` + jsonText(name) + `,"args":` + jsonText(name) + `}`)
	}},
	{"key of a request", abi.ABIDirect, func(g *guest, name string) { g.submit(`{` + jsonText(name) + `:1}`) }},
	{"type of content", abi.ABIDirect, func(g *guest, name string) {
		g.answers(`{"content":[{"type":` + jsonText(name) + `,"source":[{"part":0}]}]}`)
	}},
	{"key of a result", abi.ABIDirect, func(g *guest, name string) { g.answers(`{"content":{` + jsonText(name) + `:1}}`) }},
	{"key twice in a result", abi.ABIDirect, func(g *guest, name string) {
		g.answers(`{"structured":{"part":0},` + jsonText(name) + `:1,` + jsonText(name) + `:2}`)
	}},
	{"role of a message", abi.ABIDirect, func(g *guest, name string) {
		g.answers(`{"content":[],"messages":[{"role":` + jsonText(name) + `,"content":[]}]}`)
	}},
	{"change", abi.ABIDirect, func(g *guest, name string) {
		g.answers(`{"content":[],"changes":[{"kind":` + jsonText(name) + `}]}`)
	}},
	{"no answer", abi.ABIDirect, func(g *guest, name string) {
		g.answerLen = int32(len(name))
		g.Data(new(wg.Code).I32(answerAt), []byte(name))
	}},
}

// nameSection names the module and the first functions.
func nameSection(name string, functions int) []byte {
	text := func(b []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(name))), name...) }
	part := func(id byte, b []byte) []byte {
		return append(binary.AppendUvarint([]byte{id}, uint64(len(b))), b...)
	}
	list := binary.AppendUvarint(nil, uint64(functions))
	for i := range functions {
		list = text(binary.AppendUvarint(list, uint64(i)))
	}
	return append(part(0, text(nil)), part(1, list)...)
}

func jsonText(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// frame is a message of the direct ABI without parts.
func frame(head string) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(head))), head...)
}

func (g *guest) report(head string) {
	report := g.ImportFunc(abi.ImportModule, "progress", wg.Sig(i32s(2), nil))
	g.message(head, func(at, size int32) { g.main.I32(at).I32(size).Call(report) })
}

func (g *guest) submit(head string) {
	submit := g.ImportFunc(abi.ImportModule, "submit", wg.Sig(i32s(2), i32s(1)))
	g.message(head, func(at, size int32) { g.main.I32(at).I32(size).Call(submit).Op(wg.Drop) })
}

// message puts a message where use finds it.
func (g *guest) message(head string, use func(at, size int32)) {
	m := frame(head)
	g.memory = wg.AtLeast(64)
	g.Data(new(wg.Code).I32(heap), m)
	use(heap, int32(len(m)))
}

func (g *guest) answers(head string) {
	m := frame(head)
	g.memory = wg.AtLeast(64)
	g.answerLen = int32(len(m))
	g.Data(new(wg.Code).I32(answerAt), m)
}

// TestNames is the law that no text out of a module comes through raw: names of every
// kind stand at every place of modules, and whatever is said of them holds no character
// that does not show, no line of theirs, and is bounded.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, r := range runners {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			shop := newShop(t, r)
			for i, p := range places {
				if p.only != "" && p.only != r.abi {
					continue
				}
				for j, kind := range kinds {
					if r.top != "" && kind != "line break" && kind != "long breaks" {
						continue // a worker says what the runner in it says
					}
					if !inTurn(i, j) {
						continue
					}
					name := names[kind]
					g := &guest{abi: r.abi, memory: wg.AtLeast(4)}
					p.build(g, name)
					if !g.plain {
						g.finish()
					}
					schema := `input_schema = '{"type":"object"}'`
					if strings.Contains(p.name, "section of") {
						schema = ""
					}
					shop.try(t, p.name+", "+kind, manifest(r, schema), g.Bytes())
				}
			}
		})
	}
}

func manifest(r runner, schema string) string {
	return strings.Join([]string{
		"manifest = 1", `name = "hostile"`, `version = "1.0.0"`, fmt.Sprintf("abi = %q", r.abi), r.top,
		"[[capabilities]]", fmt.Sprintf("name = %q", capabilityName), `reason = "to do harm"`,
		"[[tools]]", fmt.Sprintf("name = %q", toolName), `summary = "Does harm"`, schema,
	}, "\n")
}

// fields are the texts of a manifest. In each, @ is the name.
var fields = []string{
	`@ = 1`, `name = @`, `version = @`, `description = @`, `authors = [@]`, `license = @`, `homepage = @`, `icon = @`, `abi = @`, `module = @`,
	`requires = [@]`, `instance = @`, `isolation = @`, "[@]", "[limits]\nmemory = @", "[limits]\ntime = @", "[limits]\n@ = 1",
	"[[capabilities]]\nname = @", "[[capabilities]]\nname = \"test.a\"\nscope = [@]", "[[capabilities]]\nname = \"test.a\"\nreason = @",
	"[[capabilities]]\nname = \"test.b\"\nreason = @",
	"[[config]]\nname = @", "[[config]]\nname = \"a\"\nrequired = true\ndescription = @",
	"[[tools]]\nname = @", "[[tools]]\nname = \"A\"\naliases = [@]", "[[tools]]\nname = \"A\"\nsummary = @", "[[tools]]\nname = \"A\"\ndescription = @",
	"[[tools]]\nname = \"A\"\nread_only = @", "[[tools]]\nname = \"A\"\nlocks = @", "[[tools]]\nname = \"A\"\nexport = @",
	"[[tools]]\nname = \"A\"\ncapabilities = [@]", "[[tools]]\nname = \"A\"\ninput_examples = [@]", "[[tools]]\nname = \"A\"\ntitle = @",
	"[[tools]]\nname = \"A\"\ninput_schema = @", "[[tools]]\nname = \"A\"\n[[tools.fields]]\nname = @", "[[tools]]\nname = \"A\"\n[[tools.fields]]\nkind = @",
	"[[tools]]\nname = \"A\"\n[[tools.renames]]\nalias = @\nfrom = @\nto = @",
}

// schemas are input schemas. In each, @ is the name.
var schemas = []string{
	`{"type":"object","$ref":@}`, `{"type":"object","properties":{"a":{"pattern":@}}}`, `{"type":@}`, `{"type":"object",@:`,
	`{"type":"object","properties":{@:{"type":@}}}`, `{"type":"object","required":[@]}`, `{"type":"object","required":@}`,
	`{"type":"object","properties":{"a":{"format":@}},"$schema":@}`, `{"type":"object","$id":@,"$defs":{@:{"$anchor":@}}}`,
	`{"type":"object","const":{@:@}}`, `{"type":"object","minProperties":1,"dependentRequired":{@:[@]}}`,
	`{"type":"object","enum":[{@:1}]}`, `{"type":"object","properties":{@:false},"required":[@]}`,
}

// TestManifestNames is the same law for manifests, beside their modules and inside them.
func TestManifestNames(t *testing.T) {
	t.Parallel()
	r := runners[0]
	shop := newShop(t, r)
	plain := (&fixture{}).bytes(r.abi)
	for i, kind := range kinds {
		name := names[kind]
		for j, field := range fields {
			if !inTurn(i, j) {
				continue
			}
			text := "manifest = 1\n" + strings.ReplaceAll(field, "@", tomlText(name))
			shop.try(t, field+", "+kind, text, plain)
			g := &guest{abi: r.abi, memory: wg.AtLeast(2)}
			g.Custom(abi.SectionManifest, []byte(text))
			g.finish()
			shop.try(t, field+" inside, "+kind, "", g.Bytes())
		}
		for j, schema := range schemas {
			if !inTurn(i, j) {
				continue
			}
			text := strings.ReplaceAll(schema, "@", jsonText(name))
			shop.try(t, schema+", "+kind, manifest(r, "input_schema = "+tomlText(text)), plain)
		}
	}
}

// tomlText writes a TOML string; bytes that are not UTF-8 stay as they are.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, c)
		case c == '"', c == '\\':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// nameShop has one plugin after the other.
type nameShop struct {
	runner runner
	dir    string
	tried  int
}

func newShop(t *testing.T, r runner) *nameShop {
	t.Helper()
	return &nameShop{runner: r, dir: t.TempDir()}
}

// try loads and calls a plugin, and looks at all that is said of it.
func (s *nameShop) try(t *testing.T, what, manifest string, module []byte) {
	t.Helper()
	s.tried++
	dir := filepath.Join(s.dir, strconv.Itoa(s.tried))
	folder := filepath.Join(dir, "plugins")
	files := map[string]string{filepath.Join(folder, "hostile.wasm"): string(module)}
	if manifest != "" {
		folder = filepath.Join(folder, "hostile")
		files = map[string]string{filepath.Join(folder, "hostile.wasm"): string(module), filepath.Join(folder, abi.ManifestFile): manifest}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := s.said(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range said {
		checkSaid(t, what, text)
	}
}

// said is all that is said of the plugin in a directory.
func (s *nameShop) said(ctx context.Context, dir string) ([]string, error) {
	self, err := worker.Self()
	if err != nil {
		return nil, err
	}
	log := &sayings{}
	o := plugins.Options{
		Sources: []plugins.Source{plugins.Dir(plugins.OriginFlag, filepath.Join(dir, "plugins"))},
		Granted: []string{"hostile"}, Capabilities: []string{capabilityName}, Logger: slog.New(log),
	}
	switch {
	case s.runner.top != "":
		s.runner.open(&o, shop{workers: worker.Options{Command: self, CacheDir: testenv.CompileCache(), Logger: o.Logger}})
	case s.runner.abi == abi.ABIExtism:
		o.Runners = []plugins.Runner{extism.New(plugins.RunnerOptions{CacheDir: testenv.CompileCache(), Logger: o.Logger})}
	default:
		o.Runners = []plugins.Runner{direct.New(direct.Options{CacheDir: testenv.CompileCache(), Logger: o.Logger})}
	}
	set, err := plugins.Open(o)
	if err != nil {
		return nil, err
	}
	for _, p := range set.Plugins() {
		log.add(p.Problem())
		for _, n := range p.Notes {
			log.add(errors.New(n))
		}
		for _, name := range p.ToolNames() {
			tool, ok := set.Tool(name)
			if !ok {
				continue
			}
			log.add(tool.Available())
			log.add(tool.Validate(json.RawMessage(`{"a":"b","zz":1}`)))
			_, err := tool.Assess(ctx, plugins.Question{Input: json.RawMessage("{}")})
			log.add(err)
			_, err = tool.Call(ctx, plugins.Invocation{
				ID: "1", Cwd: "/", Input: json.RawMessage("{}"),
				Capability: func(context.Context, abi.Request) (abi.Answer, error) { return abi.Answer{OK: struct{}{}}, nil },
			})
			log.add(err)
		}
	}
	return log.list, set.Close(ctx)
}

// longestSaid bounds what is said in one line, in bytes; escapes make it longer.
const longestSaid = 32 << 10

// checkSaid holds one text to the law. Only errors of manifests have several lines, which
// the host sets in.
func checkSaid(t *testing.T, what, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > longestSaid {
			t.Errorf("%s: a line of %d bytes: %.200q", what, len(line), line)
		}
		if i > 0 && !strings.HasPrefix(line, "  ") || strings.HasPrefix(strings.TrimSpace(line), forged) {
			t.Errorf("%s: a line that the host did not begin: %.200q", what, line)
		}
		for _, c := range line {
			if !visible.Rune(c) {
				t.Errorf("%s: %q comes through: %.300q", what, c, line)
				break
			}
		}
	}
	if len(lines) > 200 {
		t.Errorf("%s: %d lines", what, len(lines))
	}
}

// sayings collects errors and log lines.
type sayings struct {
	mu   sync.Mutex
	list []string
}

func (s *sayings) add(err error) {
	if err != nil {
		s.line(err.Error())
	}
}

func (s *sayings) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, text)
}

// Enabled takes every level.
func (*sayings) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps what a line says and each of its values.
func (s *sayings) Handle(_ context.Context, r slog.Record) error {
	s.line(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		s.line(a.Value.String())
		return true
	})
	return nil
}

// WithAttrs and WithGroup are not used by what logs here.
func (s *sayings) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup returns the handler itself.
func (s *sayings) WithGroup(string) slog.Handler { return s }
