package host_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// messagesIn are what events tell that was said.
func messagesIn(events []host.Event) (told []*capability.Said) {
	for _, e := range events {
		if e.Kind == host.EventMessage {
			told = append(told, e.Said)
		}
	}
	return told
}

// TestMessages tells the person by the tool in the box.
func TestMessages(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.png": "\x89PNG\r\n\x1a\n0000", "b.txt": "b", "sub/c": "c"})
	h := open(t, host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Also: []string{"Brief"}}}})
	s := session(t, h, host.SessionOptions{Cwd: dir})
	r, events := one(t, s, "SendUserMessage", `{"message":"# Hi","attachments":["a.png","`+filepath.ToSlash(filepath.Join(dir, "b.txt"))+`"],"status":"proactive"}`)
	told := messagesIn(events)
	if r.IsError || len(told) != 1 {
		t.Fatalf("got %q, told %v", r.Text(), told)
	}
	if m := told[0]; m.Message != "# Hi" || m.Status != "proactive" || m.Plugin != "" || m.Sent.IsZero() || len(m.Attachments) != 2 ||
		m.Attachments[0] != (capability.SaidAttachment{Path: filepath.Join(dir, "a.png"), Size: 12, IsImage: true}) ||
		m.Attachments[1] != (capability.SaidAttachment{Path: filepath.Join(dir, "b.txt"), Size: 1}) {
		t.Errorf("told %+v", told[0])
	}
	var out struct {
		Message, SentAt string
		Attachments     []struct {
			Path    string
			Size    int
			IsImage bool
		}
	}
	if err := json.Unmarshal(r.Structured, &out); err != nil || out.Message != "# Hi" || out.SentAt == "" || len(out.Attachments) != 2 || !out.Attachments[0].IsImage {
		t.Errorf("the structured content is %s, %v", r.Structured, err)
	}
}

// TestMessagesOfAStage shows files as the session sees them.
func TestMessagesOfAStage(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"b.txt": "b"})
	h := open(t, host.Options{
		Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Also: []string{"SendUserMessage"}}},
		Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}, Permissions: host.PermissionOptions{Rules: rules("", "", "Write")},
	})
	s := session(t, h, host.SessionOptions{Cwd: dir, Stage: true})
	if r, _ := one(t, s, "Write", `{"file_path":"new.txt","content":"12345"}`); r.IsError {
		t.Fatal(r.Text())
	}
	r, events := one(t, s, "SendUserMessage", `{"message":"x","attachments":["new.txt"]}`)
	if told := messagesIn(events); r.IsError || len(told) != 1 || told[0].Attachments[0].Size != 5 {
		t.Errorf("got %q, told %v", r.Text(), told)
	}
}

const messageManifest = `manifest = 1
name = "probe"
version = "1.0.0"
[[capabilities]]
name = "session.message"
reason = "to tell"
READ
[[tools]]
name = "Ask"
summary = "Asks"
read_only = true
input_schema = '{"type":"object"}'
`

// TestMessagesOfPlugins are attributed to the plugin. It attaches what it may read by its
// manifest, and what the rules let it.
func TestMessagesOfPlugins(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "a", "docs/b.txt": "b", "docs/.env": "c"})
	tell := func(args map[string]any) kitStep { return kitStep{Capability: abi.CapSessionMessage, Args: args} }
	for name, test := range map[string]struct {
		read string
		step kitStep
		code abi.Code
		says string
	}{
		"told":          {"", tell(map[string]any{"message": "hi"}), "", ""},
		"not declared":  {"", tell(map[string]any{"message": "hi", "attachments": []string{"a.txt"}}), abi.CodeUndeclared, "Ask may not attach files"},
		"in scope":      {"docs/**", tell(map[string]any{"message": "hi", "attachments": []string{"docs/b.txt"}}), "", ""},
		"out of scope":  {"docs/**", tell(map[string]any{"message": "hi", "attachments": []string{"a.txt"}}), abi.CodeUndeclared, "outside the scope"},
		"denied":        {"docs/**", tell(map[string]any{"message": "hi", "attachments": []string{"docs/.env"}}), abi.CodeDenied, ".env"},
		"missing":       {"docs/**", tell(map[string]any{"message": "hi", "attachments": []string{"docs/x"}}), abi.CodeNotFound, "does not exist"},
		"blank":         {"", tell(map[string]any{"message": "\n"}), abi.CodeInvalidInput, "the message is blank"},
		"long":          {"", tell(map[string]any{"message": strings.Repeat("é", 50_001)}), abi.CodeInvalidInput, "50001 characters"},
		"many":          {"docs/**", tell(map[string]any{"message": "hi", "attachments": strings.Fields(strings.Repeat("x ", 100_000))}), abi.CodeInvalidInput, "100000 attachments"},
		"wrong status":  {"", tell(map[string]any{"message": "hi", "status": "loud"}), abi.CodeInvalidInput, `the status "loud" is unknown`},
		"wrong message": {"", tell(map[string]any{"message": 1}), abi.CodeInvalidInput, "the arguments of session.message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := ""
			if test.read != "" {
				read = "[[capabilities]]\nname = \"fs.read\"\nreason = \"to attach\"\nscope = [\"" + test.read + "\"]\n"
			}
			s := probing(t, strings.Replace(messageManifest, "READ\n", read, 1), dir, "Read(.env)")
			call := kitCall{Do: []kitStep{test.step}}
			r, events := one(t, s, "Ask", call.input(t))
			var got []kitTold
			if err := json.Unmarshal(r.Structured, &got); err != nil || len(got) != 1 {
				t.Fatalf("got %q, %v", r.Text(), err)
			}
			kitWant{Code: string(test.code), Says: test.says}.check(t, name, got[0])
			told := messagesIn(events)
			if (len(told) == 1) != (test.code == "") || len(told) == 1 && told[0].Plugin != "probe" {
				t.Errorf("told %+v", told)
			}
		})
	}
}

// TestPluginsCannotHaveTheRest of what sessions can do.
func TestPluginsCannotHaveTheRest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{abi.CapSessionOutput, abi.CapSessionConfig} {
		manifest := strings.Replace(strings.Replace(messageManifest, abi.CapSessionMessage, name, 1), "READ\n", "", 1)
		s := probing(t, manifest, t.TempDir(), "")
		r, _ := one(t, s, "Ask", `{"do":[]}`)
		wantError(t, r, abi.CodeUnknownTool, "only tools in the box may have ("+name+")")
	}
}
