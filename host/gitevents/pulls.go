package gitevents

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// row is a way to do something with a pull request.
type row struct {
	kind capability.DeedKind
	// words are programs with their sub-commands; with are options of which one makes
	// it this, and not are those that make it something else, or nothing.
	words     []string
	with, not []string
	// method, path and body are those of a request that curl, "gh api" or "glab api"
	// makes. A group of the path is the request's number.
	method     string
	path, body *lazyregexp.Regexp
	// done is what is printed once it is done, its groups the number and title; nil is
	// the pull request's address.
	done *lazyregexp.Regexp
	// silent says that nothing may be printed, so that the exit status has to prove it.
	silent bool
}

// rows are tried in order.
var rows = []row{
	{
		kind: capability.DeedPullRequest, words: []string{"gh pr create", "gh pr new", "glab mr create", "glab mr new"},
		not: []string{"--dry-run", "--web", "-w"},
	},
	{kind: capability.DeedPullRequestCommented, words: []string{"gh pr comment", "glab mr note", "glab mr comment"}, not: []string{"--web", "-w"}},
	{
		kind: capability.DeedPullRequestReady, words: []string{"gh pr ready"}, not: []string{"--undo"},
		done: lazyregexp.New(`(?m)^\S+ Pull request \S*?#([0-9]{1,9}) is marked as`),
	},
	{kind: capability.DeedPullRequestReady, words: []string{"glab mr update"}, with: []string{"--ready", "-r"}},
	{
		kind: capability.DeedPullRequestMerged, words: []string{"gh pr merge"}, not: []string{"--auto", "--disable-auto"}, silent: true,
		done: lazyregexp.New(`(?m)^\S+ (?:Merged|Rebased and merged|Squashed and merged) pull request \S*?#([0-9]{1,9})(?: \((.*)\))?`),
	},
	{
		kind: capability.DeedPullRequestMerged, words: []string{"glab mr merge", "glab mr accept"},
		done: lazyregexp.New(`(?m)^\S+ Merged!?$`),
	},
	{
		kind: capability.DeedPullRequestClosed, words: []string{"gh pr close", "glab mr close"},
		done: lazyregexp.New(`(?m)^\S+ Closed (?:pull|merge) request \S*?[#!]([0-9]{1,9})\.?(?: \((.*)\))?`),
	},
	{kind: capability.DeedPullRequestEdited, words: []string{"gh pr edit", "glab mr update"}},

	{kind: capability.DeedPullRequest, method: "POST", path: lazyregexp.New(`/repos/[^/]+/[^/]+/pulls$|/projects/[^/]+/merge_requests$`)},
	{
		// Of an issue, or of a pull request: only the address in the answer tells.
		kind: capability.DeedPullRequestCommented, method: "POST", path: lazyregexp.New(`/repos/[^/]+/[^/]+/issues/([0-9]+)/comments$`),
	},
	{
		kind: capability.DeedPullRequestCommented, method: "POST", path: lazyregexp.New(`/pulls/([0-9]+)/(?:comments|reviews)$`),
		silent: true,
	},
	{
		kind: capability.DeedPullRequestCommented, method: "POST", path: lazyregexp.New(`/merge_requests/([0-9]+)/(?:notes|discussions)$`),
		silent: true, done: lazyregexp.New(`"note\w+_type":\s*"MergeRequest"`),
	},
	{
		kind: capability.DeedPullRequestReady, method: "POST", path: lazyregexp.New(`/graphql$`),
		body: lazyregexp.New(`\bmarkPullRequestReadyForReview\b`), silent: true, done: lazyregexp.New(`"isDraft":\s*false`),
	},
	{
		kind: capability.DeedPullRequestMerged, method: "PUT", path: lazyregexp.New(`/(?:pulls|merge_requests)/([0-9]+)/merge$`),
		silent: true, done: lazyregexp.New(`"merged":\s*true|"state":\s*"merged"`),
	},
	{
		kind: capability.DeedPullRequestClosed, method: "PATCH", path: lazyregexp.New(`/pulls/([0-9]+)$`),
		body: lazyregexp.New(`\bstate["']?\s*[:=]\s*["']?closed\b`), silent: true, done: lazyregexp.New(`"state":\s*"closed"`),
	},
	{
		kind: capability.DeedPullRequestClosed, method: "PUT", path: lazyregexp.New(`/merge_requests/([0-9]+)$`),
		body: lazyregexp.New(`\bstate_event["']?\s*[:=]\s*["']?close\b`), silent: true, done: lazyregexp.New(`"state":\s*"closed"`),
	},
}

