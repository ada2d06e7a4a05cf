package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// fieldText is where structured content holds the text of a result too. Claude Code, Cursor
// (https://github.com/modelcontextprotocol/modelcontextprotocol/issues/1411) and Pydantic AI give
// their model the structured content alone: without this it would get the counts of a search and
// none of what was found.
const fieldText = "text"

// withText is structured content with the text that stands beside it, unless the text is the same
// content once more or the tool has such a field of its own.
func withText(structured json.RawMessage, content []abi.Block) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(structured, &fields) != nil || fields == nil || fields[fieldText] != nil {
		return structured
	}
	var texts []string
	for i := range content {
		if content[i].Type == abi.BlockText {
			texts = append(texts, content[i].Text)
		}
	}
	text := strings.Join(texts, "\n")
	if text == "" || sameJSON(structured, text) {
		return structured
	}
	return added(structured, len(fields) > 0, fieldText, text)
}

// sameJSON reports whether a text is structured content, written in any way.
func sameJSON(structured json.RawMessage, text string) bool {
	var a, b bytes.Buffer
	return json.Compact(&a, structured) == nil && json.Compact(&b, []byte(text)) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

// added adds a member to the end of an object, which has others or not.
func added(object json.RawMessage, others bool, key string, value any) json.RawMessage {
	text, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		return object
	}
	out := bytes.TrimSuffix(bytes.TrimSpace(object), []byte("}"))
	if others {
		out = append(bytes.Clone(out), ',')
	}
	return append(bytes.Clone(out), text[1:]...)
}

// schemaWithText is an output schema that admits the text, unless it has such a field already.
func schemaWithText(schema json.RawMessage) json.RawMessage {
	var fields, properties map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil || fields == nil {
		return schema
	}
	if fields["properties"] == nil {
		fields["properties"] = json.RawMessage("{}")
	}
	if json.Unmarshal(fields["properties"], &properties) != nil || properties[fieldText] != nil {
		return schema
	}
	fields["properties"] = added(fields["properties"], len(properties) > 0, fieldText, map[string]string{
		"type": "string", "description": "The text of the result, as it stands beside the structured content.",
	})
	out, err := json.Marshal(fields)
	if err != nil {
		return schema
	}
	return out
}
