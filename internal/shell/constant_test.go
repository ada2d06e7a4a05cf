package shell

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// settings are statements that set variables, in ways that are followed and others, and
// uses statements whose words say what the variables hold.
var (
	settings = entries(`f=a¦f=b¦f=ab.c¦f=¦f='a b'¦f='*'¦f=*¦g=$f¦f=$g¦f=${f}x¦g=${f%.c}¦g="${f#a}"¦g=${f##*b}¦g=$(basename $f)¦f=a g=$f
f+=b¦f=b <nosuch¦{ f=b; } <nosuch¦{ f=b; }¦(f=c)¦f=c | p "$f"¦f=c &¦! f=c¦time f=c¦time -- f=c¦f=c p "$f"¦f=c g=$f p "$g"
read f <<< c¦read f g <<< 'c d'¦unset f¦read "f" <<< c¦n=f; read $n <<< c¦printf -v f c¦export f=c¦declare f=c¦IFS=b¦IFS=b read f <<< abc
((f=1))¦: ${f:=c}¦let f=1¦eval f=c¦set -- c¦set -e¦set -u¦readonly g=c¦trap 'f=c' DEBUG¦shopt -s lastpipe¦echo c | read f¦mapfile -t f <<< c
f=(c d)¦f[0]=c¦declare -n f=g¦typeset -i f¦getopts c f -c¦break¦continue¦false¦true¦cd .¦exec 2>&1¦for f in c; do :; done¦wait -p f`)
	uses   = entries(`p "$f"¦p $f¦p "$f-$g"¦p ${f%b}¦p "${f##a*}" ${g}¦p "$(basename "$f")"¦"$f" x¦p <<< "$f"¦p a$f¦p $g¦p "$g" $(p "$f")`)
	scopes = entries(`S¦S¦S¦S¦{ S; S; }¦( S; S )¦if S; then S; else S; fi¦case a in a) S;; b) S;; esac¦case $f in a) S;& b) S;; esac¦S && S¦S || S
S | S¦for f in a b; do S; S; done¦for g in "$f" c; do S; S; done¦for f in a 'b c' ab; do for g in x $f; do S; done; S; done¦for f in *; do S; done¦S; S
while read -r g; do S; S; done <<< c¦while read -r f; do S; done <<< c¦for f; do S; done¦select f in a b; do S; break; done <<< 9¦: "$(S; S)"¦: <(S)¦S & wait¦! S¦time S¦{ S; } <nosuch¦{ S; S; } 2>&1`)
)

// followed is how many of the settings leave other variables known.
const followed = 30

// entries are parted by bars with a gap, or lines.
func entries(list string) []string { return strings.Split(strings.ReplaceAll(list, "\n", "¦"), "¦") }

// randomScript is a list of statements that set and use variables.
func randomScript(r *rand.Rand, most int) string {
	one := func() string {
		list := uses
		switch r.IntN(9) {
		case 0, 1, 2, 3:
			list = settings[:followed]
		case 4:
			list = settings
		}
		return list[r.IntN(len(list))]
	}
	var out []string
	for range 2 + r.IntN(most) {
		text := scopes[r.IntN(len(scopes))]
		for range 2 {
			for strings.Contains(text, "S") {
				inner := one()
				if r.IntN(6) == 0 && len(text) < 100 {
					inner = scopes[r.IntN(len(scopes))]
				}
				text = strings.Replace(text, "S", inner, 1)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// TestConstantsAreWhatBashSees holds what is known of variables against bash: every
// program that it starts must be one of the parts, with those words.
func TestConstantsAreWhatBashSees(t *testing.T) {
	t.Parallel()
	bash := testenv.NeedTool(t, "bash")
	rc := filepath.Join(t.TempDir(), "rc")
	if err := os.WriteFile(rc, []byte(recorder), 0o600); err != nil {
		t.Fatal(err)
	}
	count, seed := testenv.Sample(250), uint64(1)
	if n, err := strconv.Atoi(os.Getenv("TOOLQUAY_BASH_RUNS")); err == nil {
		count, seed = n, uint64(time.Now().UnixNano())
	}
	r, dir := rand.New(rand.NewPCG(seed, 9)), t.TempDir()
	for _, name := range []string{"a", "b c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs, known := 0, 0
	for range count {
		text := randomScript(r, 4)
		c := Analyse(text, Place{Cwd: dir, Home: "/home/u"})
		if c.Fault != "" {
			continue
		}
		for _, argv := range bashRuns(t, bash, rc, dir, text) {
			if runs++; !seen(c.Parts, argv) {
				t.Errorf("%q runs %q, which is none of its parts (seed %d)", text, argv, seed)
			}
		}
		for _, p := range c.Parts {
			if len(p.Words) > 1 && p.Words[0].Text == "p" && p.Words[1].Literal {
				known++
			}
		}
	}
	t.Logf("%d programs, %d known words (seed %d)", runs, known, seed)
	if runs < count || known < count/4 {
		t.Errorf("%d commands ran %d programs, and of %d the words were known: too few to tell", count, runs, known)
	}
}
