package toolset

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// mcpToolOf is the definition of a tool for the Model Context Protocol.
func mcpToolOf(t *Tool, description string, schema json.RawMessage) mcpTool {
	d := mcpTool{Name: t.Name, Title: cmp.Or(t.Display, t.Name), Description: cutText(description), InputSchema: schema, Icons: t.icons()}
	d.Annotations = mcpAnnotations{Title: d.Title, ReadOnly: t.ReadOnly == abi.TraitTrue, OpenWorld: !t.isLocal()}
	d.Annotations.Destructive = !d.Annotations.ReadOnly && t.DestructiveTrait() != abi.TraitFalse
	d.Annotations.Idempotent = d.Annotations.ReadOnly
	if t.OutputSchema != "" {
		d.OutputSchema = json.RawMessage(t.OutputSchema)
	}
	return d
}

// isLocal reports whether a tool certainly reaches nothing beyond this machine: a plugin
// does only what its capabilities do, and only commands go further.
func (t *Tool) isLocal() bool { return t.Origin != OriginNative && !t.Commands }

// icons are the tool's pictures, of which its plugin has one at most.
func (t *Tool) icons() []mcpIcon {
	if t.Manifest == nil || t.Manifest.Icon == "" {
		return nil
	}
	icon := mcpIcon{Source: t.Manifest.Icon, Type: t.Manifest.IconType()}
	if icon.Type == "image/svg+xml" {
		icon.Sizes = []string{"any"}
	}
	return []mcpIcon{icon}
}

// cutMark ends a text that was cut.
const cutMark = " …"

// cutText cuts a text that is longer than clients of the Model Context Protocol take, behind a
// sentence if one ends in its last quarter, or else between words.
func cutText(text string) string {
	const longest = abi.MaxSafeText
	if len(text) <= longest {
		return text
	}
	end := longest - len(cutMark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	kept := text[:end]
	sentence := max(strings.LastIndex(kept, ". ")+1, strings.LastIndex(kept, ".\n")+1)
	if at := cmp.Or(atLeast(sentence, longest*3/4), atLeast(strings.LastIndexAny(kept, " \n"), longest/2)); at > 0 {
		kept = kept[:at]
	}
	return strings.TrimRight(kept, " \n") + cutMark
}

// atLeast returns a place in a text, or 0 if it is too far in front.
func atLeast(at, least int) int {
	if at < least {
		return 0
	}
	return at
}
