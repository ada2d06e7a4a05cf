package gitevents

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxDeeds bounds what one command can be said to have done, and maxText each
	// name and title, in bytes.
	maxDeeds = 64
	maxText  = 512
)

// Recognise tells what a command did that ended with an exit status and printed an
// output, of which the beginning and the end suffice. An exit status that is not
// known is negative. The deeds' Call is the caller's to set.
//
// Who can begin before the command does learns more by a [Watch].
func Recognise(cmd permissions.Command, exit int, output []byte) []capability.Deed {
	programs := programsOf(cmd)
	if len(programs) == 0 {
		return nil
	}
	return recognise(cmd, programs, exit, readSigns(output))
}

func recognise(cmd permissions.Command, programs []program, exit int, s signs) []capability.Deed {
	r := &reader{signs: s, programs: programs}
	ends := endsOf(cmd, exit)
	for i := range programs {
		programs[i].end = ends.of(programs[i].words)
	}
	for i := range programs {
		p := &programs[i]
		switch p.name {
		case "git":
			r.git(p)
		case "gh":
			r.pull(p, "pr", ghVerbs)
		case "glab":
			r.pull(p, "mr", glabVerbs)
		}
	}
	return r.deeds
}

// program is a part of the command that runs one of the programs in question.
type program struct {
	name string
	// words are the part's; args are those behind the program and, for git, its
	// sub-command sub and what stands before that.
	words []permissions.Word
	sub   string
	args  []permissions.Word
	again bool
	end   end
}

// programsOf finds the parts of interest, each once: a part behind a wrapper, or by
// its path, has a second reading beside it.
func programsOf(cmd permissions.Command) []program {
	if cmd.Fault != "" {
		return nil
	}
	var out []program
	for _, part := range cmd.Parts {
		if len(part.Words) == 0 || !part.Words[0].Literal || slices.Contains(part.Env, "PATH") {
			continue
		}
		p := program{name: path.Base(part.Words[0].Text), words: part.Words, args: part.Words[1:], again: part.Again}
		if p.name == "git" && !p.cutGlobal() {
			continue
		}
		if !slices.Contains([]string{"git", "gh", "glab"}, p.name) {
			continue
		}
		if n := len(out); part.Inner && n > 0 && slices.Equal(out[n-1].words[1:], p.words[1:]) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// reader makes deeds of programs and of the signs they left.
type reader struct {
	signs    signs
	programs []program
	deeds    []capability.Deed
}

func (r *reader) tell(p *program, d capability.Deed) {
	if len(r.deeds) == maxDeeds {
		return
	}
	d.Program = p.name
	for _, text := range []*string{&d.Commit, &d.Branch, &d.Remote, &d.Subject, &d.URL} {
		*text = clean(*text)
	}
	r.deeds = append(r.deeds, d)
}

// clean takes out what would not be shown as it is, and bounds the rest.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return strings.TrimSpace(text)
}
