package gitevents

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// row is a way to do something with a pull request.
type row struct {
	kind capability.GitEventKind
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
		kind: capability.PullRequestCreated, words: []string{"gh pr create", "gh pr new", "glab mr create", "glab mr new"},
		not: []string{"--dry-run", "--web", "-w"},
	},
	{kind: capability.PullRequestCommented, words: []string{"gh pr comment", "glab mr note", "glab mr comment"}, not: []string{"--web", "-w"}},
	{
		kind: capability.PullRequestReady, words: []string{"gh pr ready"}, not: []string{"--undo"},
		done: lazyregexp.New(`(?m)^\S+ Pull request \S*?#([0-9]{1,9}) is marked as`),
	},
	{kind: capability.PullRequestReady, words: []string{"glab mr update"}, with: []string{"--ready", "-r"}},
	{
		kind: capability.PullRequestMerged, words: []string{"gh pr merge"}, not: []string{"--auto", "--disable-auto"}, silent: true,
		done: lazyregexp.New(`(?m)^\S+ (?:Merged|Rebased and merged|Squashed and merged) pull request \S*?#([0-9]{1,9})(?: \((.*)\))?`),
	},
	{
		kind: capability.PullRequestMerged, words: []string{"glab mr merge", "glab mr accept"},
		done: lazyregexp.New(`(?m)^\S+ Merged!?$`),
	},
	{
		kind: capability.PullRequestClosed, words: []string{"gh pr close", "glab mr close"},
		done: lazyregexp.New(`(?m)^\S+ Closed (?:pull|merge) request \S*?[#!]([0-9]{1,9})\.?(?: \((.*)\))?`),
	},
	{kind: capability.PullRequestEdited, words: []string{"gh pr edit", "glab mr update"}},

	{kind: capability.PullRequestCreated, method: "POST", path: lazyregexp.New(`/repos/[^/]+/[^/]+/pulls$|/projects/[^/]+/merge_requests$`)},
	{
		// Of an issue, or of a pull request: only the address in the answer tells.
		kind: capability.PullRequestCommented, method: "POST", path: lazyregexp.New(`/repos/[^/]+/[^/]+/issues/([0-9]+)/comments$`),
	},
	{
		kind: capability.PullRequestCommented, method: "POST", path: lazyregexp.New(`/pulls/([0-9]+)/(?:comments|reviews)$`),
		silent: true,
	},
	{
		kind: capability.PullRequestCommented, method: "POST", path: lazyregexp.New(`/merge_requests/([0-9]+)/(?:notes|discussions)$`),
		silent: true, done: lazyregexp.New(`"note\w+_type":\s*"MergeRequest"`),
	},
	{
		kind: capability.PullRequestReady, method: "POST", path: lazyregexp.New(`/graphql$`),
		body: lazyregexp.New(`\bmarkPullRequestReadyForReview\b`), silent: true, done: lazyregexp.New(`"isDraft":\s*false`),
	},
	{
		kind: capability.PullRequestMerged, method: "PUT", path: lazyregexp.New(`/(?:pulls|merge_requests)/([0-9]+)/merge$`),
		silent: true, done: lazyregexp.New(`"merged":\s*true|"state":\s*"merged"`),
	},
	{
		kind: capability.PullRequestClosed, method: "PATCH", path: lazyregexp.New(`/pulls/([0-9]+)$`),
		body: lazyregexp.New(`\bstate["']?\s*[:=]\s*["']?closed\b`), silent: true, done: lazyregexp.New(`"state":\s*"closed"`),
	},
	{
		kind: capability.PullRequestClosed, method: "PUT", path: lazyregexp.New(`/merge_requests/([0-9]+)$`),
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

// pulls returns what a command did to pull requests, up to so many events.
func pulls(command *permissions.Command, exit int, output string, most int) (events []capability.GitEvent) {
	if command.Fault != "" {
		return nil
	}
	var last []permissions.Word
	idle := nothing.MatchString(output)
	output = nothing.ReplaceAllString(output, "")
	for _, part := range command.Parts {
		if slices.Contains(part.Env, "PATH") || part.Inner && len(last) > 0 && len(part.Words) > 0 && slices.Equal(last[1:], part.Words[1:]) {
			continue // another reading of the same
		}
		last = part.Words
		c, ok := callOf(part.Words)
		if !ok {
			continue
		}
		for len(events) < most {
			d := capability.GitEvent{Kind: c.row.kind, Program: c.program, Number: c.number, URL: c.url, Subject: c.title}
			proven, failed := status(command, c.program, exit)
			if failed || !evidence(&output, c.row, &d) && (!c.row.silent || !c.strict || !proven || idle) {
				break
			}
			events = append(events, d)
			if idle = true; !part.Again {
				break
			}
		}
	}
	return events
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
	if len(words) == 0 || !words[0].Literal {
		return call{}, false
	}
	c := call{program: path.Base(words[0].Text), strict: true}
	texts := []string{"", c.program}
	for _, word := range words[1:] {
		texts = append(texts, word.Text)
	}
	line := repo.ReplaceAllString(strings.Join(append(texts, ""), "\x00"), "")
	if c.program == "curl" || strings.HasPrefix(line, "\x00gh\x00api\x00") || strings.HasPrefix(line, "\x00glab\x00api\x00") {
		return c, c.request(line)
	}
	given := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			return strings.Contains(line, "\x00"+n+"\x00") || strings.Contains(line, "\x00"+n+"=")
		})
	}
	for i := range rows {
		c.row = &rows[i]
		for _, command := range c.row.words {
			args, ok := strings.CutPrefix(line, "\x00"+strings.ReplaceAll(command, " ", "\x00")+"\x00")
			if ok && (c.row.with == nil || given(c.row.with)) {
				c.arguments(args)
				return c, !given(c.row.not) && !given([]string{"--help", "-h"})
			}
		}
	}
	return c, false
}

