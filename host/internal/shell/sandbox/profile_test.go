package sandbox_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// profileTerm is a list or an atom of a profile: a string begins with a quotation mark.
type profileTerm struct {
	atom string
	list []profileTerm
}

// readProfile reads a profile as sandbox-exec does. Everything has to be well-formed.
func readProfile(t *testing.T, text string) []profileTerm {
	t.Helper()
	stack := [][]profileTerm{nil}
	add := func(one profileTerm) { stack[len(stack)-1] = append(stack[len(stack)-1], one) }
	for text != "" {
		switch c := text[0]; {
		case c == '(':
			stack, text = append(stack, nil), text[1:]
		case c == ')':
			if len(stack) == 1 {
				t.Fatalf("a list ends that did not begin, before %.40q", text)
			}
			list := stack[len(stack)-1]
			stack, text = stack[:len(stack)-1], text[1:]
			add(profileTerm{list: list})
		case c == '"', strings.HasPrefix(text, `#"`):
			var atom string
			atom, text = readString(t, text)
			add(profileTerm{atom: atom})
		case strings.IndexByte(" \n", c) >= 0:
			text = text[1:]
		default:
			n := strings.IndexAny(text, " \n()\"")
			if n < 0 || !regexp.MustCompile(`^[a-z0-9*-]+$`).MatchString(text[:n]) {
				t.Fatalf("no word: %.40q", text)
			}
			add(profileTerm{atom: text[:n]})
			text = text[n:]
		}
	}
	if len(stack) != 1 {
		t.Fatal("a list does not end")
	}
	return stack[0]
}

// readString reads a string, in which only a quotation mark and a backslash are escaped, or an
// expression that begins with #, in which nothing is.
func readString(t *testing.T, text string) (atom, rest string) {
	t.Helper()
	raw := strings.HasPrefix(text, "#")
	out := `"`
	for i := len(text) - len(strings.TrimPrefix(text, "#")) + 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return out, text[i+1:]
		case text[i] == '\\' && !raw:
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				t.Fatalf("an escape that is none: %.40q", text[i-1:])
			}
		}
		out += text[i : i+1]
	}
	t.Fatalf("a string does not end: %.40q", text)
	return "", ""
}

// permits reports whether a profile allows an operation on a file: the last rule about it holds.
func permits(t *testing.T, profile []profileTerm, operation, path string) bool {
	t.Helper()
	allowed := false
	for _, rule := range profile {
		if len(rule.list) < 2 || rule.list[0].atom != "allow" && rule.list[0].atom != "deny" {
			continue
		}
		about, filtered, matches := false, false, false
		for _, term := range rule.list[1:] {
			if term.list == nil {
				about = about || term.atom == operation || strings.HasSuffix(term.atom, "*") && strings.HasPrefix(operation, strings.TrimSuffix(term.atom, "*"))
				continue
			}
			filtered, matches = true, matches || matchesFilter(t, term.list, path)
		}
		if about && (!filtered || matches) {
			allowed = rule.list[0].atom == "allow"
		}
	}
	return allowed
}

func matchesFilter(t *testing.T, filter []profileTerm, path string) bool {
	t.Helper()
	value := strings.TrimPrefix(filter[1].atom, `"`)
	switch filter[0].atom {
	case "literal":
		return path == value
	case "subpath":
		return path == value || strings.HasPrefix(path, strings.TrimSuffix(value, "/")+"/")
	case "regex":
		return regexp.MustCompile("(?s)" + value).MatchString(path)
	}
	return false // it is not about files
}

// Every profile can be read, and no path gets out of its string.
func TestProfileIsWellFormed(t *testing.T) {
	t.Parallel()
	hostile := []string{`"`, `\`, `\"`, `"))(allow default)("`, "\n", "\x01", ";", "#", `#"`, "|", "'", "\xff", "\u2028", "(", "[", "*", "$", "^", "{2}", "a\\", ".x", "+?", "a\u0301", "\u0301"}
	for _, one := range hostile {
		for _, path := range []string{"/w/" + one, "/w/" + one + one + "/" + one, "/" + one + "/x"} {
			spec := sandbox.Spec{Writable: []string{path}, Visible: []string{path}, Hidden: []string{path + "/h"}, Protected: []string{path + "/p"}, Temp: path, Cwd: path}
			profile := readProfile(t, sandbox.Profile(spec))
			if !permits(t, profile, "file-write-data", path+"/f") || permits(t, profile, "file-read-data", path+"/h/f") || permits(t, profile, "file-write-data", path+"/p/f") ||
				permits(t, profile, "file-write-data", "/other/f") || permits(t, profile, "file-read-data", "/other/f") {
				t.Errorf("%q is not what is written, or something else is", path)
			}
		}
	}
}

