// Command everything is a plugin with the tools that the conformance suite of the Model Context
// Protocol calls. Their names, texts and schemas are those that the suite asks for.
package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

func main() {}

// none is the input of tools that take nothing.
type none struct{}

func init() {
	toolquay.Handle("test_simple_text", says("This is a simple text response for testing."))
	toolquay.Handle("test_streaming_elicitation", says("stream observed: result frames only"))
	toolquay.Handle("test_image_content", func(*toolquay.Call, none) (toolquay.Output, error) {
		return toolquay.Output{}.Image("image/png", decoded(image)), nil
	})
	toolquay.Handle("test_audio_content", func(*toolquay.Call, none) (toolquay.Output, error) {
		return toolquay.Output{}.Document("silence", "audio/wav", decoded(audio)), nil
	})
	toolquay.Handle("test_embedded_resource", func(*toolquay.Call, none) (toolquay.Output, error) {
		return embedded(toolquay.Output{}), nil
	})
	toolquay.Handle("test_multiple_content_types", func(*toolquay.Call, none) (toolquay.Output, error) {
		return embedded(toolquay.Text("This is text content").Image("image/png", decoded(image))), nil
	})
	toolquay.Handle("test_error_handling", func(*toolquay.Call, none) (toolquay.Output, error) {
		return toolquay.Output{}, errors.New("this tool intentionally returns an error for testing")
	})
	toolquay.Handle("test_tool_with_progress", progresses)
	toolquay.Handle("test_tool_with_logging", logs)
	toolquay.Handle("test_logging_tool", logs)
	toolquay.Handle("json_schema_2020_12_tool", func(c *toolquay.Call, in map[string]any) (toolquay.Output, error) {
		return toolquay.Text("called with: " + string(c.Input())), nil
	})
	toolquay.Handle("test_x_mcp_header", func(_ *toolquay.Call, in struct {
		Region string `json:"region"`
	}) (toolquay.Output, error) {
		return toolquay.Text("region=" + in.Region), nil
	})
	toolquay.Handle("test_trigger_tool_change", changes("tools"))
	toolquay.Handle("test_trigger_prompt_change", changes("prompts"))
}

// says is a tool that answers with a text.
func says(text string) func(*toolquay.Call, none) (toolquay.Output, error) {
	return func(*toolquay.Call, none) (toolquay.Output, error) { return toolquay.Text(text), nil }
}

// A red pixel, and no sound.
const (
	image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	audio = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func decoded(text string) []byte {
	data, _ := base64.StdEncoding.DecodeString(text)
	return data
}

func embedded(o toolquay.Output) toolquay.Output {
	return o.Document("test://embedded-resource", "text/plain", []byte("This is an embedded resource"))
}

func progresses(c *toolquay.Call, _ none) (toolquay.Output, error) {
	for _, done := range []float64{0, 50, 100} {
		c.Progress("Completed step "+strconv.Itoa(int(done))+" of 100", done, 100)
		if err := sleep(c, 50); err != nil {
			return toolquay.Output{}, err
		}
	}
	return toolquay.Text("Progress told"), nil
}

func logs(c *toolquay.Call, _ none) (toolquay.Output, error) {
	for _, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if _, err := use(c, "client.log", map[string]any{"message": message}); err != nil {
			return toolquay.Output{}, err
		}
		if err := sleep(c, 50); err != nil {
			return toolquay.Output{}, err
		}
	}
	return toolquay.Text("Tool with logging executed successfully"), nil
}

// changes is a tool that has the embedder change one of its lists.
func changes(list string) func(*toolquay.Call, none) (toolquay.Output, error) {
	return func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		_, err := use(c, "test.change", map[string]any{"list": list})
		return toolquay.Text(list + " changed"), err
	}
}

func sleep(c *toolquay.Call, milliseconds int) error {
	_, err := use(c, "test.sleep", map[string]any{"milliseconds": milliseconds})
	return err
}

// use has the embedder do one of its operations, and returns what that answers.
func use(c *toolquay.Call, operation string, arguments any) (json.RawMessage, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	answer, err := c.Submit(operation, raw).Wait()
	if err != nil {
		return nil, err
	}
	return json.RawMessage(answer.OK), nil
}
