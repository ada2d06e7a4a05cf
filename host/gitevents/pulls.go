package gitevents

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// verb is a sub-command of "gh pr" or "glab mr" that does a deed.
type verb struct {
	kind  capability.DeedKind
	names []string
	// valued are the options with values of their own.
	valued options
	// title is the option for a title; empty where that is another text's.
	title []string
	// not are options with which it does something else, or nothing.
	not []string
	// done are the words by which it says that it did; empty where it says the
	// request's address.
	done []string
	// silent are options that make an exit status prove it, as it says nothing
	// where no terminal is.
	silent []string
}

var (
	titled = []string{"t", "title"}

	ghVerbs = []verb{
		{
			kind: capability.DeedPullRequest, names: []string{"create", "new"}, title: titled, not: []string{"dry-run", "web", "w"},
			valued: options{"aBbFHlmprTtR", []string{
				"assignee", "base", "body", "body-file", "head", "label", "milestone", "project", "recover", "reviewer", "template",
				"title", "repo",
			}},
		},
		{
			kind: capability.DeedPullRequestMerged, names: []string{"merge"}, not: []string{"auto", "disable-auto"},
			valued: options{"AbFtR", []string{"author-email", "body", "body-file", "match-head-commit", "subject", "repo"}},
			done:   []string{"Merged", "Rebased and merged", "Squashed and merged"},
			silent: []string{"m", "merge", "r", "rebase", "s", "squash"},
		},
		{
			kind: capability.DeedPullRequestClosed, names: []string{"close"},
			valued: options{"cR", []string{"comment", "repo"}}, done: []string{"Closed"},
		},
		{
			kind: capability.DeedPullRequestEdited, names: []string{"edit"}, title: titled,
			valued: options{"BbFmtR", []string{
				"base", "body", "body-file", "milestone", "title", "repo", "add-assignee", "add-label", "add-project",
				"add-reviewer", "remove-assignee", "remove-label", "remove-project", "remove-reviewer",
			}},
		},
	}

	glabVerbs = []verb{
		{
			kind: capability.DeedPullRequest, names: []string{"create", "new"}, title: titled, not: []string{"web", "w"},
			valued: options{"abdHilmstR", []string{
				"assignee", "target-branch", "description", "head", "related-issue", "label", "milestone", "source-branch", "title",
				"repo", "reviewer", "template",
			}},
		},
		{
			kind: capability.DeedPullRequestMerged, names: []string{"merge", "accept"},
			valued: options{"mR", []string{"message", "sha", "squash-message", "repo"}}, done: []string{"Merged"},
		},
		{
			kind: capability.DeedPullRequestClosed, names: []string{"close"},
			valued: options{"R", []string{"repo"}}, done: []string{"Closed"},
		},
		{
			kind: capability.DeedPullRequestEdited, names: []string{"update"}, title: titled,
			valued: options{"adlmtuR", []string{
				"assignee", "description", "label", "milestone", "reviewer", "target-branch", "title", "unlabel", "repo",
			}},
		},
	}
)

// pull makes the deed of "gh pr" or "glab mr".
func (r *reader) pull(p *program, noun string, verbs []verb) {
	sub, args := pullWords(p.args, noun)
	for _, v := range verbs {
		if !slices.Contains(v.names, sub) {
			continue
		}
		a := v.valued.split(args)
		if a.has("help") || a.has(v.not...) || p.end == endFailed {
			return
		}
		if d, ok := r.pullDeed(p, &v, &a); ok {
			r.tell(p, d)
		}
		return
	}
}

// pullWords finds what is done with pull requests, and what stands behind it.
func pullWords(words []permissions.Word, noun string) (sub string, args []permissions.Word) {
	if len(words) < 2 || words[0].Text != noun {
		return "", nil
	}
	words = words[1:]
	for len(words) > 2 && (words[0].Text == "-R" || words[0].Text == "--repo") {
		words = words[2:]
	}
	if len(words) > 1 && strings.HasPrefix(words[0].Text, "--repo=") {
		words = words[1:]
	}
	if len(words) == 0 || !words[0].Literal {
		return "", nil
	}
	return words[0].Text, words[1:]
}

func (r *reader) pullDeed(p *program, v *verb, a *arguments) (capability.Deed, bool) {
	d := capability.Deed{Kind: v.kind}
	d.Number, d.URL = asked(a)
	if title, ok := a.value(v.title...); ok && len(v.title) > 0 && title.Literal {
		d.Subject = title.Text
	}
	if len(v.done) == 0 {
		return d, r.takePull(&d)
	}
	if n := r.takeNote(v.done, d.Number); n != nil {
		d.Number = n.number
		if n.title != "" {
			d.Subject = n.title
		}
		_ = r.takePull(&d) // Its address may stand below, or not.
		return d, true
	}
	return d, p.end == endSucceeded && !a.vague && len(v.silent) > 0 && a.has(v.silent...) && !r.signs.waits
}

// asked is the request that a command was given, by its number or address.
func asked(a *arguments) (number int, url string) {
	word := a.word(0)
	if m := pullURL.FindStringSubmatch(word); m != nil {
		number, _ = strconv.Atoi(m[2])
		return number, m[1]
	}
	if n, err := strconv.ParseUint(strings.TrimLeft(word, "#!"), 10, 31); err == nil {
		return int(n), ""
	}
	return 0, ""
}

// takePull takes the next address that may be the request's.
func (r *reader) takePull(d *capability.Deed) bool {
	for i := range r.signs.pulls {
		s := &r.signs.pulls[i]
		if s.taken || s.exists || d.Number != 0 && d.Number != s.number {
			continue
		}
		s.taken = true
		d.Number, d.URL = s.number, s.url
		return true
	}
	return false
}

// takeNote takes the next line that says so, of any request or of that one.
func (r *reader) takeNote(done []string, number int) *noteSign {
	for i := range r.signs.notes {
		n := &r.signs.notes[i]
		if !n.taken && slices.Contains(done, n.text) && (number == 0 || n.number == 0 || n.number == number) {
			n.taken = true
			return n
		}
	}
	return nil
}
