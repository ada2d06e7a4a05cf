package settings_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares a value, as JSON, with a file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s: %v; got:\n%s", name, err, got)
	}
}

func readTestdata(tb testing.TB, name string) []byte {
	tb.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func TestParse(t *testing.T) {
	t.Parallel()
	f, err := settings.Parse(permissions.SourcePolicy, "full.toml", readTestdata(t, "full.toml"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "full.toml.golden", f)
}

func TestParseClaude(t *testing.T) {
	t.Parallel()
	f, err := settings.ParseClaude(permissions.SourceProject, ".claude/settings.json", readTestdata(t, "claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "claude.json.golden", f)
}

const (
	policy  = permissions.SourcePolicy
	project = permissions.SourceProject
	user    = permissions.SourceUser
)

func TestParseFaults(t *testing.T) {
	t.Parallel()
	const usual = "provider = 'openai'\nmodel = 'm'\n"
	tests := map[string]struct {
		kind       permissions.SourceKind
		text, want string
	}{
		"all at once": {user, "[permissions]\ndenny = []\nmode = 3\nask = [1]\nadditional_directories = 'x'\n[hooks]\nPreToolUse = [{}]\n",
			"f: line 2: permissions.denny: unknown key; did you mean \"deny\"?\n" +
				"f: line 3: permissions.mode: found the integer 3, expected a string\n" +
				"f: line 4: permissions.ask[0]: found the integer 1, expected a string or a table\n" +
				"f: line 5: permissions.additional_directories: found the string \"x\", expected an array, each element a string\n" +
				"f: line 7: hooks.PreToolUse[0].command: the hook has no command; write a line for the shell, or an array of program and arguments"},
		"mode":               {user, "[permissions]\n\nmode = 'plain'\n", `f: line 3: permissions.mode: unknown mode "plain"`},
		"no mode":            {user, "permissions.mode = ''\n", `f: line 1: permissions.mode: unknown mode ""`},
		"syntax":             {user, "[permissions]\nmode = default\n", "f: line 2: "},
		"duplicate":          {user, "[permissions]\ndeny = []\ndeny = []\n", "f: line 3: "},
		"UTF-16":             {user, "\xff\xfe[\x00", "f: line 1: it is written in UTF-16; save it as UTF-8"},
		"UTF-16, big":        {user, "\xfe\xff\x00[", "f: line 1: it is written in UTF-16; save it as UTF-8"},
		"two marks":          {user, "\xef\xbb\xbf\xef\xbb\xbfdeny = 1", "f: line 1: the document starts with a byte order mark"},
		"Latin-1":            {user, "[permissions]\ndeny = ['\xe9']\n", "f: line 2: not valid UTF-8"},
		"large":              {user, strings.Repeat("#", stricttoml.MaxSize+1), "f: the document has 1048577 bytes"},
		"key in no table":    {user, "deny = []\n", "f: line 1: deny: unknown key"},
		"no rule":            {user, "[permissions]\ndeny = [\n{match = ['a']}]\n", "f: line 3: permissions.deny[0]: it has no rule"},
		"rule's key":         {user, "[permissions]\nallow = [{rule = 'A', expire = 1}]\n", `f: line 2: permissions.allow[0].expire: unknown key; did you mean "expires"?`},
		"local expiry":       {user, "[permissions]\nallow = [{rule = 'A', expires = 2027-01-01T00:00:00}]\n", "f: line 2: permissions.allow[0].expires: it lacks an offset"},
		"date of expiry":     {user, "[permissions]\nallow = [{rule = 'A', expires = 2027-01-01}]\n", "f: line 2: permissions.allow[0].expires: it lacks an offset"},
		"text of expiry":     {user, "[permissions]\nallow = [{rule = 'A', expires = 'soon'}]\n", "permissions.allow[0].expires: "},
		"isolation":          {user, "[plugins]\nisolation = 'thread'\n", `f: line 2: plugins.isolation: "thread" is not known; write one of sandbox, process`},
		"isolation misspelt": {user, "[plugins]\nisolaton = 'process'\n", `f: line 2: plugins.isolaton: unknown key; did you mean "isolation"?; a plugin is configured in a table [plugins.NAME]`},
		"isolation a number": {user, "[plugins]\nisolation = 1\n", `f: line 2: plugins.isolation: expected a string`},
		"plugin's array":     {user, "[plugins.weather]\nb = 1\na = [1]\n", `f: line 3: plugins.weather.a: a value is a string, a number or a boolean`},
		"plugin's table":     {user, "[plugins.weather]\nserver.url = ''\n", `f: line 2: plugins.weather.server: a value is a string, a number or a boolean; a name with dots is written in quotes`},
		"plugin's infinity":  {user, "[plugins.weather]\na = inf\n", `f: line 2: plugins.weather.a: `},
		"empty isolation":    {user, "[plugins]\nisolation = ''\n", `f: line 2: plugins.isolation: "" is not known`},
		"policy's in user":   {user, "[permissions]\nonly_policy_rules = true\n", "f: line 2: permissions.only_policy_rules: only a policy may say this, and this is the user's file"},
		"policy's in local":  {permissions.SourceProjectLocal, "permissions.forbid_modes = []", "f: line 1: permissions.forbid_modes: only a policy may say this, and this is the project-local's file"},
		"log in project":     {project, "[log]\nfile = '/x'\n", "f: line 1: log: a project has no say in this"},
		"forbidden mode":     {policy, "[permissions]\nforbid_modes = ['plan', 'x']\n", `f: line 2: permissions.forbid_modes[1]: unknown mode "x"`},
		"both asked":         {project, "approvals.timeout = 3\n", "f: line 1: approvals: a project has no say in this"},

		"event":           {user, "[[hooks.PreToolUs]]\ncommand = 'x'\n", `f: line 1: hooks.PreToolUs: unknown key; did you mean "PreToolUse"?`},
		"empty line":      {user, "[[hooks.PreToolUse]]\ncommand = ''\n", "f: line 2: hooks.PreToolUse[0].command: the command is empty"},
		"empty array":     {user, "[[hooks.PreToolUse]]\ncommand = []\n", "f: line 2: hooks.PreToolUse[0].command: the command names no program"},
		"empty program":   {user, "[[hooks.PreToolUse]]\ncommand = ['', 'a']\n", "f: line 2: hooks.PreToolUse[0].command: the command names no program"},
		"NUL":             {user, "[[hooks.PreToolUse]]\ncommand = [\"a\\u0000\"]\n", "f: line 2: hooks.PreToolUse[0].command: it holds a NUL"},
		"command's type":  {user, "[[hooks.PreToolUse]]\ncommand = 1\n", "f: line 2: hooks.PreToolUse[0].command: found the integer 1, expected a string or an array, each element a string"},
		"no time":         {user, "[[hooks.PreToolUse]]\ncommand = 'x'\ntimeout = 0\n", "f: line 3: hooks.PreToolUse[0].timeout: 0s is not over 0 and up to 10m0s"},
		"much time":       {user, "[[hooks.PreToolUse]]\ncommand = 'x'\ntimeout = '1h'\n", "f: line 3: hooks.PreToolUse[0].timeout: 1h0m0s is not"},
		"vast time":       {user, "[[hooks.PreToolUse]]\ncommand = 'x'\ntimeout = 9223372036854775807\n", "f: line 3: hooks.PreToolUse[0].timeout: "},
		"time's form":     {user, "[[hooks.PreToolUse]]\ncommand = 'x'\ntimeout = 'soon'\n", `f: line 3: hooks.PreToolUse[0].timeout: "soon" is no span of time`},
		"hook's variable": {user, "[[hooks.PreToolUse]]\ncommand = 'x'\nenv = ['A', 'B=C']\n", `f: line 3: hooks.PreToolUse[0].env[1]: "B=C" is no name`},
		"matcher":         {user, "[[hooks.PreToolUse]]\ncommand = 'x'\nmatcher = \"a\\nb\"\n", "f: line 3: hooks.PreToolUse[0].matcher: it holds a control character"},

		"empty judge":   {user, "[judge]\n", "f: line 1: judge.provider: a judge needs this\nf: line 1: judge.model: a judge needs this"},
		"provider":      {user, "[judge]\nprovider = 'x'\nmodel = ''\n", "f: line 2: judge.provider: \"x\" is not known; write one of anthropic, openai\nf: line 3: judge.model: it is empty"},
		"clear text":    {user, "[judge]\n" + usual + "base_url = 'http://example.com'\n", "f: line 4: judge.base_url: it sends the key in the clear"},
		"no URL":        {user, "[judge]\n" + usual + "base_url = 'example.com'\n", "f: line 4: judge.base_url: it is no URL"},
		"file URL":      {user, "[judge]\n" + usual + "base_url = 'file:///x'\n", "f: line 4: judge.base_url: it is no URL"},
		"password":      {user, "[judge]\n" + usual + "base_url = 'https://u:hush@example.com'\n", "f: line 4: judge.base_url: it has a user"},
		"key":           {user, "[judge]\n" + usual + "api_key_env = 'sk-hush-123'\n", "f: line 4: judge.api_key_env: this is no name of an environment variable; name the variable"},
		"plain key":     {user, "[judge]\n" + usual + "api_key_env = 'hush4567890abcdefABCDEF'\n", "f: line 4: judge.api_key_env: this is no name"},
		"key with line": {user, "[judge]\n" + usual + "api_key_env = 'sk_hush_4567890abcdefABCDEF'\n", "f: line 4: judge.api_key_env: this is no name"},
		"key's key":     {user, "[judge]\n" + usual + "api_key = 'hush'\n", "f: line 4: judge.api_key: unknown key"},
		"tokens":        {user, "[judge]\n" + usual + "max_tokens = 0\n", "f: line 4: judge.max_tokens: 0 is not from 1 to 65536"},
		"relative log":  {user, "[log]\ndirectory = 'x.log'\n", `f: line 2: log.directory: "x.log" is not an absolute path`},
		"always":        {user, "[approvals]\nalways_to = 'policy'\ntimeout = -1\n", "f: line 2: approvals.always_to: \"policy\" is not known; write one of session, project-local, project, user, none\nf: line 3: approvals.timeout: -1s is less than no time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := settings.Parse(tt.kind, "f", []byte(tt.text))
			if err == nil || f != nil {
				t.Fatalf("no error: %+v", f)
			}
			if got := err.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "hush") {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestManyFaultsAreCut(t *testing.T) {
	t.Parallel()
	text := "[hooks]\nPreToolUse = [" + strings.Repeat("{},\n", 5000) + "]\n"
	_, err := settings.Parse(user, "f", []byte(text))
	if err == nil || strings.Count(err.Error(), "\n") != 100 || !strings.HasSuffix(err.Error(), "and more faults") {
		t.Errorf("%v", err)
	}
}

func TestParseClaudeFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"all at once": {"{\"permissions\": {\n\"allow\": 1,\n\"deny\": [\"A\",\n2, {}],\n\"ask\": [null],\n\"defaultMode\": \"x\",\n\"additionalDirectories\": \"y\"}}",
			"f: line 2: permissions.allow: found a number, expected an array of strings\n" +
				"f: line 4: permissions.deny[1]: found a number, expected a string\n" +
				"f: line 4: permissions.deny[2]: found an object, expected a string\n" +
				"f: line 5: permissions.ask[0]: found null, expected a string\n" +
				"f: line 6: permissions.defaultMode: unknown mode \"x\""},
		"empty":      {"", "f: line 1: the document ends where a value was expected"},
		"not object": {"[]", "f: line 1: found an array, expected an object"},
		"duplicate":  {"{\"permissions\": {\"deny\": [],\n\"den\\u0079\": []}}", "f: line 2: permissions"},
		"comment":    {"{\n// no\n}", "f: line 2: "},
		"trailing":   {"{\"permissions\": {\"deny\": [\"A\",\n]}}", "f: line 2: permissions.deny[1]: "},
		"more":       {"{}\n{}", "f: line 2: "},
		"nesting":    {strings.Repeat("[", 1000), "nested deeper than 256"},
		"mode":       {"{\"permissions\": {\"defaultMode\": true}}", "f: line 1: permissions.defaultMode: found a boolean, expected a string"},
		"table":      {"{\"permissions\": []}", "f: line 1: permissions: found an array, expected an object"},
		"large":      {strings.Repeat(" ", stricttoml.MaxSize+1), "f: it has 1048577 bytes; at most 1048576 are read"},
		"UTF-16":     {"\xff\xfe{\x00", "f: line 1: it is written in UTF-16"},
		"not UTF-8":  {"{\"a\":\n\"\xff\"}", "f: line 2: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := settings.ParseClaude(project, "f", []byte(tt.text))
			if err == nil || f != nil {
				t.Fatalf("no error: %+v", f)
			}
			if got := err.Error(); !strings.Contains(got, tt.want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestNotesAreShort(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, ",\"k%d\\u001b%s\": 1", i, strings.Repeat("x", 100))
	}
	f, err := settings.ParseClaude(user, "f", []byte("{"+text.String()[1:]+"}"))
	if err != nil || len(f.Notes) != 1 || len(f.Notes[0].Message) > 2000 || !strings.HasSuffix(f.Notes[0].Message, ", and 4980 more") ||
		strings.Contains(f.Notes[0].Message, "\x1b") {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestMarkIsPassedOver(t *testing.T) {
	t.Parallel()
	const note = "user, f:1: it starts with a byte order mark, which is passed over"
	f, err := settings.Parse(user, "f", []byte("\xef\xbb\xbf[permissions]\ndeny = ['Bash']\n"))
	if err != nil || len(f.Deny) != 1 || f.Deny[0].Line != 2 || len(f.Notes) != 1 || f.Notes[0].String() != note {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = settings.ParseClaude(user, "f", []byte("\xef\xbb\xbf{\"permissions\":\r\n{\"deny\": [\"Bash\"]}}"))
	if err != nil || len(f.Deny) != 1 || f.Deny[0].Line != 2 || len(f.Notes) != 1 || f.Notes[0].String() != note {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestLoopbackJudgeNeedsNoHTTPS(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://localhost:8080/v1", "http://127.0.0.1:1", "http://[::1]:1/", "https://example.com/v1"} {
		f, err := settings.Parse(user, "f", []byte("[judge]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '"+url+"'\n"))
		if err != nil || f.Judge.BaseURL.String() != url || f.Judge.Timeout != settings.DefaultJudgeTimeout ||
			f.Judge.MaxTokens != settings.DefaultJudgeMaxTokens {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(readTestdata(f, "full.toml")))
	f.Add("\xef\xbb\xbfpermissions.deny = ['Read(a)', {rule = 'B', expires = 2027-01-01}]\npermissions.mode = 'x'")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []permissions.SourceKind{policy, project, user} {
			file, err := settings.Parse(kind, "f", []byte(text))
			if (file == nil) == (err == nil) {
				t.Fatalf("%v, %v", file, err)
			}
			if err == nil {
				checkLines(t, file, text)
			}
		}
	})
}

func FuzzParseClaude(f *testing.F) {
	f.Add(string(readTestdata(f, "claude.json")))
	f.Add("\xef\xbb\xbf{\"permissions\":{\"deny\":[\"\\u0041\"]},\"\\u2028\":[{\"a\":-0e1}]}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := settings.ParseClaude(user, "f", []byte(text))
		if (file == nil) == (err == nil) {
			t.Fatalf("%v, %v", file, err)
		}
		if err == nil {
			checkLines(t, file, text)
		}
	})
}

// checkLines wants each rule to have a line of the text.
func checkLines(t *testing.T, f *settings.File, text string) {
	t.Helper()
	most := 1 + strings.Count(text, "\n")
	for _, rules := range [][]settings.Rule{f.Deny, f.Ask, f.Allow} {
		last := 1
		for _, r := range rules {
			if r.Line < last || r.Line > most {
				t.Fatalf("the rule %q is in line %d of %d, after one in %d", r.Text, r.Line, most, last)
			}
			last = r.Line
		}
	}
}
