package toolquaytest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// target is the file that a write is about.
type target struct {
	session *session
	name    string
	expect  string
	exists  bool
	former  []byte
	// sight is what the write stands on: what the model has seen of the file, or with
	// own what the call has read of it.
	sight *sight
	own   bool
}

func (s *session) target(p, expect string) (*target, error) {
	if err := s.mayWrite(p); err != nil {
		return nil, err
	}
	if err := s.inScope(s.claim, p, true); err != nil {
		return nil, err
	}
	h := s.host
	name, info, err := h.find(p)
	switch {
	case toolquay.CodeOf(err) == toolquay.CodeNotFound:
		name, err = h.within(p)
		return &target{session: s, name: name, expect: expect}, err
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, toolquay.Errorf(toolquay.CodeIsDirectory, "%s is a directory", p)
	}
	former, err := fs.ReadFile(h.files, name)
	t := &target{session: s, name: name, expect: expect, exists: true, former: former, sight: h.seen.of(name)}
	known := t.sight != nil && t.sight.whole() && bytes.Equal(t.sight.content, former)
	if read := s.own.of(name); t.expectsHash() && !known && read != nil && read.whole() {
		t.sight, t.own = read, true
	}
	return t, err
}

func (t *target) expectsHash() bool { return t.expect != "" && t.expect != toolquay.ExpectAbsent }

func (t *target) fail(code toolquay.Code, what string) error {
	return toolquay.Errorf(code, "%s %s", t.session.host.abs(t.name), what)
}

// mayMake checks what is expected of a file that is missing.
func (t *target) mayMake() error {
	if t.expectsHash() {
		return t.fail(toolquay.CodeChanged, "is missing, and its former content was expected")
	}
	return nil
}

// check holds the file to what is known of it, enough or not, and to what the write
// expects.
func (t *target) check(enough bool) error {
	switch {
	case t.sight == nil:
		return t.fail(toolquay.CodeNotRead, "was not read in this session; read it before writing to it")
	case !enough:
		return t.fail(toolquay.CodeNotRead, "was read in part; read what is to be written over")
	case t.expect == toolquay.ExpectAbsent:
		return t.fail(toolquay.CodeChanged, "is there, and was expected to be missing; read it")
	case t.expectsHash() && t.expect != hashOf(t.former), !bytes.Equal(t.sight.content, t.former):
		return t.fail(toolquay.CodeChanged, "has changed since it was read; read it again")
	}
	return nil
}

// put puts the new content in place and tells of it. Edits are where it differs, nil for
// a file that is written anew.
func (t *target) put(content []byte, edits []edit, ok toolquay.WriteOK, text bool) (any, []byte, error) {
	s, host := t.session, t.session.host
	host.files.write(t.name, content)
	s.shown = slices.DeleteFunc(s.shown, func(g glance) bool { return g.name == t.name })
	if t.own || !t.exists {
		s.own.wrote(t.name, content, true)
	}
	switch {
	case t.own: // the model knows what it knew
	case !t.exists || edits == nil || t.sight.whole():
		host.seen.wrote(t.name, content, !t.exists || t.sight.whole())
	default:
		host.seen.edited(t.name, content, edits)
	}
	ok.Path, ok.Created = host.abs(t.name), !t.exists
	ok.Size, ok.Hash = int64(len(content)), hashOf(content)
	if text {
		ok.Encoding = toolquay.EncodingUTF8
		if bytes.Contains(content, []byte("\n")) {
			ok.LineEnding = toolquay.LineEndingLF
		}
	}
	var diff string
	diff, ok.Removed, ok.Added = unified(ok.Path, string(t.former), string(content))
	return ok, []byte(diff), nil
}

// write does fs.write. Text is UTF-8 and written as it is, in a new file with LF.
func (s *session) write(raw []byte, parts [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.WriteArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	if len(parts) != 1 {
		return nil, nil, toolquay.Errorf(toolquay.CodeInvalidInput, "fs.write takes one part, the content")
	}
	t, err := s.target(args.Path, args.Expect)
	if err == nil {
		if t.exists {
			err = t.check(t.expectsHash() || t.sight != nil && t.sight.whole())
		} else {
			err = t.mayMake()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	content := parts[0]
	if len(t.former) == 0 && !args.Bytes {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	if t.exists && bytes.Equal(t.former, content) {
		return toolquay.WriteOK{Path: s.host.abs(t.name), Unchanged: true, Size: int64(len(t.former)), Hash: hashOf(t.former)}, nil, nil
	}
	return t.put(content, nil, toolquay.WriteOK{}, !args.Bytes)
}

// replace does fs.replace. Line endings are those of the text, and quotes match
// nothing but themselves.
func (s *session) replace(raw []byte, parts [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.ReplaceArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	if len(parts) != 2 {
		return nil, nil, toolquay.Errorf(toolquay.CodeInvalidInput, "fs.replace takes two parts, old and new")
	}
	t, err := s.target(args.Path, args.Expect)
	if err == nil && !t.exists {
		if err = t.mayMake(); len(parts[0]) > 0 {
			err = missing(s.host.abs(t.name))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return t.replace(parts[0], parts[1], args.All)
}

func (t *target) replace(from, to []byte, all bool) (any, []byte, error) {
	edits := find(t.former, from, len(to))
	if t.exists {
		if err := t.check(t.sawEnough(edits, all)); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case bytes.Equal(from, to):
		return nil, nil, t.fail(toolquay.CodeSameText, "would stay as it is: both texts are the same")
	case len(edits) == 0 && len(from)+len(t.former) > 0:
		return nil, nil, t.fail(toolquay.CodeNoMatch, "does not have the text to replace")
	case len(edits) > 1 && !all:
		return nil, nil, t.fail(toolquay.CodeNotUnique, "has the text to replace more than once")
	}
	if len(from) == 0 {
		return t.put(to, nil, toolquay.WriteOK{}, true)
	}
	return t.put(bytes.ReplaceAll(t.former, from, to), edits, toolquay.WriteOK{Replaced: len(edits)}, true)
}

// sawEnough reports whether what would change is known: of several places of which one is
// to be replaced, one.
func (t *target) sawEnough(edits []edit, all bool) bool {
	if t.sight == nil {
		return false
	}
	unseen := 0
	for _, e := range edits {
		if !t.sight.covers(e.place) {
			unseen++
		}
	}
	return unseen == 0 || !all && unseen < len(edits)
}

// find returns where a text is, as edits that put something of another length there.
func find(content, text []byte, length int) []edit {
	edits := []edit{}
	for at := 0; len(text) > 0; {
		i := bytes.Index(content[at:], text)
		if i < 0 {
			break
		}
		place := span{at + i, at + i + len(text)}
		edits = append(edits, edit{place, length})
		at = place.to
	}
	return edits
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// unified is a diff of one change, without lines around it, and how many lines that
// takes away and adds.
func unified(name, before, after string) (diff string, removed, added int) {
	from, to := splitLines(before), splitLines(after)
	start := 0
	for start < min(len(from), len(to)) && from[start] == to[start] {
		start++
	}
	from, to = from[start:], to[start:]
	for len(from) > 0 && len(to) > 0 && from[len(from)-1] == to[len(to)-1] {
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", name, name, start+1, len(from), start+1, len(to))
	for _, line := range from {
		b.WriteString("-" + strings.TrimSuffix(line, "\n") + "\n")
	}
	for _, line := range to {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String(), len(from), len(to)
}

func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