var (
	// address is that of a pull or merge request, alone on its line or in an answer.
	address = lazyregexp.New(`(?m)(?:^\s*"?|"(?:html|web)_url":\s*")(https?://[^\s/@"]+/[^\s"]+?/(?:pulls?|-/merge_requests)/([0-9]{1,9}))(?:#[^\s"]*)?(?:"|\s*$)`)
	// nothing is printed where there was nothing to do, or it is left for later.
	nothing = lazyregexp.New(`already exists:\s+\S+|(?m)^\S+ (?:Pull request \S+ .*(?:already|will be) |The merge strategy for ).*`)
	title   = lazyregexp.New(`"title"\s*:\s*"([^"\\]*)"|(?m)^title=(.*)$`)
	number  = lazyregexp.New(`^[#!]?([0-9]{1,9})$`)
)

// pulls tells what the command did to pull requests.
func (w *Watch) pulls(exit int, output string) {
	if w.command.Fault != "" {
		return
	}
	var last []permissions.Word
	idle := nothing.MatchString(output)
	output = nothing.ReplaceAllString(output, "")
	for _, part := range w.command.Parts {
		if slices.Contains(part.Env, "PATH") || part.Inner && len(last) > 0 && len(part.Words) > 0 && slices.Equal(last[1:], part.Words[1:]) {
			continue // another reading of the same
		}
		last = part.Words
		c, ok := callOf(part.Words)
		if !ok {
			continue
		}
		for len(w.deeds) < maxDeeds {
			d := capability.Deed{Kind: c.row.kind, Program: c.program, Number: c.number, URL: c.url, Subject: c.title}
			proven, failed := status(&w.command, c.program, exit)
			if failed || !evidence(&output, c.row, &d) && (!c.row.silent || !c.strict || !proven || idle) {
				break
			}
			w.tell(d)
			if idle = true; !part.Again {
				break
			}
		}
	}
}

// call is a run of a program that does what a row says, and what its words tell.
type call struct {
	row        *row
	program    string
	number     int
	url, title string
	// strict says that the program fails where the service refuses.
	strict bool
}

// callOf finds the row of a part of the command.
func callOf(words []permissions.Word) (call, bool) {
	var text []string
	for i := 0; i < len(words); i++ {
		switch word := words[i].Text; {
		case i == 0 && !words[i].Literal:
			return call{}, false
		case word == "-R" || word == "--repo":
			i++
		case !strings.HasPrefix(word, "--repo="):
			text = append(text, word)
		}
	}
	if len(text) < 3 {
		text = append(text, "", "", "")
	}
	c := call{program: path.Base(text[0]), strict: true}
	if c.program == "curl" || (c.program == "gh" || c.program == "glab") && text[1] == "api" {
		return c, c.request(text[1:])
	}
	args := text[3:]
	given := func(names []string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { name, _, _ := strings.Cut(arg, "="); return slices.Contains(names, name) })
	}
	command := strings.Join([]string{c.program, text[1], text[2]}, " ")
	for i := range rows {
		c.row = &rows[i]
		if slices.Contains(c.row.words, command) && (c.row.with == nil || given(c.row.with)) {
			c.arguments(args)
			return c, !given(c.row.not) && !given([]string{"--help", "-h"})
		}
	}
	return c, false
}

// arguments looks for the pull request that is named, behind options that have no
// values, and for a title.
func (c *call) arguments(args []string) {
	flags := "-s --squash -m --merge -r --rebase -d --delete-branch --admin -y --yes --fill --ready"
	named := true
	for i, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		switch m := address.FindStringSubmatch(arg); {
		case name == "--title" || name == "-t" && c.row.kind != capability.DeedPullRequestMerged:
			c.title = value
		case named && m != nil:
			c.url, arg = m[1], m[2]
			fallthrough
		case named && number.MatchString(arg):
			c.number, _ = strconv.Atoi(number.FindStringSubmatch(arg)[1])
		}
		named = named && strings.Contains(flags, arg)
	}
}

