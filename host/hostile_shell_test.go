package host_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins"
)

// guestAsking is a plugin with the tool Fixture, a guest that makes one capability call,
// whatever its input says, and hands the answer on.
func guestAsking(capability, args, more string) plugins.Source {
	const request, answer, free = 4096, 64, 32 << 10
	head := fmt.Sprintf(`{"capability":%q,"args":%s}`, capability, args)
	made := message(head)
	passed := message(`{"content":[{"type":"text","source":[{"handle":1}]}]}`)
	var m wasmgen.Module
	one, two := []wasmgen.ValType{wasmgen.I32}, []wasmgen.ValType{wasmgen.I32, wasmgen.I32}
	submit := m.ImportFunc("toolquay:host/1", "submit", wasmgen.Sig(two, one))
	m.Export("memory", wasmgen.Memory, m.Memory(wasmgen.Limits{Min: 1}))
	m.Data(new(wasmgen.Code).I32(request), made)
	m.Data(new(wasmgen.Code).I32(answer), passed)
	alloc := new(wasmgen.Code).I32(free)
	m.Export("alloc", wasmgen.Function, m.Func(wasmgen.Sig(one, one), alloc))
	call := new(wasmgen.Code).I32(request).I32(int32(len(made))).Call(submit).Op(wasmgen.Drop).I64(answer<<32 | int64(len(passed)))
	m.Export("call", wasmgen.Function, m.Func(wasmgen.Sig(two, []wasmgen.ValType{wasmgen.I64}), call))
	manifest := "manifest = 1\nname = \"fixture\"\nversion = \"1.0.0\"\n" + fixtureTool + more +
		fmt.Sprintf("[[capabilities]]\nname = %q\nreason = \"to be tested\"\n", capability)
	return plugins.Source{Origin: plugins.OriginFlag, Path: "/test", FS: fstest.MapFS{
		"fixture/plugin.toml":  {Data: []byte(manifest)},
		"fixture/fixture.wasm": {Data: m.Bytes()},
	}}
}

// message is a message of a guest's, of a head alone.
func message(head string) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(head))), head...)
}

// TestGuestRunsWhatWasJudged refuses a guest another command than its input names: that
// is the one which a person was shown. A tool that names none runs what it asks for.
func TestGuestRunsWhatWasJudged(t *testing.T) {
	t.Parallel()
	const names = "fields = [{ name = \"command\", kind = \"command\" }]\n"
	for name, test := range map[string]struct {
		fields, input string
		runs          bool
	}{
		"another one":     {names, `{"command":"echo judged"}`, false},
		"with a blank":    {names, `{"command":"touch made "}`, false},
		"the same":        {names, `{"command":"touch made"}`, true},
		"none":            {names, `{}`, false},
		"no such a field": {"", `{"command":"echo judged"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h := newShelled(t, func(o *host.Options) {
				o.Plugins.Sources = []plugins.Source{guestAsking(abi.CapShellRun, `{"command":"touch made"}`, test.fields)}
				o.Plugins.Granted, o.Permissions.Rules = []string{"fixture"}, rules("", "", "Fixture | Bash")
			})
			r, _ := one(t, session(t, h.Host, host.SessionOptions{Cwd: dir}), "Fixture", test.input)
			_, err := os.Stat(filepath.Join(dir, "made"))
			if ran := err == nil; ran != test.runs {
				t.Errorf("it ran: %v; %s", ran, r.Text())
			}
			if !test.runs {
				wantError(t, r, abi.CodeDenied, "another command")
			}
		})
	}
}

// TestGuestReadsNoTaskOfOthers tells a plugin nothing of a task that Bash began, not
// even that there is one, and leaves to the model what it has not read yet.
func TestGuestReadsNoTaskOfOthers(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	dir := files(t, nil)
	s := session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir})
	// It writes nothing before the result that begins it has left, which would show that.
	id := background(t, s, "until [ -e go ]; do sleep 0.01; done; echo of-the-model")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	taskEnds(t, s, id)
	must(t, s.Close(t.Context()))
	for _, capability := range []string{abi.CapTaskOutput, abi.CapTaskStop} {
		h := newShelled(t, func(o *host.Options) {
			o.Storage.Sessions = h.sessions
			o.Plugins.Sources = []plugins.Source{guestAsking(capability, fmt.Sprintf(`{"id":%q}`, id), "")}
			o.Plugins.Granted, o.Permissions.Rules = []string{"fixture"}, rules("", "", "Fixture | Bash")
		})
		s := session(t, h.Host, host.SessionOptions{ID: "mine"})
		r, _ := one(t, s, "Fixture", `{}`)
		wantError(t, r, abi.CodeNotFound, "those of others")
		if got := answers(t, s, "TaskOutput", map[string]any{"task_id": id}); capability == abi.CapTaskOutput && !strings.Contains(got, "of-the-model") {
			t.Errorf("the model reads %q", got)
		}
		must(t, s.Close(t.Context()))
	}
}
