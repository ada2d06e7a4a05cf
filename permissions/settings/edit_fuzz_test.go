package settings

import (
	"reflect"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// fuzzEdit adds a rule to a body that parses and takes it out again. What is
// refused is no fault; what is done must be exact.
func fuzzEdit(t *testing.T, format language, body []byte, list permissions.Verdict, rule Rule) {
	t.Helper()
	file, err := format.parse(permissions.SourceUser, "f", body)
	if err != nil || checkRule(list, rule) != nil {
		return
	}
	w := writable{kind: permissions.SourceUser, path: "f", format: format, body: body, file: file}
	before := bare(w.list(list))
	if slices.ContainsFunc(before, rule.same) {
		return
	}
	if added, err := w.add(list, rule); err != nil || !added {
		return
	}
	if got, want := bare(w.list(list)), append(slices.Clone(before), rule); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: the list is %v, not %v", w.body, got, want)
	}
	if !inOrder(body, w.body) {
		t.Fatalf("%q lost something: %q", body, w.body)
	}
	others := func(f *File) [][]Rule {
		out := [][]Rule{bare(f.Deny), bare(f.Ask), bare(f.Allow)}
		return slices.Delete(out, int(permissions.Deny-list), int(permissions.Deny-list)+1)
	}
	if !reflect.DeepEqual(others(file), others(w.file)) {
		t.Fatalf("%q: other lists changed", w.body)
	}
	grown := w.body
	if removed, err := w.remove(list, rule.Text); err != nil || !removed {
		t.Fatalf("%q: %t, %v", grown, removed, err)
	}
	if !inOrder(w.body, grown) {
		t.Fatalf("%q gained something: %q", grown, w.body)
	}
}

// bare are rules wherever they stand.
func bare(rules []Rule) []Rule {
	out := []Rule{}
	for _, r := range rules {
		r.Line = 0
		out = append(out, r)
	}
	return out
}

// inOrder reports whether all of a stands in b in order.
func inOrder(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}

func FuzzEditTOML(f *testing.F) {
	for _, body := range []string{
		"", "# c", "[permissions]\r\ndeny = [ 'a', # ]\r\n]\r\n", "permissions.allow=['x',]\npermissions.ask=[]",
		"permissions={deny=[{rule='x'}]}", "[[permissions.deny]]\nrule='''\nx'''\n[permissions]\n[plugins]",
		"[permissions]\n  allow = [\n # c\n 'a'\n , \"\"\"b\"\"\" ] # d", "['permissions']\n\"a\\u006clow\" = [[\n",
	} {
		f.Add(body, "Bash(x)", uint8(3))
		f.Add(body, "A\"\\", uint8(1))
	}
	f.Fuzz(func(t *testing.T, body, rule string, list uint8) {
		fuzzEdit(t, tomlText{}, []byte(body), permissions.Verdict(list%3)+permissions.Allow, Rule{Text: rule})
	})
}

func FuzzEditJSON(f *testing.F) {
	for _, body := range []string{
		"{}", `{"permissions":{"allow":[]}}`, "{\n\t\"a\" : [ ] , \"permissions\":{\n}}", "{\"permissions\":{\"deny\":[\"a\",\r\n\"\\\"\"]\n,\"x\":1e5}}",
	} {
		f.Add(body, "Bash(x)", uint8(3))
		f.Add(body, "A\"\\", uint8(1))
	}
	f.Fuzz(func(t *testing.T, body, rule string, list uint8) {
		fuzzEdit(t, jsonText{}, []byte(body), permissions.Verdict(list%3)+permissions.Allow, Rule{Text: rule})
	})
}
