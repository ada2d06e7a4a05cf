package abi_test

import (
	"encoding/hex"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// canonicalCase is one entry of testdata/canonical.json.
type canonicalCase struct {
	About  string   `json:"about"`
	In     string   `json:"in,omitempty"`
	InHex  string   `json:"in_hex,omitempty"`
	Out    string   `json:"out,omitempty"`
	Error  abi.Code `json:"error,omitempty"`
	Path   string   `json:"path,omitempty"`
	Offset *int     `json:"offset,omitempty"`
}

func (c canonicalCase) input() []byte {
	if c.InHex == "" {
		return []byte(c.In)
	}
	b, err := hex.DecodeString(c.InHex)
	if err != nil {
		panic(err)
	}
	return b
}

func refused(about, in, path string, offset int) canonicalCase {
	return canonicalCase{About: about, In: in, Error: abi.CodeInvalidInput, Path: path, Offset: &offset}
}

func refusedBytes(about, in, path string, offset int) canonicalCase {
	c := refused(about, "", path, offset)
	c.InHex = hex.EncodeToString([]byte(in))
	return c
}

var canonicalAccepted = []canonicalCase{
	{About: "keys are sorted, white space goes", In: " { \"b\" : 1 ,\t\"a\" : [ ] ,\r\n \"aa\" : { } } ", Out: `{"a":[],"aa":{},"b":1}`},
	{About: "inside too, and the order of arrays stays", In: `[{"y":{"d":1,"c":2},"x":3},2,1]`, Out: `[{"x":3,"y":{"c":2,"d":1}},2,1]`},
	{About: "keys sort by bytes, not by letters", In: `{"é":1,"z":2,"Z":3,"":4,"~":5,"🦀":6,"｡":7}`, Out: `{"":4,"Z":3,"z":2,"~":5,"é":1,"｡":7,"🦀":6}`},
	{About: "keys sort unescaped: a quotation mark before a letter, a line feed before a space", In: `{"a":1,"\"":2," ":3,"\n":4,"\\":5}`, Out: `{"\n":4," ":3,"\"":2,"\\":5,"a":1}`},
	{About: "a key that is the start of another comes first", In: `{"ab":1,"a":2,"a\n":3}`, Out: `{"a":2,"a\n":3,"ab":1}`},
	{About: "numbers stay as they were written", In: `[1e2,-0,0.10,1E+400,-1.5e-7,9007199254740993,123456789012345678901234567890]`, Out: `[1e2,-0,0.10,1E+400,-1.5e-7,9007199254740993,123456789012345678901234567890]`},
	{About: "only what must be is escaped", In: `"\u0041\/\u00e9\u2028<>&\u007f"`, Out: "\"A/é\u2028<>&\u007f\""},
	{About: "control characters take their short form where there is one", In: `"\u0008\u000c\u000a\u000d\u0009\u0000\u001F\u0022\u005c"`, Out: `"\b\f\n\r\t\u0000\u001f\"\\"`},
	{About: "surrogate pairs become one character", In: `"\ud83e\udd80\uD834\uDD1E"`, Out: `"🦀𝄞"`},
	{About: "scalars may stand alone", In: " true\n", Out: `true`},
	{About: "null is a value", In: `null`, Out: `null`},
	{About: "characters that are no characters are still UTF-8", In: "\"\uffff\U0010ffff\\uffff\"", Out: "\"\uffff\U0010ffff\uffff\""},
	{About: "nesting of 256", In: strings.Repeat("[", 256) + strings.Repeat("]", 256), Out: strings.Repeat("[", 256) + strings.Repeat("]", 256)},
}

var canonicalRefused = []canonicalCase{
	refused("a key twice", `{"a":1,"b":2,"a":3}`, "a", 13),
	refused("a key twice, deep inside", `{"edits":[{},{},{"old_string":"x","new_string":"y","old_string":"z"}]}`, "edits[2].old_string", 51),
	refused("a key twice, once escaped", `{"a":1,"\u0061":2}`, "a", 7),
	refused("the first of two duplicates is named", `{"b":1,"a":1,"b":2,"a":2}`, "b", 13),
	refused("nothing", ``, "", 0),
	refused("white space alone", "  ", "", 2),
	refused("something after the value", `{"a":1} x`, "", 8),
	refused("two values", `1 2`, "", 2),
	refused("an object that does not end", `{"a":{"b":1`, "a", 11),
	refused("a comma too many in an object", `{"a":1,}`, "", 7),
	refused("a comma too many in an array", `{"a":[1,]}`, "a[1]", 8),
	refused("a comma missing", `[1 2]`, "", 3),
	refused("a colon missing", `{"a" 1}`, "a", 5),
	refused("a key that is no string", `{a:1}`, "", 1),
	refused("single quotes", `{'a':1}`, "", 1),
	refused("a word that is none", `{"a":[true,nul]}`, "a[1]", 11),
	refused("a number that is none", `{"n":NaN}`, "n", 5),
	refused("infinity", `[-Infinity]`, "[0]", 2),
	refused("a leading zero", `[01]`, "[0]", 2),
	refused("a leading plus", `[+1]`, "[0]", 1),
	refused("a fraction without digits", `[1.]`, "[0]", 3),
	refused("an exponent without digits", `[1e+]`, "[0]", 4),
	refused("a string that does not end", `{"a":"bc`, "a", 8),
	refused("a raw control character", "[\"a\nb\"]", "[0]", 3),
	refused("an unknown escape", `["a\x41"]`, "[0]", 3),
	refused("an escape cut short", `["\u12"]`, "[0]", 2),
	refused("a lone high surrogate", `["ab\ud83e"]`, "[0]", 4),
	refused("a lone low surrogate", `["\udd80"]`, "[0]", 2),
	refused("two high surrogates", `["\ud83e\ud83e"]`, "[0]", 2),
	refused("a surrogate in a key", `{"\ud83e":1}`, "", 2),
	refused("a comment", "{\"a\":1 // one\n}", "", 7),
	refused("nesting of 257", strings.Repeat("[", 257)+strings.Repeat("]", 257), strings.Repeat("[0]", 256), 256),
	refusedBytes("a byte that is no UTF-8", "{\"a\":[\"x\xffy\"]}", "a[0]", 8),
	refusedBytes("a surrogate in UTF-8", "\"\xed\xa0\x80\"", "", 1),
	refusedBytes("an overlong form", "[\"\xc0\xaf\"]", "[0]", 2),
	refusedBytes("a character cut short", "\"abc\xe2\x82\"", "", 4),
	refusedBytes("a byte order mark", "\xef\xbb\xbf{}", "", 0),
	refusedBytes("a key that is no UTF-8", "{\"\xff\":1}", "", 2),
	refusedBytes("an NBSP for a space", "{\u00a0}", "", 1),
}
