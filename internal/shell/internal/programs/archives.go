package programs

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// judgeTar judges tar: listing an archive only reads it; else it reads what it packs. Its
// first word may be flags without a dash.
func judgeTar(r *row, args []Arg) Finding {
	if archive, ok := tarLists(args); ok && r.name == "tar" {
		return Finding{
			ReadOnly: true, Complete: true, Reason: "it lists an archive",
			Effects: []Effect{{Kind: permissions.AccessRead, Name: archive}},
		}
	}
	f := r.read(args).finding()
	f.refuse("%s: %s", r.name, r.why)
	for i, a := range args {
		f.Inner = append(f.Inner, tarProgram(args, i)...)
		if a.Literal && strings.Contains(a.Text, ":") {
			f.Effects = append(f.Effects, dial(a)...) // HOST:FILE
		}
	}
	for i, a := range args {
		letters, dashed := strings.CutPrefix(a.Text, "-")
		long := strings.HasPrefix(letters, "-") && letters != "-"
		bunch := (i == 0 || dashed) && !strings.HasPrefix(letters, "-")
		if !a.Literal || long && isPacking(a.Text) || bunch && strings.ContainsAny(letters, "cruA") {
			return f
		}
	}
	f.Effects = slices.DeleteFunc(f.Effects, func(e Effect) bool { return !e.Held })
	return f
}

// tarListing are flags with which tar, GNU's or BSD's, lists an archive and does no more.
var (
	tarListing     = lazyregexp.New(`^[tvzjJ]*f?$`)
	tarListingLong = strings.Fields("--list --verbose --gzip --bzip2 --xz --zstd --numeric-owner --full-time")
)

// tarLists returns the archive that tar lists, where it does nothing else. A name with a
// colon is one on another host.
func tarLists(args []Arg) (archive string, ok bool) {
	lists := false
	for i := 0; i < len(args); i++ {
		if !args[i].Literal {
			return "", false
		}
		word := args[i].Text
		letters, dashed := strings.CutPrefix(word, "-")
		name, named := strings.CutPrefix(word, "--file=")
		switch {
		case named:
		case slices.Contains(tarListingLong, word):
			lists = lists || word == "--list"
			continue
		case dashed || i == 0:
			if !tarListing.MatchString(letters) || letters == "" {
				return "", false
			}
			lists = lists || strings.Contains(letters, "t")
			if !strings.HasSuffix(letters, "f") {
				continue
			}
			if i++; i == len(args) || !args[i].Literal {
				return "", false
			}
			name = args[i].Text
		default:
			continue // a member
		}
		if archive != "" || name == "" || strings.Contains(name, ":") || name != "-" && strings.HasPrefix(name, "-") {
			return "", false
		}
		archive = name
	}
	return archive, lists && archive != ""
}

// tarProgram is the program that a bunch of tar's flags names: -cIPROGRAM, cIf PROGRAM.
func tarProgram(args []Arg, i int) []Inner {
	letters, dashed := strings.CutPrefix(args[i].Text, "-")
	at := strings.IndexAny(letters, "IF")
	switch {
	case !args[i].Literal || at < 0 || strings.HasPrefix(letters, "-") || !dashed && i > 0:
		return nil
	case dashed && at+1 < len(letters):
		return []Inner{{Shell: letters[at+1:]}}
	}
	return guesses(args[i+1 : min(len(args), i+4)])
}

// isPacking reports whether a long flag of tar, or an abbreviation, says to pack.
func isPacking(flag string) bool {
	for _, long := range []string{"--create", "--append", "--update", "--concatenate", "--catenate"} {
		if strings.HasPrefix(long, flag) {
			return true
		}
	}
	return false
}
