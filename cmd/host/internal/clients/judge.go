package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Verdict is what a client makes of a tool that it does not take as it is.
type Verdict struct {
	Tool string
	// Dropped says that the client leaves the tool out, or more because of it; else it takes
	// a part of it.
	Dropped bool
	Why     string
}

// Judge says what the client makes of the tools of a server of this name, in their order.
func (c *Client) Judge(server string, tools []*mcp.Tool) []Verdict {
	var out []Verdict
	for i, tool := range tools {
		drop := func(format string, args ...any) {
			out = append(out, Verdict{tool.Name, true, fmt.Sprintf(format, args...)})
		}
		change := func(format string, args ...any) {
			out = append(out, Verdict{tool.Name, false, fmt.Sprintf(format, args...)})
		}
		c.judgeName(server, tool.Name, drop, change)
		c.judgeSchema(tool, drop, change)
		if n := len(tool.Description); c.Limits.Description > 0 && n > c.Limits.Description {
			change("its description has %d bytes and is cut at %d", n, c.Limits.Description)
		}
		if c.Limits.Tools > 0 && i >= c.Limits.Tools {
			drop("it is the %dth tool, and models get %d", i+1, c.Limits.Tools)
		}
	}
	return out
}

func (c *Client) judgeName(server, tool string, drop, change func(string, ...any)) {
	tell := change
	if c.Limits.Drops {
		tell = drop
	}
	full := tool
	if c.Limits.Prefix != "" {
		full = fmt.Sprintf(c.Limits.Prefix, server) + tool
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(c.Limits.Charset, r)
	}
	most := c.Limits.Name
	if c.Name == "cursor" {
		most-- // it says that 60 exceeds 60
	}
	switch i := strings.IndexFunc(tool, odd); {
	case tool == "":
		drop("it has no name")
	case i >= 0:
		tell("its name has %q, and may have letters, digits and %s", []rune(tool[i:])[0], strings.Join(strings.Split(c.Limits.Charset, ""), " "))
	case len(full) > most:
		tell("its name is %s there, with %d characters of at most %d", full, len(full), most)
	}
}

func (c *Client) judgeSchema(tool *mcp.Tool, drop, change func(string, ...any)) {
	input, ok := asObject(tool.InputSchema)
	if !ok || input["type"] != "object" {
		// https://modelcontextprotocol.io/specification/2025-11-25/schema#tool
		drop("its input schema is not of the type object; the whole list may be refused")
	}
	// Clients with the SDK for TypeScript refuse the whole list for it:
	// https://github.com/opentokenz/mcpx/issues/28.
	if output, ok := asObject(tool.OutputSchema); tool.OutputSchema != nil && (!ok || output["type"] != "object") {
		drop("its output schema is not of the type object; the whole list may be refused")
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		if _, has := input[word]; has && c.Limits.NoUnions {
			drop("its input schema has %s at the top, which the model's API refuses", word)
		}
	}
	if at := find(input, "", arrayWithoutItems); c.Limits.NeedItems && at != "" {
		drop("its input schema has an array without items at %s", at)
	}
	if at := find(input, "", reference); c.Limits.NoReferences && at != "" {
		change("its input schema has a $ref at %s, which the model's API may refuse", at)
	}
}

// asObject is a schema as decoded JSON.
func asObject(schema any) (map[string]any, bool) {
	if object, ok := schema.(map[string]any); ok {
		return object, true
	}
	body, err := json.Marshal(schema)
	var object map[string]any
	return object, err == nil && json.Unmarshal(body, &object) == nil && object != nil
}

// find is where in a schema something stands, as a JSON pointer, or nothing.
func find(value any, at string, is func(map[string]any) bool) string {
	switch v := value.(type) {
	case map[string]any:
		if is(v) {
			return "#" + at
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := find(v[key], at+"/"+key, is); found != "" {
				return found
			}
		}
	case []any:
		for i := range v {
			if found := find(v[i], fmt.Sprintf("%s/%d", at, i), is); found != "" {
				return found
			}
		}
	}
	return ""
}

func arrayWithoutItems(schema map[string]any) bool {
	_, items := schema["items"]
	_, prefix := schema["prefixItems"]
	return schema["type"] == "array" && !items && !prefix
}

func reference(schema map[string]any) bool {
	_, is := schema["$ref"].(string)
	return is
}
