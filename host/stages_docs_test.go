package host_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// putter is a runner whose plugin writes bytes, which none of the tools in the box does.
type putter struct{ editor }

func (putter) Load(context.Context, plugins.Module) (plugins.Instance, error) { return putter{}, nil }

func (putter) Call(ctx context.Context, c plugins.Invocation) (abi.ToolResult, error) {
	var in struct{ Path, Data string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return abi.ToolResult{}, err
	}
	data, err := base64.StdEncoding.DecodeString(in.Data)
	if err != nil {
		return abi.ToolResult{}, err
	}
	args, err := json.Marshal(abi.WriteArgs{Path: in.Path, Bytes: true})
	if err != nil {
		return abi.ToolResult{}, err
	}
	text, err := ask(ctx, c, abi.Request{Name: abi.CapFSWrite, Args: args, Parts: []abi.Part{{Type: abi.PartBytes, Data: data}}})
	return answered(c, text, err)
}

// TestStagedDocuments shows images, PDF and notebooks as they were staged, and edits the
// cells of what was staged; the disk has others, or none.
func TestStagedDocuments(t *testing.T) {
	t.Parallel()
	sample := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("..", "builtin", "docs", "testdata", name))
		must(t, err)
		return data
	}
	small := sample("small.jpg")
	var other bytes.Buffer // small as well: a busy machine does not show a large image within the plugin's time
	must(t, jpeg.Encode(&other, image.NewGray(image.Rect(0, 0, 16, 16)), nil))
	dir := settledFiles(t, map[string]string{
		"a.jpg": string(small), "a.pdf": string(sample("libreoffice.pdf")), "a.ipynb": string(sample("harbour.ipynb")),
	})
	before := snapshot(t, dir)
	h := open(t, host.Options{
		Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{{Origin: plugins.OriginFlag, Path: "editor", FS: fstest.MapFS{
				"plugin.toml": {Data: []byte(editorManifest)}, "editor.wasm": {Data: []byte("\x00asm\x01\x00\x00\x00")},
			}}},
			Isolated: []plugins.Runner{putter{}}, Granted: []string{"editor"},
		}, Permissions: host.PermissionOptions{Rules: rules("", "", "Alter")},
	})
	s := session(t, h, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	read := func(path string) *abi.ToolResult {
		t.Helper()
		r, _ := one(t, s, "Read", `{"file_path":"`+path+`"}`)
		if r.IsError {
			t.Fatalf("%s: %s", path, r.Text())
		}
		return &r
	}
	put := func(path string, data []byte) {
		t.Helper()
		got := answers(t, s, "Alter", map[string]any{"path": path, "data": base64.StdEncoding.EncodeToString(data)})
		if strings.HasPrefix(got, "ERROR") {
			t.Fatalf("%s: %s", path, got)
		}
	}
	shown := func(r *abi.ToolResult) string {
		for _, b := range r.Content {
			if b.Type == abi.BlockImage {
				return string(b.Data)
			}
		}
		return ""
	}

	was := shown(read("a.jpg"))
	put("a.jpg", other.Bytes())
	put("new/b.jpg", other.Bytes())
	now := shown(read("a.jpg"))
	if was == "" || now == "" || was == now || shown(read("new/b.jpg")) != now {
		t.Errorf("images: the one on the disk has %d bytes, that in the stage %d", len(was), len(now))
	}

	if got := read("a.pdf").Text(); !strings.Contains(got, "Section") {
		t.Errorf("the PDF on the disk: %q", got)
	}
	put("a.pdf", sample("ghostscript.pdf"))
	put("new/b.pdf", sample("ghostscript.pdf"))
	for _, path := range []string{"a.pdf", "new/b.pdf"} {
		if got := read(path).Text(); !strings.Contains(got, "The second page.") {
			t.Errorf("the PDF in the stage, %s: %q", path, got)
		}
	}

	const cell = `{"notebook_path":"a.ipynb","edit_mode":"insert","cell_type":"markdown","new_source":`
	r, _ := one(t, s, "NotebookEdit", cell+`"unseen"}`)
	wantError(t, r, abi.CodeNotRead)
	read("a.ipynb")
	for _, text := range []string{"a first one", "a second one"} {
		if r, _ := one(t, s, "NotebookEdit", cell+`"`+text+`"}`); r.IsError {
			t.Fatalf("%s: %s", text, r.Text())
		}
	}
	if got := read("a.ipynb").Text(); !strings.Contains(got, "a first one") || !strings.Contains(got, "a second one") {
		t.Errorf("the notebook: %q", got)
	}
	if got := snapshot(t, dir); got != before {
		t.Error("the disk changed")
	}
	if done, err := s.Stage().Apply(t.Context(), stage.Selection{}); err != nil || len(done) != 5 {
		t.Fatalf("%+v, %v", done, err)
	}
	for path, want := range map[string]string{"a.jpg": other.String(), "new/b.pdf": string(sample("ghostscript.pdf"))} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes were applied, %v", path, len(got), err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.ipynb")); err != nil || strings.Count(string(text), "a second one") != 1 {
		t.Errorf("the notebook that was applied: %v", err)
	}
}
