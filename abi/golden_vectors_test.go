package abi_test

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// pixel is the start of a PNG; the codec does not look inside.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x01\xff")

func partText(s string) vectorPart {
	return vectorPart{Type: "text", vectorBytes: vectorBytes{Text: s}}
}

func partJSON(s string) vectorPart {
	return vectorPart{Type: "json", vectorBytes: vectorBytes{Text: s}}
}

func partHex(b []byte) vectorPart {
	return vectorPart{Type: "bytes", vectorBytes: vectorBytes{Hex: hex.EncodeToString(b)}}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func part(i int) abi.Source { return abi.Source{Part: &i} }

func handle(id uint32) abi.Source { return abi.Source{Handle: &id} }

func piece(id uint32, length int64) abi.Source { return abi.Source{Handle: &id, Length: length} }

func textBlock(s string) vectorBlock {
	return vectorBlock{Type: abi.BlockText, vectorBytes: vectorBytes{Text: s}}
}

func validVectors(t *testing.T) map[string]vector {
	t.Helper()
	all := map[string]vector{}
	maps.Copy(all, callVectors(t))
	maps.Copy(all, resultVectors(t))
	maps.Copy(all, capabilityVectors(t))
	maps.Copy(all, sideVectors(t))
	return all
}

func callVectors(t *testing.T) map[string]vector {
	t.Helper()
	call := func(about string, head abi.CallHead, input string) vector {
		return vector{About: about, Message: "call", Head: compactJSON(t, head), Parts: []vectorPart{partJSON(input)}}
	}
	return map[string]vector{
		"call": call("one call of a tool",
			abi.CallHead{Tool: "Read", ID: "toolu_1", Cwd: "/work"}, `{"file_path":"/work/a.txt","limit":10}`),
		"call_config": call("a call with configuration",
			abi.CallHead{Tool: "Query", ID: "c-2", Cwd: "/", Config: map[string]json.RawMessage{"delimiter": raw(`";"`), "rows": raw(`100`)}}, `{}`),
		"call_unicode": call("text beyond ASCII and what JSON must escape, in head and input",
			abi.CallHead{Tool: "Grep", ID: "é-日本-🦀", Cwd: "/tmp/<a>&\"b\"\\"}, `{"pattern":"日本\n\u0001\"\\","path":"🦀"}`),
		"call_numbers": call("numbers reach the guest exactly as they were written",
			abi.CallHead{Tool: "Sum", ID: "n", UserModified: true}, `{"a":1e2,"b":-0,"c":9007199254740993,"d":0.10}`),
	}
}

func resultVectors(t *testing.T) map[string]vector {
	t.Helper()
	all := contentVectors(t)
	result := func(about string, head abi.ResultHead, want vectorResult, parts ...vectorPart) vector {
		return vector{About: about, Message: "result", Head: compactJSON(t, head), Parts: parts, Result: &want}
	}
	failure := &abi.Error{Code: abi.CodeNotFound, Message: "no such file: /work/a.txt"}
	all["result_error"] = result("a failure with a code and no content: its message becomes the content",
		abi.ResultHead{Error: failure},
		vectorResult{Content: []vectorBlock{textBlock(failure.Message)}, IsError: true, Error: failure})
	all["result_error_unknown_code"] = result("a code the reader does not know counts as internal",
		abi.ResultHead{Error: &abi.Error{Code: "of_tomorrow", Message: "later"}},
		vectorResult{Content: []vectorBlock{textBlock("later")}, IsError: true, Error: &abi.Error{Code: abi.CodeInternal, Message: "later"}})
	all["result_is_error"] = result("a failure told in the content",
		abi.ResultHead{Content: []abi.BlockHead{{Type: abi.BlockText, Source: []abi.Source{part(0)}}}, IsError: true},
		vectorResult{Content: []vectorBlock{textBlock("exit status 1")}, IsError: true}, partText("exit status 1"))
	all["result_changes"] = result("effects on the session, a message for the conversation, and metadata",
		abi.ResultHead{
			Changes:  []abi.Change{{Kind: abi.ChangeCwd, Value: raw(`"/work/sub"`)}},
			Messages: []abi.Message{{Role: "user", Text: "Read the manual first."}},
			Meta:     raw(`{"trace":[1,2]}`),
		},
		vectorResult{
			Content:  []vectorBlock{},
			Changes:  []abi.Change{{Kind: abi.ChangeCwd, Value: raw(`"/work/sub"`)}},
			Messages: []abi.Message{{Role: "user", Text: "Read the manual first."}},
			Meta:     raw(`{"trace":[1,2]}`),
		})
	all["result_empty"] = result("an empty head: a result without content", abi.ResultHead{}, vectorResult{Content: []vectorBlock{}})
	all["result_unknown_keys"] = vector{
		About: "keys the reader does not know are ignored, at every level", Message: "result",
		Head:   raw(`{"of_tomorrow":{"a":[1]},"content":[{"type":"text","source":[{"part":0,"hint":"x"}],"lang":"go"}]}`),
		Parts:  []vectorPart{partText("hi")},
		Result: &vectorResult{Content: []vectorBlock{textBlock("hi")}},
	}
	return all
}

func contentVectors(t *testing.T) map[string]vector {
	t.Helper()
	result := func(about string, head abi.ResultHead, want vectorResult, parts ...vectorPart) vector {
		return vector{About: about, Message: "result", Head: compactJSON(t, head), Parts: parts, Result: &want}
	}
	text := func(s ...abi.Source) abi.BlockHead { return abi.BlockHead{Type: abi.BlockText, Source: s} }
	handles := result("what is left of a capability's answer, between parts of the frame",
		abi.ResultHead{Content: []abi.BlockHead{text(part(0), handle(7), part(1))}},
		vectorResult{Content: []vectorBlock{textBlock("<file>\nline one\nline two\n</file>")}},
		partText("<file>\n"), partText("</file>"))
	handles.Handles = map[string]vectorBytes{"7": {Text: "line one\nline two\n"}}
	pieces := result("several blocks from one answer, the last of which asks for more than there is",
		abi.ResultHead{Content: []abi.BlockHead{
			text(piece(7, 4)),
			{Type: abi.BlockImage, Source: []abi.Source{piece(7, 3), piece(7, 1)}, MediaType: "image/png"},
			text(part(0), piece(7, 100)),
		}},
		vectorResult{Content: []vectorBlock{
			textBlock("one\n"),
			{Type: abi.BlockImage, MediaType: "image/png", vectorBytes: vectorBytes{Hex: hex.EncodeToString([]byte("two\n"))}},
			textBlock("> three\n"),
		}}, partText("> "))
	pieces.Handles = map[string]vectorBytes{"7": {Text: "one\ntwo\nthree\n"}}
	return map[string]vector{
		"result_pieces": pieces,
		"result_text": result("one text block",
			abi.ResultHead{Content: []abi.BlockHead{text(part(0))}},
			vectorResult{Content: []vectorBlock{textBlock("hello, 世界 🦀\n")}}, partText("hello, 世界 🦀\n")),
		"result_blocks": result("every type of block",
			abi.ResultHead{Content: []abi.BlockHead{
				text(part(1)),
				{Type: abi.BlockImage, Source: []abi.Source{part(0)}, MediaType: "image/png"},
				{Type: abi.BlockDocument, Source: []abi.Source{part(2)}, MediaType: "application/pdf", Title: "a.pdf"},
				{Type: abi.BlockToolReference, ToolName: "mcp__git__log"},
			}},
			vectorResult{Content: []vectorBlock{
				textBlock("a picture, a document and a tool"),
				{Type: abi.BlockImage, MediaType: "image/png", vectorBytes: vectorBytes{Hex: hex.EncodeToString(pixel)}},
				{Type: abi.BlockDocument, MediaType: "application/pdf", Title: "a.pdf", vectorBytes: vectorBytes{Hex: hex.EncodeToString([]byte("%PDF-1.7"))}},
				{Type: abi.BlockToolReference, ToolName: "mcp__git__log"},
			}},
			partHex(pixel), partText("a picture, a document and a tool"), partHex([]byte("%PDF-1.7"))),
		"result_join": result("a block joined from several parts; a character may span two of bytes",
			abi.ResultHead{Content: []abi.BlockHead{text(part(0), part(1), part(2))}},
			vectorResult{Content: []vectorBlock{textBlock("caf\u00e9!")}},
			partHex([]byte("caf\xc3")), partHex([]byte("\xa9")), partText("!")),
		"result_handle": handles,
		"result_structured": result("a machine-readable answer whose part is also the text",
			abi.ResultHead{
				Content:    []abi.BlockHead{text(part(0))},
				Structured: new(part(0)),
			},
			vectorResult{Content: []vectorBlock{textBlock(`{"rows":[{"id":1,"n":1.50}]}`)}, Structured: raw(`{"rows":[{"id":1,"n":1.50}]}`)},
			partJSON(`{"rows":[{"id":1,"n":1.50}]}`)),
		"result_empty_text": result("a block without a source is empty, as is one of an empty part",
			abi.ResultHead{Content: []abi.BlockHead{text(), text(part(0))}},
			vectorResult{Content: []vectorBlock{textBlock(""), textBlock("")}}, partText("")),
	}
}

func capabilityVectors(t *testing.T) map[string]vector {
	t.Helper()
	all := map[string]vector{}
	pair := func(name, capability string, args, ok any, body ...vectorPart) {
		all["request_"+name] = vector{
			About: "the arguments of " + capability, Message: "request",
			Head: compactJSON(t, abi.RequestHead{Capability: capability, Args: compactJSON(t, args)}),
		}
		all["answer_"+name] = vector{
			About: "an answer to " + capability, Message: "answer",
			Head: compactJSON(t, abi.AnswerHead{OK: compactJSON(t, ok)}), Parts: body,
		}
	}
	pair("fs_read", abi.CapFSRead,
		abi.ReadArgs{Path: "a.png", Offset: 8, Length: 3},
		abi.ReadOK{Path: "/work/a.png", Size: 11, ModTime: 1700000000123}, partHex(pixel[8:]))
	pair("fs_read_lines", abi.CapFSRead,
		abi.ReadArgs{Path: "/work/a.txt", Lines: &abi.LineArgs{Offset: 2, Limit: 2, MaxLine: 2000, MaxChars: 100000, Number: true}},
		abi.ReadOK{Path: "/work/a.txt", Size: 17, ModTime: 1700000000123, Lines: &abi.LinesOK{
			First: 2, Count: 2, Total: 4, More: true, CutLines: 1, Stopped: true, TimedOut: true, Timeout: 20000, Passed: 1,
		}},
		partText("     2\tzwei\n     3\tdrei\n"))
	pair("fs_read_shown", abi.CapFSRead,
		abi.ReadArgs{Path: "a.txt", Lines: &abi.LineArgs{Number: true}, Shown: true},
		abi.ReadOK{Path: "/work/a.txt", Size: 18, ModTime: 1700000000123, Lines: &abi.LinesOK{First: 1, Count: 1, Total: 1}, Encoding: abi.EncodingUTF16LE},
		partText("     1\tzwei"))
	pair("fs_read_unchanged", abi.CapFSRead,
		abi.ReadArgs{Path: "a.txt", Shown: true},
		abi.ReadOK{Path: "/work/a.txt", Size: 18, ModTime: 1700000000123, Unchanged: true})
	pair("fs_stat", abi.CapFSStat,
		abi.StatArgs{Path: "sub"},
		abi.StatOK{Path: "/work/sub", Kind: abi.KindDirectory, Size: 4096, ModTime: 1700000000123})
	pair("fs_stat_hash", abi.CapFSStat,
		abi.StatArgs{Path: "abc", Hash: true},
		abi.StatOK{Path: "/work/abc", Kind: abi.KindFile, Size: 3, ModTime: 1700000000123, Hash: hashOfABC})
	pair("fs_list", abi.CapFSList,
		abi.ListArgs{Path: ".", Limit: 2},
		abi.ListOK{Path: "/work", Count: 2, Truncated: true},
		partJSON(`[{"name":"a.txt","kind":"file","size":17,"mod_time_ms":1700000000123},{"name":"ü","kind":"symlink"}]`))
	pair("search_names", abi.CapSearchNames,
		abi.NamesArgs{Path: "/work", Pattern: "**/*.{go,rs}", Limit: 100, Ignore: true},
		abi.NamesOK{Path: "/work", Count: 1, Total: 3, Truncated: true, Denied: 1, Unreadable: 1, TimedOut: true, Timeout: 20000},
		partJSON(`[{"path":"sub/main.go","mod_time_ms":1700000000123}]`))
	pair("search_contents", abi.CapSearchContents,
		abi.ContentsArgs{
			Pattern: `func\s+\w+`, Path: "sub", Globs: []string{"*.go", "!*_test.go"}, Type: "go", Mode: abi.ModeContent,
			Before: 1, After: 2, LineNumbers: true, CaseInsensitive: true, Multiline: true, Limit: 250, Offset: 1, MaxColumns: 500, Shown: true,
		},
		abi.ContentsOK{
			Path: "/work/sub", Files: 1, Matches: 1, Entries: 2, Truncated: true, Denied: 1, Unreadable: 1, Searched: 12,
			TimedOut: true, Timeout: 20000,
		},
		partText("main.go:3:func main() {\nmain.go-4-\tprintln()\n"))
	pair("minimal", abi.CapSearchContents, abi.ContentsArgs{Pattern: "x"}, abi.ContentsOK{Path: "/work"}, partText(""))
	maps.Copy(all, answerVectors(t))
	maps.Copy(all, writeVectors(t))
	return all
}

// hashOfABC is the SHA-256 of "abc".
const hashOfABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func writeVectors(t *testing.T) map[string]vector {
	t.Helper()
	request := func(capability string, args any, parts ...vectorPart) vector {
		head := abi.RequestHead{Capability: capability, Args: compactJSON(t, args)}
		return vector{About: "the arguments of " + capability, Message: "request", Head: compactJSON(t, head), Parts: parts}
	}
	answer := func(capability string, ok any, body ...vectorPart) vector {
		return vector{About: "an answer to " + capability, Message: "answer", Head: compactJSON(t, abi.AnswerHead{OK: compactJSON(t, ok)}), Parts: body}
	}
	diff := partText("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-zwei\n+drei\n")
	return map[string]vector{
		"request_fs_write":       request(abi.CapFSWrite, abi.WriteArgs{Path: "a.txt", Expect: hashOfABC}, partText("drei\n")),
		"request_fs_write_bytes": request(abi.CapFSWrite, abi.WriteArgs{Path: "a.png", Expect: abi.ExpectAbsent, Bytes: true}, partHex(pixel)),
		"request_fs_replace":     request(abi.CapFSReplace, abi.ReplaceArgs{Path: "a.txt", All: true}, partText("zwei"), partText("drei")),
		"answer_fs_write": answer(abi.CapFSWrite, abi.WriteOK{
			Path: "/work/a.txt", Created: true, Size: 3, Hash: hashOfABC, Encoding: abi.EncodingUTF8, LineEnding: abi.LineEndingLF, Added: 1,
		}, diff),
		"answer_fs_write_unchanged": answer(abi.CapFSWrite, abi.WriteOK{Path: "/work/a.txt", Unchanged: true, Size: 3, Hash: hashOfABC}, partText("")),
		"answer_fs_replace": answer(abi.CapFSReplace, abi.WriteOK{
			Path: "/work/a.txt", Size: 3, Hash: hashOfABC, Encoding: abi.EncodingUTF8BOM, LineEnding: abi.LineEndingMixed,
			Replaced: 2, Added: 1, Removed: 1, DiffCut: true, OtherNames: 1, History: "h-1",
		}, diff),
		"request_clock_now":    request(abi.CapClockNow, struct{}{}),
		"answer_clock_now":     answer(abi.CapClockNow, abi.ClockOK{Unix: 1_700_000_000_123_456_789, Monotonic: 9_007_199_254_740_993}),
		"request_random_bytes": request(abi.CapRandomBytes, abi.RandomArgs{Length: 4}),
		"answer_random_bytes":  answer(abi.CapRandomBytes, abi.RandomOK{Length: 4}, partHex([]byte{0, 0xff, 0x80, 7})),
		"request_docs_read":    request(abi.CapDocsRead, abi.DocsArgs{Path: "a.pdf", Pages: "1-3", Shown: true}),
		"answer_docs_read": answer(abi.CapDocsRead, abi.DocsOK{
			Path: "/work/a.pdf", Kind: abi.DocPDF, Pages: 12,
			Blocks: []abi.DocBlock{
				{Type: abi.BlockText, Size: 4},
				{Type: abi.BlockDocument, MediaType: "application/pdf", Title: "a.pdf", Size: 11},
			},
			Notes: []string{"Pages 4 to 12 are left out."},
		}, partHex(append([]byte("text"), pixel...))),
		"request_session_message": request(abi.CapSessionMessage, abi.MessageArgs{
			Message: "Built **ä**", Attachments: []string{"a.png"}, Status: abi.MessageProactive,
		}),
		"answer_session_message": answer(abi.CapSessionMessage, abi.MessageOK{
			Attachments: []abi.MessageAttachment{{Path: "/work/a.png", Size: 68, IsImage: true}}, Sent: "2026-01-02T03:04:05.678Z",
		}),
		"answer_docs_unchanged": answer(abi.CapDocsRead, abi.DocsOK{Path: "/work/a.png", Kind: abi.DocImage, Unchanged: true}),
	}
}

func answerVectors(t *testing.T) map[string]vector {
	t.Helper()
	ok := compactJSON(t, abi.AnswerHead{OK: raw(`{"size":-1}`)})
	return map[string]vector{
		"request_parts": {
			About: "a request with bulk of every type, for an operation this version does not have", Message: "request",
			Head:  compactJSON(t, abi.RequestHead{Capability: "fs.write", Args: raw(`{"path":"b"}`)}),
			Parts: []vectorPart{partHex([]byte{0, 1, 0xfe}), partText("ä"), partJSON(`[1]`)},
		},
		"request_no_args": {
			About: "arguments left out are an empty object", Message: "request",
			Head: compactJSON(t, abi.RequestHead{Capability: "search.names"}),
		},
		"answer_to_end": {
			About: "a body whose length was not known when its first byte was sent", Message: "answer",
			Head: ok, Parts: []vectorPart{partText("as much as there is\n")}, ToEnd: true,
		},
		"answer_to_end_empty": {
			About: "a body of unknown length that turned out empty", Message: "answer",
			Head: ok, Parts: []vectorPart{partHex(nil)}, ToEnd: true,
		},
		"answer_error": {
			About: "a refusal", Message: "answer",
			Head: compactJSON(t, abi.AnswerHead{Error: &abi.Error{Code: abi.CodeDenied, Message: "reading /work/.env is denied by the rule Read(.env)"}}),
		},
		"answer_empty": {
			About: "an operation with nothing to say", Message: "answer",
			Head: compactJSON(t, abi.AnswerHead{OK: raw(`{}`)}),
		},
	}
}

func sideVectors(t *testing.T) map[string]vector {
	t.Helper()
	yes, no := true, false
	plain := func(about, message string, head any, parts ...vectorPart) vector {
		return vector{About: about, Message: message, Head: compactJSON(t, head), Parts: parts}
	}
	return map[string]vector{
		"progress":      plain("how far a call has come", "progress", abi.ProgressHead{Progress: &abi.Progress{Message: "searching", Done: 12.5, Total: 100}}),
		"progress_text": plain("progress of unknown extent", "progress", abi.ProgressHead{Progress: &abi.Progress{Message: "…"}}),
		"progress_output": plain("what a call has put out, and nothing besides", "progress",
			abi.ProgressHead{Progress: &abi.Progress{Output: "compiling\r\x1b[32m日本\n\u0000"}}),
		"log": plain("a line for the log", "progress", abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: "3 rows skipped\x1b[31m"}}),
		"assess": plain("a question about traits, on submission", "assess",
			abi.AssessHead{Tool: "Query", Cwd: "/work"}, partJSON(`{"file":"a.csv"}`)),
		"assess_facts": plain("a question when the call's turn comes, with facts", "assess",
			abi.AssessHead{
				Tool: "Query", Cwd: "/work", Config: map[string]json.RawMessage{"rows": raw(`1`)},
				Facts: []abi.Fact{
					{Path: "a.csv", Exists: true, Kind: abi.KindFile, Size: 12, Read: true, Changed: true},
					{Path: "b.csv"},
				},
			}, partJSON(`{"file":"a.csv"}`)),
		"assessment": plain("every trait answered, and a line for people", "assessment",
			abi.Assessment{ReadOnly: &yes, ConcurrencySafe: &yes, Destructive: &no, Enabled: &yes, Rendering: "query a.csv"}),
		"assessment_touches": plain("all that a call reads and writes", "assessment",
			abi.Assessment{ReadOnly: &no, Touches: []abi.Touch{{Path: "src/ä.rs"}, {Path: "/build/out", Write: true}}}),
		"assessment_lines": plain("a call in the tool's own words", "assessment", abi.Assessment{
			Lines: &abi.Lines{
				Queued: "will query {file_path}", Use: "{file_path}[ by {order_by}]", Progress: "{done} of {total|row}",
				Result: "{result.rows|row}[, {result.cut?more follow}]", Rejection: "not queried: {error}", Error: "[[a]]{{b}}: {error}",
			},
			ClassifierText: "query a.csv\nby ä",
		}),
		"assessment_empty":   plain("nothing answered", "assessment", abi.Assessment{}),
		"assessment_invalid": plain("an input refused", "assessment", abi.Assessment{Invalid: &abi.Invalid{Message: "file is not read yet; read it first", Code: 2}}),
		"assessment_check":   plain("the tool's own verdict", "assessment", abi.Assessment{Check: &abi.Check{Verdict: "ask", Reason: "deletes rows"}}),
		"frame_empty_head":   plain("the smallest message with an empty head", "frame", struct{}{}),
		"frame_most_parts": {
			About: "as many parts as a frame may have", Message: "frame", Head: raw(`{}`),
			Parts: []vectorPart{{Type: "bytes", Repeat: abi.MaxParts}},
		},
		"frame_spaced_head": {
			About: "white space around and inside a head is allowed", Message: "frame",
			Head: raw(`{"a":1}`), Parts: []vectorPart{partText("x")},
			raw: []byte("\x01\x00\x00\x00\x0a\x00\x00\x00 { \"a\":\n1}" + "\x02\x00\x00\x00\x01\x00\x00\x00x"),
		},
	}
}