// request finds the row of a request.
func (c *call) request(args []string) bool {
	var method, url, body string
	data := "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string"
	if c.program != "curl" {
		args, data = args[1:], "-f --raw-field -F --field --input"
	}
	c.strict = c.program != "curl"
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		short := strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && len(name) > 1
		if short && c.program == "curl" { // -sSfX POST, -XPOST, -d@file
			flags, at := args[i], strings.IndexAny(args[i], "XdFHou")
			if at > 0 {
				flags, name, value, has = args[i][:at], "-"+args[i][at:at+1], args[i][at+1:], at+1 < len(args[i])
			}
			c.strict = c.strict || strings.Contains(flags, "f")
		}
		takes := func(names string) bool { return slices.Contains(strings.Fields(names), name) }
		switch {
		case takes("-X --request --method"), takes(data), takes("-H --header -o --output -u --user -q --jq -t --template"):
			if !has && i+1 < len(args) {
				i++
				value = args[i]
			}
			if takes(data) {
				body += value + "\n"
			} else if takes("-X --request --method") {
				method = strings.ToUpper(value)
			}
		case takes("--fail --fail-with-body"):
			c.strict = true
		case takes("-G --get -I --head"):
			method = "GET"
		case !strings.HasPrefix(name, "-") && url == "":
			url = strings.Trim(args[i], `"'`)
		}
	}
	if method == "" && body != "" {
		method = "POST"
	}
	url, _, _ = strings.Cut(url, "?")
	if m := title.FindStringSubmatch(body); m != nil {
		c.title = m[1] + m[2]
	}
	for i := range rows {
		if c.row = &rows[i]; c.row.method != method || method == "" || c.row.body != nil && !c.row.body.MatchString(body) {
			continue
		}
		if m := c.row.path.FindStringSubmatch("/" + url); m != nil {
			if len(m) > 1 {
				c.number, _ = strconv.Atoi(m[1])
			}
			return true
		}
	}
	return false
}

// evidence looks in an output for what is printed once it is done, and takes it out:
// it is of one call.
func evidence(output *string, r *row, d *capability.Deed) bool {
	found := false
	take := func(re *lazyregexp.Regexp, read func(m []string)) {
		for _, m := range re.FindAllStringSubmatch(*output, -1) {
			n := ""
			if re == address {
				n = m[2]
			} else if len(m) > 1 {
				n = m[1]
			}
			if of, _ := strconv.Atoi(n); d.Number == 0 || of == 0 || of == d.Number {
				d.Number = max(d.Number, of)
				read(m)
				*output, found = strings.Replace(*output, m[0], "", 1), true
				return
			}
		}
	}
	if r.done != nil {
		take(r.done, func(m []string) {
			if len(m) > 2 && m[2] != "" {
				d.Subject = m[2]
			}
		})
		if !found {
			return false
		}
	}
	take(address, func(m []string) { d.URL = m[1] })
	return found
}

// unruly are builtins by which a script's status may be another's than the last
// command's, or a name another program's.
var unruly = []string{
	".", "alias", "break", "builtin", "continue", "coproc", "enable", "eval", "exec", "exit", "hash", "kill", "logout",
	"return", "set", "shopt", "source", "suspend", "trap",
}

// status tells what the exit status of a command says of the runs of a program: that
// all succeeded, as they stand in a list of && at its end, or that the only one failed.
func status(command *permissions.Command, program string, exit int) (proven, failed bool) {
	for _, part := range command.Parts {
		if len(part.Words) > 0 && (!part.Words[0].Literal || slices.Contains(unruly, path.Base(part.Words[0].Text))) {
			return false, false
		}
	}
	// The text has passed the guard of package shell: it is short, and nested no
	// deeper than the parser bears.
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command.Text), "")
	if err != nil || len(file.Stmts) == 0 {
		return false, false
	}
	last := file.Stmts[len(file.Stmts)-1]
	if strings.Contains(command.Text[:last.Pos().Offset()], program) {
		return false, false
	}
	_, alone := last.Cmd.(*syntax.CallExpr)
	return exit == 0 && chained(last), exit > 0 && exit < 128 && alone && chained(last)
}

// chained reports whether all that a statement runs must have succeeded if it did.
func chained(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		inner := false
		syntax.Walk(c, func(n syntax.Node) bool {
			_, stmt := n.(*syntax.Stmt)
			inner = inner || stmt
			return !inner
		})
		return !inner
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && chained(c.X) && chained(c.Y)
	}
	return false
}
