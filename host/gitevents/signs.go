package gitevents

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// sides is how much of an output is read at its beginning and at its end, and
// maxLine how much of a line.
const (
	sides   = 512 << 10
	maxLine = 4096
)

// signs are the lines of an output that git, gh and glab print once something is
// done. Each is taken by one program at most.
type signs struct {
	commits  []commitSign
	pushes   []pushSign
	merges   []mergeSign
	rebases  []rebaseSign
	branches []branchSign
	pulls    []pullSign
	notes    []noteSign
	// waits says that gh told of a pull request that was merged before, or waits to
	// be.
	waits bool
}

type (
	// commitSign is "[main 1a2b3c4] Subject".
	commitSign struct {
		branch, hash, subject string
		taken                 bool
	}
	// pushSign is the lines below "To URL"; the URL is empty where that line is
	// missing.
	pushSign struct {
		url   string
		refs  []refSign
		taken bool
	}
	// refSign is "   1a2b3c4..5d6e7f8  main -> main".
	refSign struct {
		branch, hash string
		forced       bool
	}
	// mergeSign is "Merge made by", or "Fast-forward" to a commit.
	mergeSign struct {
		hash  string
		taken bool
	}
	rebaseSign struct {
		branch string
		taken  bool
	}
	branchSign struct {
		name  string
		taken bool
	}
	// pullSign is the address of a pull or merge request, alone on its line.
	pullSign struct {
		url    string
		number int
		// exists says that the line before says so.
		exists, taken bool
	}
	// noteSign is a line in which gh or glab says what it did, or that there was
	// nothing to do.
	noteSign struct {
		text   string
		number int
		title  string
		taken  bool
	}
)

var (
	commitLine = lazyregexp.New(`^\[([^\]]+) ([0-9a-f]{4,64})\] (.*)$`)
	// The summary of a push is not translated: neither the marks before it nor the
	// words in brackets are.
	pushLine   = lazyregexp.New(`^ ([ +*!=-]) (\[[a-z ]+\]|\S+) +(\S+) -> (\S+)(?: \(.*\))?$`)
	pushedLine = lazyregexp.New(`^([ +*!=-])\t([^\t:]*):([^\t:]+)\t(\[[a-z ]+\]|\S+)(?: \(.*\))?$`)
	hashRange  = lazyregexp.New(`^[0-9a-f]{4,64}\.{2,3}([0-9a-f]{4,64})$`)
	updating   = lazyregexp.New(`^\S+ ([0-9a-f]{4,64}\.\.[0-9a-f]{4,64})$`)
	rebased    = lazyregexp.New(`^Successfully rebased and updated (?:refs/heads/(\S+)|detached HEAD)\.$`)
	switched   = lazyregexp.New(`^Switched to a new branch '([^']+)'$`)
	pullURL    = lazyregexp.New(`^\s*(https?://[^\s/@]+/\S+?/(?:pull|-/merge_requests)/([0-9]{1,9}))$`)
	note       = lazyregexp.New(`^\S+ ([A-Z][A-Za-z ]*?) (?:pull|merge) request (?:\S+?)?[#!]([0-9]{1,9})\.?(?: \((.*)\))?`)
	merged     = lazyregexp.New(`^\S+ (Merged)!?$`)
	waiting    = lazyregexp.New(`^\S+ (?:Pull request \S+ .*(?:already|will be) |The merge strategy for )`)
	colours    = lazyregexp.New("\x1b\\[[0-9;]*[A-Za-z]")
)

// readSigns goes through an output once.
func readSigns(output []byte) signs {
	var s signs
	if len(output) > 2*sides {
		s.read(output[:sides])
		output = output[len(output)-sides:]
	}
	s.read(output)
	return s
}

