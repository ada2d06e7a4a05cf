package programs

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostDeep is how many commands in commands are looked into.
const mostDeep = 4

// starts reports whether a command line may start a program, by what is known of it.
func starts(argv []Arg, program string, depth int) bool {
	f := Judge(argv)
	return depth > 0 && slices.ContainsFunc(f.Inner, func(in Inner) bool {
		words := in.Args
		if in.Shell != "" {
			words = split(in.Shell)
		}
		if len(words) == 0 {
			return false
		}
		return words[0].Text == program && words[0].Literal || starts(words, program, depth-1)
	})
}

// flagForms are the ways to write a flag and its value. A flag that is not listed, and
// one that is cut short, are among them.
func flagForms(name string, f flag) [][]string {
	long := strings.HasPrefix(name, "--")
	var out [][]string
	switch {
	case f.value == valueNone:
		return [][]string{{name}}
	case f.value == valueRequired && f.lead == 0:
		out = append(out, []string{name, "5"})
	}
	if long {
		out = append(out, []string{name + "=5"})
		if len(name) > 6 {
			out = append(out, []string{name[:len(name)-2] + "=5"})
		}
	} else {
		out = append(out, []string{name + "5"})
	}
	return out
}

// Each row of a program that starts another tells of what it starts, whichever of its
// flags stand before: those of the table, written every way, and others.
func TestWrappersTellWhatTheyStart(t *testing.T) {
	t.Parallel()
	rows, tried := table(), 0
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		if !r.opaque && !r.transparent && name != "xargs" {
			continue
		}
		var before [][]string
		before = append(before, nil, []string{"--"}, []string{"--unheard"}, []string{"--unheard=5"}, []string{"-Ω"}, []string{"$x"})
		for flag, known := range r.flags {
			if known.kind != kindShell {
				before = append(before, flagForms(flag, known)...)
			}
		}
		for _, flags := range before {
			line := append(strings.Fields(name), flags...)
			for _, o := range r.takes {
				if o.kind != kindCommand && !o.repeat {
					line = append(line, "5")
				}
			}
			argv := split(strings.Join(append(line, "doom", "a"), " "))
			if tried++; !starts(argv, "doom", mostDeep) {
				t.Errorf("%s: what it starts is not told", strings.Join(line, " "))
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d lines were tried", tried)
	}
}

// Each flag of the table whose value is text for a shell, or a program, tells of it.
func TestFlagsTellWhatTheyStart(t *testing.T) {
	t.Parallel()
	rows, tried := table(), 0
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for flag, known := range rows[name].flags {
			if known.kind != kindShell {
				continue
			}
			words := strings.Fields(name)
			argv := func(more ...string) []Arg {
				var out []Arg
				for _, w := range append(words, more...) {
					out = append(out, Arg{Text: w, Literal: true})
				}
				return out
			}
			lines := [][]Arg{argv(flag+"=doom a", "b"), argv(flag, "doom a", "b"), argv("b", flag, "doom a")}
			if !strings.HasPrefix(flag, "--") {
				lines[0] = argv(flag+"doom a", "b")
			}
			if known.value == valueAttached {
				lines = lines[:1]
			}
			if rows[name].strict {
				lines = lines[:len(lines)-1]
			}
			if rows[name].onedash {
				lines = lines[1:] // its flags take no value attached
			}
			for _, line := range lines {
				if tried++; !starts(line, "doom", mostDeep) {
					t.Errorf("%v: what it starts is not told", line)
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d lines were tried", tried)
	}
}

// A program of the table that reaches hosts tells of each that its words name, and that
// there may be others where a word is expanded.
func TestNetworkProgramsTellHosts(t *testing.T) {
	t.Parallel()
	rows := table()
	names := func(f Finding) bool {
		return slices.ContainsFunc(f.Effects, func(e Effect) bool { return strings.Contains(e.Name, "evil.example") })
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		if !r.net || strings.HasPrefix(name, "git ") && len(r.takes) == 0 {
			continue
		}
		for _, word := range []string{
			"evil.example", "https://evil.example/x", "me@evil.example:x", "--unheard=evil.example", "--unheard=https://evil.example",
			"'--unheard' evil.example",
		} {
			if argv := split(name + " " + word + " a"); !names(Judge(argv)) {
				t.Errorf("%s %s: the host is not told", name, word)
			}
		}
		for _, word := range []string{`"$x"`, "$x", `"https://$x/"`} {
			if f := Judge(split(name + " " + word)); !f.AnyHost {
				t.Errorf("%s %s: it may be any host, which is not told", name, word)
			}
		}
		for flag, known := range r.flags {
			if known.kind != kindDial {
				continue
			}
			line := name + " " + flag + " http://evil.example:1 a"
			if !names(Judge(split(line))) {
				t.Errorf("%s: the host is not told", line)
			}
		}
	}
}
