package toolquaytest_test

import (
	"encoding/json"
	"testing"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

// TestTell has a tool tell the person something, and pass on why it cannot.
func TestTell(t *testing.T) {
	toolquay.Handle("TellPerson", func(c *toolquay.Call, in struct{ Text string }) (toolquay.Output, error) {
		ok, err := c.Tell(toolquay.MessageArgs{Message: in.Text, Attachments: []string{"a.png"}, Status: toolquay.MessageProactive})
		if err != nil {
			return toolquay.Output{}, err
		}
		return toolquay.Text(ok.Attachments[0].Path + " " + ok.Sent), nil
	})
	var asked string
	host := toolquaytest.Files(nil).WithoutManifest().On(toolquay.CapSessionMessage, func(args []byte) (any, []byte, error) {
		asked = string(args)
		return json.RawMessage(`{"attachments":[{"path":"/work/a.png","size":3,"is_image":true}],"sent_at":"now"}`), nil, nil
	})
	if got := host.Call(t, "TellPerson", map[string]any{"text": "hi"}).Text(); got != "/work/a.png now" {
		t.Errorf("got %q", got)
	}
	if want := `{"message":"hi","attachments":["a.png"],"status":"proactive"}`; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	host = toolquaytest.Files(nil).WithoutManifest().On(toolquay.CapSessionMessage, func([]byte) (any, []byte, error) {
		return nil, nil, toolquay.Errorf(toolquay.CodeUnsupported, "nobody hears")
	})
	if r := host.Call(t, "TellPerson", map[string]any{"text": "hi"}); !r.IsError {
		t.Errorf("got %q", r.Text())
	}
}