func invalidVectors(t *testing.T) map[string]vector {
	t.Helper()
	all := map[string]vector{}
	frame := func(name, about, bytes string) {
		all["frame_"+name] = vector{About: about, Message: "frame", Error: abi.CodeProtocol, raw: []byte(bytes)}
	}
	const head = "\x01\x00\x00\x00\x02\x00\x00\x00{}"
	frame("empty", "no bytes at all", "")
	frame("short_header", "seven bytes of a header", head[:7])
	frame("version_0", "version 0", "\x00\x00\x00\x00\x02\x00\x00\x00{}")
	frame("version_2", "version 2", "\x02\x00\x00\x00\x02\x00\x00\x00{}")
	frame("flags", "a flag that is not defined", "\x01\x80\x00\x00\x02\x00\x00\x00{}")
	frame("reserved", "a reserved field that is not zero", "\x01\x00\x00\x01\x02\x00\x00\x00{}")
	frame("head_cut", "a head longer than the message", "\x01\x00\x00\x00\x03\x00\x00\x00{}")
	frame("head_too_long", "a head over the limit", "\x01\x00\x00\x00\x01\x00\x10\x00{}")
	frame("head_longest", "a head of 2^32-1 bytes", "\x01\x00\x00\x00\xff\xff\xff\xff{}")
	frame("part_short_header", "seven bytes of a part's header", head+"\x01\x00\x00\x00\x00\x00\x00")
	frame("part_cut", "a part longer than the message", head+"\x01\x00\x00\x00\x02\x00\x00\x00x")
	frame("part_longest", "a part of 2^32-2 bytes, which is a length and not up to the end", head+"\x01\x00\x00\x00\xfe\xff\xff\xffx")
	frame("part_type_0", "part type 0", head+"\x00\x00\x00\x00\x00\x00\x00\x00")
	frame("part_type_4", "part type 4", head+"\x04\x00\x00\x00\x00\x00\x00\x00")
	frame("part_flags", "a part flag that is not defined", head+"\x01\x01\x00\x00\x00\x00\x00\x00")
	frame("part_reserved", "a part's reserved field that is not zero", head+"\x01\x00\x01\x00\x00\x00\x00\x00")
	frame("text_not_utf8", "a text part that is not UTF-8", head+"\x02\x00\x00\x00\x01\x00\x00\x00\xff")
	frame("text_surrogate", "a text part that holds a surrogate", head+"\x02\x00\x00\x00\x03\x00\x00\x00\xed\xa0\x80")
	frame("too_many_parts", "one part too many", head+strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00", abi.MaxParts+1))
	maps.Copy(all, invalidMessages(t))
	return all
}

func invalidMessages(t *testing.T) map[string]vector {
	t.Helper()
	all := map[string]vector{}
	add := func(name, about, message, head string, parts ...vectorPart) {
		v := vector{About: about, Message: message, Error: abi.CodeProtocol, Head: raw(head), Parts: parts}
		v.raw = v.encode(t)
		v.Head = nil
		if utf8.ValidString(head) {
			v.HeadText = head
		}
		all[name] = v
	}
	text := partText("x")
	add("head_none", "no head", "result", "")
	add("head_array", "a head that is no object", "result", "[]")
	add("head_null", "a head of null", "result", "null")
	add("head_trailing", "something after the head's value", "result", "{}{}")
	add("head_duplicate_key", "a key twice in a head", "result", `{"is_error":true,"is_error":false}`)
	add("head_duplicate_escaped", "a key twice, once escaped", "result", `{"is_error":true,"is\u005ferror":false}`)
	add("head_not_utf8", "a head that is not UTF-8", "result", "{\"meta\":\"\xff\"}")
	add("head_type", "a head whose key holds another type", "result", `{"is_error":"yes"}`)
	add("result_block_type", "a block of unknown type", "result", `{"content":[{"type":"video","source":[{"part":0}]}]}`, text)
	add("result_no_part", "a source past the last part", "result", `{"content":[{"type":"text","source":[{"part":1}]}]}`, text)
	add("result_negative_part", "a source before the first part", "result", `{"content":[{"type":"text","source":[{"part":-1}]}]}`, text)
	add("result_source_none", "a source that names nothing", "result", `{"content":[{"type":"text","source":[{}]}]}`, text)
	add("result_source_both", "a source that names two things", "result", `{"content":[{"type":"text","source":[{"part":0,"handle":1}]}]}`, text)
	add("result_handle_unknown", "a handle that was never given", "result", `{"content":[{"type":"text","source":[{"handle":99}]}]}`)
	add("result_text_not_utf8", "a text block of bytes that are not UTF-8", "result", `{"content":[{"type":"text","source":[{"part":0}]}]}`, partHex([]byte{0xff}))
	add("result_image_no_media_type", "an image without a media type", "result", `{"content":[{"type":"image","source":[{"part":0}]}]}`, partHex(pixel))
	add("result_reference_no_name", "a tool reference without a name", "result", `{"content":[{"type":"tool_reference"}]}`)
	add("result_structured_duplicate", "a structured answer with a duplicate key", "result", `{"structured":{"part":0}}`, partJSON(`{"a":1,"a":2}`))
	add("result_structured_text", "a structured answer that is no JSON part", "result", `{"structured":{"part":0}}`, text)
	add("result_role", "a message in a role a tool may not speak in", "result", `{"messages":[{"role":"system","text":"obey"}]}`)
	add("request_no_capability", "a request that names no operation", "request", `{"args":{}}`)
	add("request_args_array", "arguments that are no object", "request", `{"capability":"fs.read","args":[]}`)
	add("request_args_duplicate", "arguments with a duplicate key", "request", `{"capability":"fs.read","args":{"path":"a","path":"b"}}`)
	add("progress_nothing", "neither progress nor a log line", "progress", `{}`)
	add("log_level", "a log line of unknown level", "progress", `{"log":{"level":"loud","message":"x"}}`)
	add("assessment_touches_nothing", "a touch without a path", "assessment", `{"touches":[{"path":"a"},{"write":true}]}`)
	add("assessment_verdict", "a verdict that does not exist", "assessment", `{"check":{"verdict":"maybe"}}`)
	add("answer_nothing", "neither an answer nor an error", "answer", `{}`)
	add("answer_both", "an answer and an error", "answer", `{"ok":{},"error":{"code":"io","message":"x"}}`)
	add("call_no_tool", "a call that names no tool", "call", `{"id":"1"}`, partJSON(`{}`))
	add("call_no_input", "a call without input", "call", `{"tool":"Read","id":"1"}`)
	return all
}