// What is looked for in the words of a run, each with a NUL before it and behind it.
var (
	repo = lazyregexp.New(`\x00(?:-R|--repo)(?:\x00|=)[^\x00]*`)
	// named is the pull request, behind options that have no values.
	named     = lazyregexp.New(`^(?:(?:-[smrdy]|--squash|--merge|--rebase|--delete-branch|--admin|--yes|--fill|--ready)\x00)*([^\x00]*)`)
	titled    = lazyregexp.New(`(?:^|\x00)(?:-t|--title)[\x00=]([^\x00]*)`)
	requested = lazyregexp.New(`\x00(?:-[^-XdFHou\x00]*X|--request|--method)[\x00=]?(\w+)`)
	reads     = lazyregexp.New(`\x00(?:-G|--get|-I|--head)\x00`)
	failing   = lazyregexp.New(`\x00(?:-[^-XdFHou\x00]*f[^\x00]*|--fail|--fail-with-body)\x00`)
	curlData  = lazyregexp.New(`\x00(?:-[^-XdFHou\x00]*[dF]|--data(?:-raw|-binary|-urlencode|-ascii)?|--json|--form(?:-string)?)[\x00=]?([^\x00]*)`)
	apiData   = lazyregexp.New(`\x00(?:-[fF]|--raw-field|--field|--input)[\x00=]([^\x00]*)`)
)

// arguments looks for the pull request that is named, and for a title.
func (c *call) arguments(args string) {
	name := named.FindStringSubmatch(args)[1]
	if m := address.FindStringSubmatch(name); m != nil {
		c.url, name = m[1], m[2]
	}
	if m := number.FindStringSubmatch(name); m != nil {
		c.number, _ = strconv.Atoi(m[1])
	}
	if m := titled.FindStringSubmatch(args); m != nil && c.row.kind != capability.PullRequestMerged {
		c.title = m[1]
	}
}

// request finds the row of a request.
func (c *call) request(line string) bool {
	var method, body string
	data := apiData
	if c.program == "curl" {
		data, c.strict = curlData, failing.MatchString(line)
	}
	for _, m := range data.FindAllStringSubmatch(line, -1) {
		method, body = "POST", body+m[1]+"\n"
	}
	if m := requested.FindStringSubmatch(line); m != nil {
		method = strings.ToUpper(m[1])
	}
	if m := title.FindStringSubmatch(body); m != nil {
		c.title = m[1] + m[2]
	}
	for i := range rows {
		c.row = &rows[i]
		if c.row.path == nil || c.row.method != method || reads.MatchString(line) || c.row.body != nil && !c.row.body.MatchString(body) {
			continue
		}
		for word := range strings.SplitSeq(line, "\x00") {
			url, _, _ := strings.Cut(strings.Trim(word, `"'`), "?")
			if m := c.row.path.FindStringSubmatch("/" + url); m != nil {
				c.number, _ = strconv.Atoi(append(m, "")[1])
				return true
			}
		}
	}
	return false
}

// evidence looks in an output for what is printed once it is done.
func evidence(output *string, r *row, d *capability.GitEvent) bool {
	if r.done == nil {
		return take(output, address, d)
	}
	found := take(output, r.done, d)
	if found {
		take(output, address, d)
	}
	return found
}

// take reads what is printed of a pull request, if it is that of the call, and takes it
// out: it is of one call.
func take(output *string, re *lazyregexp.Regexp, d *capability.GitEvent) bool {
	for _, m := range re.FindAllStringSubmatch(*output, -1) {
		text := append(m, "", "")[1:]
		n, url, subject := text[0], "", text[1]
		if re == address {
			n, url, subject = text[1], text[0], ""
		}
		if of, _ := strconv.Atoi(n); d.Number == 0 || of == 0 || of == d.Number {
			d.Number, d.URL, d.Subject = max(d.Number, of), cmp.Or(url, d.URL), cmp.Or(subject, d.Subject)
			*output = strings.Replace(*output, m[0], "", 1)
			return true
		}
	}
	return false
}

// unruly are builtins by which a script's status may be another's than the last
// command's, or a name another program's.
var unruly = []string{
	".", "alias", "break", "builtin", "continue", "coproc", "enable", "eval", "exec", "exit", "hash", "kill", "logout",
	"return", "set", "shopt", "source", "suspend", "trap",
}

// step is a simple command that starts no other.
const (
	variable = `\$(?:\w|\{\w+\})`
	quoted   = `|\\.|'[^']*'|"(?:[^"\\$\x60]|\\.|` + variable + `)*"`
	step     = `(?:[^;&|!(){}#$\x60\n'"\\]|>&|` + variable + quoted + `)+`
)

// plain is a text that ends in steps joined by &&: its groups are the statements before
// them, and all steps but the first.
var plain = lazyregexp.New(`(?s)^((?:#[^\n]*|[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*[;\n])?` + step + `((?:&&\s*` + step + `)*)[;\s]*(?:\s#[^\n]*)?$`)

// status tells what the exit status of a command says of the runs of a program: that
// all succeeded, as they stand in a list of && at its end, or that the only one failed.
func status(command *permissions.Command, program string, exit int) (proven, failed bool) {
	for _, part := range command.Parts {
		if len(part.Words) > 0 && (!part.Words[0].Literal || slices.Contains(unruly, path.Base(part.Words[0].Text))) {
			return false, false
		}
	}
	m := plain.FindStringSubmatch(strings.TrimSpace(command.Text))
	if m == nil || strings.Contains(m[1], program) {
		return false, false
	}
	return exit == 0, exit > 0 && exit < 128 && m[2] == ""
}