// What the profiles of the golden files let commands do, in all spellings of what is denied.
func TestProfileDecides(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		profile, operation, path string
		want                     bool
	}{
		{"nothing", "file-read-data", "/Users/me/x", true},
		{"nothing", "file-write-data", "/Users/me/x", false},
		{"work", "file-write-data", "/Users/me/work/x", true},
		{"work", "file-write-create", "/Users/me/work/.bashrc", false},
		{"work", "file-write-create", "/Users/me/work/.BashRC", false},
		{"work", "file-write-create", "/Users/me/work/.ba\u017fhrc", false},
		{"work", "file-write-create", "/Users/me/work/.bashrc2", true},
		{"work", "file-write-create", "/Users/me/work/.GIT/Hook\u017f/pre-commit", false},
		{"work", "file-read-data", "/Users/me/.SSH/id", false},
		{"work", "file-read-data", "/Users/me/.\u017fsh/id", false},
		{"work", "file-read-data", "/Users/me/.sshd", true},
		{"work", "file-read-data", "/Users/me/work/a/x", false},
		{"work", "file-write-data", "/Users/me/work/a/b/x", true},
		{"work", "file-write-unlink", "/Users/me/work/.git", false},
		{"work", "file-write-unlink", "/Users/me/work/.Git", false},
		{"work", "file-write-unlink", "/Users/me/work/x", true},
		{"odd names", "file-read-data", "/Users/me/caf\u00e9", false},
		{"odd names", "file-read-data", "/Users/me/cafe\u0301/x", false},
		{"odd names", "file-read-data", "/Users/me/caf\u00e9s", false},
		{"odd names", "file-read-data", "/Users/me/CAFE\u0301S", false},
		{"odd names", "file-read-data", "/Users/me/caf\u00e9x", true},
		{"odd names", "file-read-data", "/Users/me/cafe", true},
		{"odd names", "file-read-data", "/Users/me/a \"B\" \\C)/(DENY\n\t#/x", false},
		{"odd names", "file-write-data", "/Users/me/a \"b\" \\c)/x", true},
		{"odd names", "file-read-data", "/Users/me/o\ufb03ce/x", false},
		{"odd names", "file-read-data", "/Users/me/OFFICE", false},
		{"odd names", "file-read-data", "/Users/me/s\ufb06reet", false},
		{"odd names", "file-read-data", "/Users/me/\xff\xfe", false},
		{"odd names", "file-read-data", "/Users/me/offices", true},
		{"view", "file-read-data", "/Users/me/work/x", true},
		{"view", "file-read-data", "/Users/me/work/.env", false},
		{"view", "file-read-data", "/Users/me/go/x", true},
		{"view", "file-read-data", "/Users/me/go/private/x", false},
		{"view", "file-write-data", "/Users/me/go/x", false},
		{"view", "file-read-data", "/Users/me/notes", true},
		{"view", "file-write-data", "/Users/me/notes", false},
		{"view", "file-write-data", "/Users/me/log", true},
		{"view", "file-read-data", "/Users/me/.zshrc", false},
		{"view", "file-read-metadata", "/Users/me/.zshrc", true},
		{"view", "file-read-data", "/System/Library/x", true},
		{"view", "file-read-data", "/System/Volumes/Data/Users/me/.zshrc", false},
		{"view", "file-write-data", "/private/var/folders/x/T/f", true},
		{"view", "file-write-data", "/tmp/f", false},
		{"view", "file-read-data", "/dev/urandom", true},
		{"view", "file-read-data", "/dev/disk0", false},
		{"read only", "file-write-data", "/w/f", false},
		{"read only", "file-write-data", "/t/f", false},
		{"read only", "file-write-data", "/t/cwd", true},
		{"read only", "file-write-data", "/o", false},
	} {
		profile := readProfile(t, sandbox.Profile(profiles[test.profile]))
		if got := permits(t, profile, test.operation, test.path); got != test.want {
			t.Errorf("%s: %s of %q is allowed: %v", test.profile, test.operation, test.path, got)
		}
	}
}

// The network is what the specification says.
func TestProfileOfNetworks(t *testing.T) {
	t.Parallel()
	const outbound = "(allow network-outbound "
	rules := func(spec sandbox.Spec) []string {
		return slices.DeleteFunc(strings.Split(sandbox.Profile(spec), "\n"), func(line string) bool { return !strings.Contains(line, "network") })
	}
	if got := rules(sandbox.Spec{}); len(got) != 0 {
		t.Errorf("off: %q", got)
	}
	if got := rules(profiles["hosts"]); len(got) != 1 || got[0] != outbound+`(remote ip "localhost:4711"))` {
		t.Errorf("by hosts: %q", got)
	}
	if got := rules(profiles["read only"]); len(got) != 0 {
		t.Errorf("reading only: %q", got)
	}
	if got := rules(profiles["odd names"]); !slices.Contains(got, outbound+"(remote ip))") {
		t.Errorf("all: %q", got)
	}
}
