package mcp_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestSkills has clients find skills in the description of the tool, load them, and be told of more.
// Nothing is remembered, so their person is not asked about proposals.
func TestSkills(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			fsys := fstest.MapFS{"skills/pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF.\nallowed-tools: Bash(ls)\n---\nRead $ARGUMENTS.\n")}}
			server := serve(t, func(_ *mcp.Options, o *host.Options) {
				o.Skills.Sources = []host.SkillSource{{Label: "app", FS: fsys}}
				o.Permissions.OnceOnly = true
			})
			asked := make(chan struct{}, 1)
			client := w.connect(server, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked <- struct{}{}
				return &sdk.ElicitResult{Action: "decline"}, nil
			}})
			lists := func(want string) bool {
				list, err := client.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == "Skill" })
				return i >= 0 && strings.HasSuffix(list.Tools[i].Description, "Skills:\n"+want)
			}
			if !lists("- pdf: Reads PDF.\n") {
				t.Error("the skill is not listed")
			}
			gives(t, client, "Skill", `{"skill":"pdf","args":"a.pdf"}`, `"commandName":"pdf","success":true,"text":"The skill pdf (app).`)
			r := result(t, client, "Skill", `{"skill":"/pdf b.pdf"}`)
			if text, ok := r.Content[0].(*sdk.TextContent); !ok || !strings.HasSuffix(text.Text, "allowed by loading it.\n\nRead b.pdf.\n") {
				t.Errorf("loaded %+v", r.Content[0])
			}
			if len(asked) > 0 {
				t.Error("the person was asked")
			}
			more := host.Skill{Name: "more", Fetch: func(context.Context, string) (string, error) { return "more", nil }}
			if err := server.host.Provide("p", host.Provided{Skills: []host.Skill{more}}); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(w.name, "2026-07-28") {
				return // its clients may keep a list for a minute
			}
			deadline := time.Now().Add(testenv.Patience)
			for !lists("- more\n- pdf: Reads PDF.\n") { // what is offered follows the event
				if time.Now().After(deadline) {
					t.Fatal("another skill is never listed")
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}
