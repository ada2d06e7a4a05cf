package stricttoml

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// seeds are documents whose strings, keys and layout are hard to tell apart.
var seeds = []string{
	"a = 1 # [not] = a table\n[b]\nc = 'd'\n",
	"a = \"\"\"\nx = 1\n[y]\n\\\"\"\" z\"\"\"\"\"\nb = '''\n[q]'''\nc = 2\n",
	"\"a.b\".'c d'.\"\\u00e9\\n\" = [ {x = 1, y.z = [2]}, # no\n  {}, ]\n",
	"[[a]]\n[[a.b]]\nc = 1\n[[a.b]]\n[a.b.d]\ne = 2\n[[a]]\n[a.f]\n",
	"[a.b]\n[a]\nc=[[],[[1]],\n]\r\nd = {}\r\n",
	"t = 07:32:00\nd = 2026-01-02 03:04:05Z\nf = -1e+3\nn = nan\n",
	"x = {a = 1,\n # note\n b = [\n]\n}\n[\"\"]\n'' = \"\\\\\"\n",
	"a = \"\\e\\x41\"\n\"\\x41\" = 1\n",
}

// sameShape fails where the index and the parser do not see the same values.
func sameShape(t *testing.T, v any, n *node, path string) {
	t.Helper()
	if n == nil {
		t.Fatalf("the index lacks %s", path)
	}
	if values, ok := v.(map[string]any); ok {
		if len(values) != len(n.kids) {
			t.Fatalf("%s: %d keys, indexed %d", path, len(values), len(n.kids))
		}
		for key, kid := range values {
			sameShape(t, kid, n.kids[key], path+"."+key)
		}
		return
	}
	elems, _ := elements(v)
	if len(elems) != len(n.elems) {
		t.Fatalf("%s: %d elements, indexed %d", path, len(elems), len(n.elems))
	}
	for i, elem := range elems {
		sameShape(t, elem, n.elems[i], path+"[]")
	}
}

func TestIndexSeesWhatTheParserSees(t *testing.T) {
	t.Parallel()
	for _, src := range seeds {
		values, fault := parse([]byte(src))
		if fault != nil {
			t.Errorf("%q: %v", src, fault)
			continue
		}
		sameShape(t, values, index([]byte(src)), "")
	}
}

func TestPathsFindTheirWayBack(t *testing.T) {
	t.Parallel()
	doc := &Document{root: index([]byte("\n\"a.b\".'c \"d' = [1,\n2]\n"))}
	at := spot{node: doc.root}.key("a.b").key(`c "d`).index(1)
	if got := at.String(); got != `"a.b"."c \"d"[1]` || !doc.Has(got) || doc.Line(got) != 3 {
		t.Errorf("%s: line %d", got, doc.Line(got))
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Add("a = [[[[[[")
	f.Fuzz(func(t *testing.T, src string) {
		var into struct {
			A any            `toml:"a"`
			B map[string]any `toml:"b"`
			C []struct {
				D string `toml:"d"`
			} `toml:"c"`
		}
		_, faults := Decode([]byte(src), &into)
		var values map[string]any
		_, err := toml.Decode(src, &values)
		if len(faults) == 0 && err != nil {
			t.Fatalf("accepted what the parser refuses: %v", err)
		}
		if err != nil || check([]byte(src)) != nil || strings.ContainsRune(src, 0) {
			return
		}
		sameShape(t, values, index([]byte(src)), "")
	})
}