func (s *signs) read(output []byte) {
	last, summary := "", noSummary
	for line := range bytes.FieldsFuncSeq(output, func(r rune) bool { return r == '\n' || r == '\r' }) {
		text := colours.ReplaceAllString(string(line[:min(len(line), maxLine)]), "")
		ref := pushRef(text)
		switch {
		case strings.HasPrefix(text, "To "):
			s.pushes = append(s.pushes, pushSign{url: withoutUser(text[len("To "):])})
			summary = ofPush
		case strings.HasPrefix(text, "From "):
			summary = ofFetch
		case ref == nil:
			summary = noSummary
			s.line(text, last)
		case summary == noSummary:
			s.pushes = append(s.pushes, pushSign{})
			summary = ofPush
			fallthrough
		case summary == ofPush:
			s.push(ref)
		}
		last = text
	}
}

// summary is what the lines that look like a push's belong to: a fetch has the
// same.
type summary int

const (
	noSummary summary = iota
	ofPush
	ofFetch
)

// pushRef reads a line of a summary: its mark, what happened, from where, to where.
func pushRef(text string) []string {
	if p := pushedLine.FindStringSubmatch(text); p != nil {
		return []string{p[1], p[4], p[2], strings.TrimPrefix(p[3], "refs/heads/")}
	}
	if m := pushLine.FindStringSubmatch(text); m != nil {
		return m[1:5]
	}
	return nil
}

// push notes a line of a push's summary, if something was pushed.
func (s *signs) push(m []string) {
	block := &s.pushes[len(s.pushes)-1]
	mark, summary, ref := m[0], m[1], refSign{branch: m[3], forced: m[0] == "+"}
	if h := hashRange.FindStringSubmatch(summary); h != nil {
		ref.hash = h[1]
	}
	switch {
	case mark == "*" && strings.HasPrefix(summary, "[new "):
		if summary == "[new tag]" {
			ref.branch = ""
		}
	case (mark == " " || mark == "+") && ref.hash != "":
		ref.branch = strings.TrimPrefix(ref.branch, "refs/tags/")
	default:
		return // It was rejected, deleted, or there already.
	}
	block.refs = append(block.refs, ref)
}

// line reads what is no summary of a push. last is the line before it.
func (s *signs) line(text, last string) {
	switch m, ff := commitLine.FindStringSubmatch(text), updating.FindStringSubmatch(last); {
	case m != nil:
		s.commits = append(s.commits, commitSign{branch: branchOf(m[1]), hash: m[2], subject: m[3]})
	case strings.HasPrefix(text, "Merge made by "):
		s.merges = append(s.merges, mergeSign{})
	case ff != nil && strings.HasPrefix(text, "Fast-forward"):
		s.merges = append(s.merges, mergeSign{hash: hashRange.FindStringSubmatch(ff[1])[1]})
	default:
		s.name(text, last)
	}
}

// name reads the lines that name a branch or a pull request.
func (s *signs) name(text, last string) {
	if m := rebased.FindStringSubmatch(text); m != nil {
		s.rebases = append(s.rebases, rebaseSign{branch: m[1]})
	} else if m := switched.FindStringSubmatch(text); m != nil {
		s.branches = append(s.branches, branchSign{name: m[1]})
	} else if m := pullURL.FindStringSubmatch(text); m != nil {
		number, _ := strconv.Atoi(m[2])
		s.pulls = append(s.pulls, pullSign{url: m[1], number: number, exists: strings.HasSuffix(last, "already exists:")})
	} else if m := note.FindStringSubmatch(text); m != nil {
		number, _ := strconv.Atoi(m[2])
		s.notes = append(s.notes, noteSign{text: m[1], number: number, title: m[3]})
	} else if m := merged.FindStringSubmatch(text); m != nil {
		s.notes = append(s.notes, noteSign{text: m[1]})
	} else if waiting.MatchString(text) {
		s.waits = true
	}
}

// branchOf is the branch in a commit's line: "main" or "main (root-commit)", of
// which the second word is translated, as "detached HEAD" is.
func branchOf(text string) string {
	name, rest, more := strings.Cut(text, " ")
	if more && (!strings.HasPrefix(rest, "(") || !strings.HasSuffix(rest, ")")) {
		return ""
	}
	return name
}

// withoutUser takes a name and a password out of a URL.
func withoutUser(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		path = "/" + path
	}
	return scheme + "://" + host + path
}
