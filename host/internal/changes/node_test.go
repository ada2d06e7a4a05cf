package changes_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// node returns the Node of a file with a content.
func node(content string, mode uint32) *changes.Node {
	sum := sha256.Sum256([]byte(content))
	return &changes.Node{Hash: hex.EncodeToString(sum[:]), Size: int64(len(content)), Mode: mode}
}

func TestNode(t *testing.T) {
	t.Parallel()
	var nothing *changes.Node
	unread := &changes.Node{Size: 3}
	folder, link := &changes.Node{Kind: changes.Dir, Mode: 0o700}, &changes.Node{Kind: changes.Link, Target: "x"}
	for name, c := range map[string]struct {
		a, b        *changes.Node
		same, equal bool
	}{
		"nothing":              {nothing, nil, true, true},
		"nothing and a file":   {nil, node("", 0), false, false},
		"nothing and unread":   {nil, unread, false, false},
		"unread and nothing":   {unread, nil, false, false},
		"unread":               {unread, unread, false, false},
		"one file":             {node("x", 0o600), node("x", 0o600), true, true},
		"another mode":         {node("x", 0o600), node("x", 0o700), true, false},
		"a mode not known":     {node("x", 0o600), node("x", 0), true, true},
		"files":                {node("x", 0), node("y", 0), false, false},
		"directories":          {folder, &changes.Node{Kind: changes.Dir}, true, true},
		"a directory, no link": {folder, link, false, false},
		"links":                {link, &changes.Node{Kind: changes.Link, Target: "y"}, false, false},
	} {
		if c.a.Same(c.b) != c.same || c.a.Equal(c.b) != c.equal {
			t.Errorf("%s: %v, %v", name, c.a.Same(c.b), c.a.Equal(c.b))
		}
	}
	for name, c := range map[string]struct {
		node  *changes.Node
		valid bool
	}{
		"file": {node("x", 0o644), true}, "nothing": {nil, false}, "unread": {unread, false}, "directory": {folder, true}, "link": {link, true},
		"link to nowhere": {&changes.Node{Kind: changes.Link}, false}, "unknown": {&changes.Node{Kind: "x"}, false},
		"upper case": {&changes.Node{Hash: strings.Repeat("AB", 32)}, false}, "short": {&changes.Node{Hash: "ab"}, false},
		"negative": {&changes.Node{Hash: strings.Repeat("ab", 32), Size: -1}, false},
	} {
		if c.node.Valid() != c.valid {
			t.Errorf("%s is valid: %v", name, !c.valid)
		}
	}
}

// TestNames checks that a name survives JSON, whatever bytes it has.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []changes.Name{"", "plain", "\u00fc \"x\"", "\xff\xfe", "a\x80b", `{"bytes":"eA=="}`} {
		text, err := json.Marshal(name)
		var again changes.Name
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again != name {
			t.Errorf("%q is %q by way of %s, %v", name, again, text, err)
		}
	}
}

// TestLog checks that a log reads what others append, also after a crash left half a line, and
// after the file was replaced or removed.
func TestLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var got []string
	open := func(into *[]string) *changes.Log {
		return &changes.Log{Dir: dir, Max: 64, Reset: func() { *into = nil }, Take: func(text []byte, at int64) {
			*into = append(*into, fmt.Sprintf("%d:%d", at, len(text)))
		}}
	}
	l := open(&got)
	read := func(want string) {
		t.Helper()
		if err := l.Refresh(); err != nil || strings.Join(got, " ") != want {
			t.Fatalf("%v, %v, want %s", got, err, want)
		}
	}
	read("")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.Append([]byte("one\n")))
	var others []string
	other := open(&others)
	must(other.Refresh())
	must(other.Append([]byte("two\nthree\n")))
	read("0:3 4:3 8:5")
	path := filepath.Join(dir, changes.LogName)
	half, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(err)
	_, err = half.WriteString("hal")
	must(err)
	read("0:3 4:3 8:5")
	must(l.Append([]byte("four\n")))
	read("0:3 4:3 8:5 14:4")
	_, err = half.Write(append(bytes.Repeat([]byte("x"), 1000), '\n'))
	must(err)
	must(half.Close())
	must(l.Refresh())
	if last := got[len(got)-1]; last != "19:65" {
		t.Errorf("what is too long is %s", last)
	}
	must(l.Append([]byte("five\n")))
	if last := got[len(got)-1]; last != "1020:4" {
		t.Errorf("behind what is too long lies %s", last)
	}
	must(os.WriteFile(path+"x", []byte("new\n"), 0o600))
	must(os.Rename(path+"x", path))
	read("0:3")
	must(os.Remove(path))
	read("")
	if l.Exists() {
		t.Error("it exists")
	}
}
