package main

import (
	"encoding/json"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// The tools of the suite's scenarios on tasks.
func init() {
	toolquay.Handle("greet", func(_ *toolquay.Call, in struct {
		Name string `json:"name"`
	}) (toolquay.Output, error) {
		return toolquay.Text("Hello, " + in.Name + "!"), nil
	})
	toolquay.Handle("slow_compute", func(c *toolquay.Call, in struct {
		Seconds float64 `json:"seconds"`
		Label   string  `json:"label"`
	}) (toolquay.Output, error) {
		err := sleep(c, int(in.Seconds*1000))
		return toolquay.Text("computed " + in.Label), err
	})
	toolquay.Handle("failing_job", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		if err := sleep(c, 1000); err != nil {
			return toolquay.Output{}, err
		}
		return toolquay.Failure("this job always fails"), nil
	})
	toolquay.Handle("protocol_error_job", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		if err := sleep(c, 200); err != nil {
			return toolquay.Output{}, err
		}
		panic("this job always panics")
	})
	toolquay.Handle("confirm_delete", func(c *toolquay.Call, in struct {
		Filename string `json:"filename"`
	}) (toolquay.Output, error) {
		return told(c, "deleted "+in.Filename+": ", requests{"confirm": form("Delete "+in.Filename+"?", fields{"confirm": {"type": "boolean"}}, "confirm")})
	})
	toolquay.Handle("multi_input", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "both: ", requests{"first": name("The first name?"), "second": name("The second name?")})
	})
	toolquay.Handle("test_tool_with_task", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		who, err := field(c, "user_name", "name", name("What is your name?"))
		if err != nil {
			return toolquay.Output{}, err
		}
		if err := sleep(c, 1000); err != nil {
			return toolquay.Output{}, err
		}
		text, err := json.Marshal(who)
		return toolquay.Text("The work of " + string(text) + " is done."), err
	})
}
