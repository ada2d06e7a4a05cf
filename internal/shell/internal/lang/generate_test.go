package lang

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// fragments are what scripts of a language are made of by chance: many
// harmless, some not, and every kind of thing that has ended a token early or
// late in some tool.
var fragments = map[string][]string{
	"awk": {
		"{", "}", "{ print", "}", "; ", "\n", "$1", "$NF", "NR==1", "/o/", "/a\\/b/", "/[a/]", "\"x\"", "\"x > y\"", " > ", " >> ",
		" | ", "\"sh\"", "\"out\"", "print ", "printf \"%s\" ", "system(\"touch out\")", "system", "getline", "getline x", " < ",
		"for (i = 1; i <= NF; i++) ", "for (i=NF;i>0;i--) ", "for (k in a) ", "while ((getline x) > 0) ", "while (1) ",
		"i++", "NF++", "$i = \"y\"", "$(NF+1) = 1", "a[k]", "a[k \"x\"]", "a[$1]++", "n = split($0, a)", "n++", "i <= n",
		"for (j = 0; j < n; j++) ", "if ($1 > 1) ", "if (NR) ", " else ", "(", ")", "#", "\\\n", "x = ", " + ", " / ", "/", "~ ",
		"!", "BEGIN ", "END ", "function f(x) { return x }\n", "f(1)", "f(f(1))", "gsub(/o/, \"oo\")", "sub(/x/,\"y\",x)", "length",
		"length($0)", ", ", " in ", "RS = \"x*\"", "RS = \";\"", "FS = \",\"", "exit", "next", "delete a", "close(\"x\")", "--x", "x--",
	},
	"sed": {
		"p", "d", "D", "n", "N", "g", "G", "h", "H", "x", "s/o/0/", "s/o//g", "s,a,b\\,c,p", "s/[/]/x/", "s/x/y/w out", "s/o/touch out/e",
		"w out", "w /dev/stdout", "r in", "R in", "e", "e touch out", ";", ";", ";", "\n", "\n", "}", "{", "1", "$", "$!", "1,3", "0~2", "/o/", "\\,o,",
		"/o/I,/t/", "0,/o/", "!", ":a", "ba", "ta", "Tb", ":b", "b", "$!ba", "$!N", "a\\\n", "a text", "i\\\n", "c x", "\\", "#", "y/o/x/", "q", "Q5", "l",
		"=", "F", "z", " ", "s/a\\\n/b/", "s/^/\\\n/", "s|x|y|", "W out", "P", ",",
	},
	"jq": {
		".", ".a", ".[]", ".[]?", "..", "|", "|", ",", "(", ")", "[", "]", "{", "}", "a: ", "map(", "select(", "recurse(", "recurse(.[]?)", "recurse(.a)",
		"repeat(", "until(", "while(", "range(3)", "range(0;", ";", "length", "keys", "1", "0", "\"x\"", "\"a\\(", "\"", "gsub(\"a\";\"b\")", "gsub(\"a*\";\"b\")",
		"index(\"\")", "index(\",\")", "def f: ", "def f(g): ", "f", "f(.)", "g", "reduce .[] as $x (0; ", "$x", "$ENV", "env", "input", "inputs", "limit(3; ",
		"first(", "if . then 1 else 2 end", "try error catch .", " as $y | ", "?", "//", "?// ", "+", "-", "*", "== ", "|= ", "#", "\n", "\\", "walk(.)", "tostring",
		"label $l | ", "break $l", "import \"x\" as x; ", "include \"x\"; ", "@base64 ", "infinite", "debug", "empty", "to_entries", "error", "paths",
	},
	"find": {
		".", "tree", "in", "-name", "x", "'*'", "-type", "f", "d", "-print", "-delete", "-exec", "touch", "out", "{}", ";", "+", "-o", "-a", "!", "(", ")", ",",
		"-maxdepth", "1", "-depth", "-prune", "-quit", "-fprint", "-fprintf", "-fls", "-ls", "-printf", "'%p'", "-newer", "in", "-newermt", "-mtime", "-1", "+1",
		"-perm", "-u=r", "/222", "-empty", "-size", "+0", "-L", "-H", "-O1", "-D", "-files0-from", "-execdir", "-ok", "-regex", "'.*'", "-newerXY", "-samefile",
	},
}

// whole are scripts that are grown by putting fragments in.
var whole = map[string][]string{
	"awk":  {"{ print $1 }", "NR > 1 { n++ } END { print n }", "{ for (i = 1; i <= NF; i++) s += $i }", "BEGIN { x = 1 / 2 }", "/a/,/b/"},
	"sed":  {"s/a/b/", ":a;N;$!ba;s/\\n/ /g", "/o/{p;d}", "$!N;P;D", "1i\\\ntext"},
	"jq":   {".[] | .a?", "map(select(.b))", "def f(g): g; f(.)", "[recurse(.[]?)]", "\"a\\(.)b\""},
	"find": {". -name x -print", "tree -type f", ". ( -name x -o -empty ) -prune", ". -newer in -ls"},
}

// generate makes up a script: a whole one with some fragments put in, taken out
// or put in place of others.
func generate(r *rand.Rand, name string) string {
	separator := ""
	if name == "find" {
		separator = " "
	}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	script := pick(whole[name])
	if r.IntN(4) == 0 {
		script = ""
	}
	for range 1 + r.IntN(5) {
		at := r.IntN(len(script) + 1)
		if separator != "" {
			words := strings.Fields(script)
			at = len(strings.Join(words[:r.IntN(len(words)+1)], separator))
		}
		end := at
		if r.IntN(4) == 0 {
			end = min(len(script), at+r.IntN(4))
		}
		script = script[:at] + separator + pick(fragments[name]) + separator + script[end:]
	}
	return script
}

// TestReadOnlyIsReadOnly makes up scripts, and has the real tools run those that
// are said to be read-only: nothing changes.
func TestReadOnlyIsReadOnly(t *testing.T) {
	t.Parallel()
	const tries = 60_000
	want := testenv.Sample(150)
	for name, language := range languages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := language.installed(t)
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 1))
			seen := map[string]bool{}
			var scripts []string
			for range tries {
				script := generate(r, name)
				if !seen[script] && language.judge(script).ReadOnly {
					scripts = append(scripts, script)
				}
				seen[script] = true
				if len(scripts) == want {
					break
				}
			}
			if len(scripts) < want {
				t.Errorf("only %d read-only scripts in %d; want %d (seed %d)", len(scripts), tries, want, seed)
			}
			for _, tool := range tools {
				language.mustOnlyRead(t, tool, scripts)
			}
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
	}
}
