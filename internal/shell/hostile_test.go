package shell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// hostile are texts that make a parser, or an analyser of trees, sweat.
func hostile() map[string]string {
	rep := func(unit string) string { return strings.Repeat(unit, MaxBytes/len(unit)) }
	out := map[string]string{
		"a million parens":     strings.Repeat("(", 1_000_000),
		"a million $(":         strings.Repeat("$(", 1_000_000),
		"a million words":      strings.Repeat("rm ", 400_000),
		"a million commands":   strings.Repeat("a;", 500_000),
		"unclosed words":       strings.Repeat("rm /x/y ", MaxBytes/8-1) + "'",
		"unclosed find":        strings.Repeat("find -o ", MaxBytes/8-1) + "'",
		"here-documents":       strings.Repeat("<<a ", 1000) + "\n" + strings.Repeat("b\n", 2900),
		"long here-document":   "cat <<E\n" + strings.Repeat("$x\n", 3000) + "E",
		"similar ends":         "cat <<E\n" + strings.Repeat("E \n", 3000) + "E",
		"arithmetic parens":    "$((" + rep("(")[3:],
		"brace bombs":          "echo " + strings.Repeat("{a,b}", 1900),
		"nested braces":        "echo " + strings.Repeat("{a,", 1600) + strings.Repeat("}", 1600),
		"brace words":          strings.Repeat("{a,b,c,d}{e,f,g,h} ", 500),
		"nested bash -c":       strings.Repeat("bash -c \"", 500),
		"bash -c by escapes":   "bash -c 'bash -c \"bash -c \\\"bash -c x\\\"\"'",
		"many scripts":         strings.Repeat("bash -c 'ls;ls';", 600),
		"many wrappers":        rep("sudo "),
		"many looked through":  rep("nice "),
		"many cds":             strings.Repeat("cd a;", 1999),
		"many tildes":          "ls " + rep("~/a ")[8:],
		"for in for":           strings.Repeat("for i in a;do ", 300) + "ls" + strings.Repeat(";done", 300),
		"backquotes in quotes": rep("\"`"),
		"doubled values":       "f=aaaa;" + strings.Repeat("f=\"$f$f\";", 1000),
		"long values":          "f=" + strings.Repeat("a", 250) + ";ls \"" + strings.Repeat("$f", 4000) + "\"",
		"values in braces":     "f=" + strings.Repeat("a", 250) + ";ls \"" + strings.Repeat("$f", 4000) + "\"" + strings.Repeat("{a,b}", 300),
		"long trims":           "f=" + strings.Repeat("a", 4900) + ";ls \"${f#*" + strings.Repeat("a", 4900) + "b}\"",
		"many trims":           "f=" + strings.Repeat("a", 250) + ";" + strings.Repeat("ls \"${f#*aaaaaaaaaaaab}\";", 350),
		"many long trims":      "f=" + strings.Repeat("a", 250) + ";" + strings.Repeat("ls \"${f#*"+strings.Repeat("a", 125)+"b}\";", 68),
		"trims with stars":     "f=" + strings.Repeat("a", 250) + ";" + strings.Repeat("ls \"${f##"+strings.Repeat("*a", 60)+"*b}\";", 70),
		"many names":           strings.Repeat("ls $(dirname a/b);", 500),
		"many loops":           strings.Repeat("for f in {1..64};do p $f;done;", 300),
		"many values":          strings.Repeat("for f in {1..64};do x=$f;done;", 300),
		"many tests":           strings.Repeat("for f in {1..64};do [[ $f ]];done;", 290),
		"many empty words":     strings.Repeat("for f in {1..64};do \"${f#*}\";done;", 280),
	}
	for _, unit := range []string{
		"(", "$(", "\"$(", "{ ", "`", "`\\", "if ", "${x:-", "$((", "((", "( ", "<<a ", "a|", "a&&", "case a in a) ",
		"a ", "$(a)", "a[", "[[ (", "@(", "f()", "! ", "time ", "\"", "'", "\\", "#", "\n", "a\n", "<(", "function f ",
		"coproc ", "a=", "a=(", "<<E\n", "<<<", "{a,b}", "${", "$'", "$\"", "while ", "select a in ", "-", "$((-", "$((1?",
		"*", "[", "{", "}", ">", "> a", "a>b ", "\u00e4", "\\\n", "x=1 ", "export x=1;", "eval ", "find . -exec ", "xargs ",
		"awk '", "sed -e s/a/b/ ", "git ", "env -S ", "sh -c ",
	} {
		out[fmt.Sprintf("%q", unit)] = rep(unit)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		out[fmt.Sprint("random ", i)] = randomCommand(r, 1500)
	}
	return out
}

// TestHostileTextEndsInTime holds the promise of 50 ms for any text, twice over: machines differ.
func TestHostileTextEndsInTime(t *testing.T) {
	limit := 100 * time.Millisecond
	if testenv.Race {
		limit = testenv.Patience // what is promised is promised of the program without it
	}
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			testenv.InTime(t, limit, func() time.Duration {
				return testenv.Work(func() { Analyse(text, testPlace) })
			})
		})
	}
}
