package permissions_test

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// facts says of a command what tables need: a small shell with a few programs,
// so that what is judged here is the judgement and not the reading of commands.
// It knows " && " and " ; " between commands, quotes, "> file", variables set
// before a program, wrappers, and these programs: ls cat grep echo (read-only),
// mkdir touch rm cp mv (complete), tee (complete), curl (reaches a host), askme
// and doom (a person is to be asked; in every mode). "((" is a fault, and "!"
// before a command asks to leave the sandbox.
func facts(text string) permissions.Command {
	text, unsandboxed := strings.CutPrefix(text, "!")
	c := permissions.Command{Text: text, ReadOnly: true, Unsandboxed: unsandboxed}
	if strings.Contains(text, "((") {
		c.Fault = "it cannot be parsed"
	}
	for _, piece := range pieces(text) {
		parts := simple(piece)
		for i := range parts {
			c.ReadOnly = c.ReadOnly && (parts[i].ReadOnly || parts[i].Inner)
		}
		c.Parts = append(c.Parts, parts...)
	}
	if c.Fault != "" {
		c.ReadOnly = false
	}
	c.Resolve(throughLink)
	return c
}

// analysed is what package shell says of a command; "!" before it asks to leave
// the sandbox. A link leads to /etc/linked.
func analysed(text string) permissions.Command {
	text, unsandboxed := strings.CutPrefix(text, "!")
	c := shell.Analyse(text, shell.Place{Cwd: "/ws/proj", Home: "/home/u", Working: []string{"/ws/proj", "/ws/lib"}})
	c.Unsandboxed = unsandboxed
	c.Resolve(throughLink)
	return c
}

func throughLink(path string) string {
	if rest, ok := strings.CutPrefix(path, "/ws/proj/link"); ok {
		return "/etc/linked" + rest
	}
	return path
}

// pieces splits a command into the words of its simple commands.
func pieces(text string) (out [][]permissions.Word) {
	out = append(out, nil)
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " ") {
		var word permissions.Word
		if quoted, rest, ok := strings.Cut(text[1:], "'"); ok && text[0] == '\'' {
			word, text = permissions.Word{Text: quoted, Literal: true}, rest
		} else {
			word.Text, text, _ = strings.Cut(text, " ")
			word.Literal = !strings.ContainsAny(word.Text, "$*?~\"")
			if word.Text == "&&" || word.Text == ";" {
				out = append(out, nil)
				continue
			}
		}
		out[len(out)-1] = append(out[len(out)-1], word)
	}
	return out
}

var (
	testWrappers = []string{"timeout", "nice", "nohup"}
	testRunners  = []string{"sudo", "env", "watch", "npx"}
)

// simple returns the parts of one simple command.
func simple(words []permissions.Word) []permissions.Part {
	p := permissions.Part{}
	for len(words) > 0 && strings.Contains(words[0].Text, "=") {
		name, _, _ := strings.Cut(words[0].Text, "=")
		if !slices.Contains([]string{"LANG", "TZ"}, name) {
			p.Env = append(p.Env, name)
		}
		words = words[1:]
	}
	target := ""
	if n := len(words); n > 1 && words[n-2].Text == ">" {
		target, words = words[n-1].Text, words[:n-2]
	}
	if len(words) == 0 {
		p.ReadOnly = len(p.Env) == 0
		return []permissions.Part{p}
	}
	var others []permissions.Part
	if slices.Contains(testWrappers, words[0].Text) && len(words) > 2 {
		others = append(others, permissions.Part{Words: words, Inner: true})
		words = words[1:]
		if strings.Trim(words[0].Text, "0123456789") == "" {
			words = words[1:]
		}
	}
	p.Words = words
	if slices.Contains(testRunners, words[0].Text) && len(words) > 1 {
		inner := permissions.Part{Words: words[1:], Inner: true}
		effects(&inner)
		others = append(others, inner)
	}
	if base := path.Base(words[0].Text); base != words[0].Text {
		bare := slices.Clone(words)
		bare[0].Text = base
		others = append(others, permissions.Part{Words: bare, Inner: true})
	}
	effects(&p)
	if target != "" {
		p.Complete = p.Complete || p.ReadOnly
		p.ReadOnly = false
		p.Accesses = append(p.Accesses, permissions.Access{Kind: permissions.AccessWrite, Target: absolute(target)})
	}
	return append([]permissions.Part{p}, others...)
}

// effects says what a program does.
func effects(p *permissions.Part) {
	program, args := p.Words[0], p.Words[1:]
	if !program.Literal {
		return
	}
	kind, removal := permissions.AccessRead, false
	switch program.Text {
	case "echo", "pwd":
		p.ReadOnly = len(p.Env) == 0
		return
	case "ls", "cat", "grep":
		p.ReadOnly = len(p.Env) == 0
	case "mkdir", "touch", "rm", "cp", "mv", "tee":
		p.Complete, kind, removal = true, permissions.AccessWrite, program.Text == "rm" || program.Text == "mv"
	case "curl":
		for _, w := range args {
			p.Accesses = append(p.Accesses, permissions.Access{Kind: permissions.AccessNet, Target: w.Text})
		}
		return
	case "askme":
		p.Ask = "a person is to see it"
		return
	case "doom":
		p.Ask, p.Critical = "it would be the end", true
		return
	default:
		return
	}
	for _, w := range args {
		switch {
		case strings.HasPrefix(w.Text, "-"):
		case !w.Literal:
			p.ReadOnly, p.Complete = false, false
		default:
			p.Accesses = append(p.Accesses, permissions.Access{
				Kind: kind, Target: absolute(w.Text), Removal: removal, Tree: args[0].Text == "-r",
			})
		}
	}
}

func absolute(name string) string {
	if !strings.HasPrefix(name, "/") {
		name = "/ws/proj/" + name
	}
	return path.Clean(name)
}
