package toolquaytest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// target is the file that a write is about.
type target struct {
	host   *Host
	name   string
	expect string
	exists bool
	former []byte
}

func (h *Host) target(p, expect string) (*target, error) {
	name, info, err := h.find(p)
	switch {
	case toolquay.CodeOf(err) == toolquay.CodeNotFound:
		name, err = h.within(p)
		return &target{host: h, name: name, expect: expect}, err
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, toolquay.Errorf(toolquay.CodeIsDirectory, "%s is a directory", p)
	}
	former, err := fs.ReadFile(h.files, name)
	return &target{host: h, name: name, expect: expect, exists: true, former: former}, err
}

func (t *target) fail(code toolquay.Code, what string) error {
	return toolquay.Errorf(code, "%s %s", t.host.abs(t.name), what)
}

// check holds the file to what the write expects, and to what was seen of it.
func (t *target) check(places []span) error {
	if !t.exists {
		if t.expect == "" || t.expect == toolquay.ExpectAbsent {
			return nil
		}
		return t.fail(toolquay.CodeChanged, "is gone")
	}
	if err := t.host.seen.check(t.name, t.former, places, t.expect != ""); err != nil {
		return err
	}
	switch t.expect {
	case "", hashOf(t.former):
		return nil
	case toolquay.ExpectAbsent:
		return t.fail(toolquay.CodeChanged, "is there already")
	}
	return t.fail(toolquay.CodeChanged, "is not what was expected")
}

// put puts the new content in place and tells of it.
func (t *target) put(content []byte, ok toolquay.WriteOK, text bool) (any, []byte, error) {
	t.host.files.write(t.name, content)
	ok.Path, ok.Created = t.host.abs(t.name), !t.exists
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
func (h *Host) write(raw []byte, parts [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.WriteArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	if len(parts) != 1 {
		return nil, nil, toolquay.Errorf(toolquay.CodeInvalidInput, "fs.write takes one part, the content")
	}
	t, err := h.target(args.Path, args.Expect)
	if err == nil {
		err = t.check(nil)
	}
	if err != nil {
		return nil, nil, err
	}
	content := parts[0]
	if len(t.former) == 0 && !args.Bytes {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	if t.exists && bytes.Equal(t.former, content) {
		return toolquay.WriteOK{Path: t.host.abs(t.name), Unchanged: true, Size: int64(len(t.former)), Hash: hashOf(t.former)}, nil, nil
	}
	h.seen.wrote(t.name, content)
	return t.put(content, toolquay.WriteOK{}, !args.Bytes)
}

// replace does fs.replace. Line endings are those of the text, and quotes match
// nothing but themselves.
func (h *Host) replace(raw []byte, parts [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.ReplaceArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	if len(parts) != 2 {
		return nil, nil, toolquay.Errorf(toolquay.CodeInvalidInput, "fs.replace takes two parts, old and new")
	}
	t, err := h.target(args.Path, args.Expect)
	if err != nil {
		return nil, nil, err
	}
	return t.replace(parts[0], parts[1], args.All)
}

func (t *target) replace(from, to []byte, all bool) (any, []byte, error) {
	if !t.exists && len(from) > 0 {
		return nil, nil, missing(t.host.abs(t.name))
	}
	edits, places := find(t.former, from, len(to))
	if err := t.check(places); err != nil {
		return nil, nil, err
	}
	switch {
	case bytes.Equal(from, to):
		return nil, nil, t.fail(toolquay.CodeSameText, "would stay as it is: both texts are the same")
	case len(places) == 0 && len(from)+len(t.former) > 0:
		return nil, nil, t.fail(toolquay.CodeNoMatch, "does not have the text to replace")
	case len(places) > 1 && !all:
		return nil, nil, t.fail(toolquay.CodeNotUnique, "has the text to replace more than once")
	}
	content := to
	if len(from) > 0 {
		content = bytes.ReplaceAll(t.former, from, to)
		t.host.seen.edited(t.name, content, edits)
	} else {
		t.host.seen.wrote(t.name, content)
	}
	return t.put(content, toolquay.WriteOK{Replaced: len(places)}, true)
}

// find returns where a text is, and the edits that put something of another length
// there. The places are never nil.
func find(content, text []byte, length int) ([]edit, []span) {
	edits, places := []edit{}, []span{}
	for at := 0; len(text) > 0; {
		i := bytes.Index(content[at:], text)
		if i < 0 {
			break
		}
		place := span{at + i, at + i + len(text)}
		edits, places = append(edits, edit{place, length}), append(places, place)
		at = place.to
	}
	return edits, places
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
