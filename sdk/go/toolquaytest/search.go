package toolquaytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// file is one regular file below a directory that is searched.
type file struct {
	name string // in Host.files
	rel  string // to the directory searched
	time int64
}

// walk lists the files below a directory that are within the scope.
func (s *session) walk(dir string) (string, []file, error) {
	h := s.host
	if dir == "" {
		dir = h.cwd
	}
	root, info, err := h.find(dir)
	if err == nil && !info.IsDir() {
		err = s.inScope(s.claim, dir, false)
	}
	if err != nil {
		return "", nil, err
	}
	var files []file
	err = fs.WalkDir(h.files, root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if s.claim != nil && !s.claim.covers(name, false) {
			return nil
		}
		rel := strings.TrimPrefix(name, root+"/")
		if name == root {
			rel = path.Base(name)
		}
		f := file{name: name, rel: rel}
		if info, err := e.Info(); err == nil {
			f.time = info.ModTime().UnixMilli()
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return "", nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", dir, err)
	}
	return h.abs(root), files, nil
}

// names does search.names. It leaves out ignore files, and braces within
// braces.
func (s *session) names(raw []byte, _ [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.NamesArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	root, files, err := s.walk(args.Path)
	if err != nil {
		return nil, nil, err
	}
	pattern := strings.TrimPrefix(args.Pattern, strings.TrimSuffix(root, "/")+"/")
	found := []toolquay.Found{}
	for _, f := range files {
		if globbed(pattern, f.rel) {
			found = append(found, toolquay.Found{Path: f.name, ModTime: f.time})
		}
	}
	slices.SortFunc(found, func(a, b toolquay.Found) int {
		return cmp.Or(cmp.Compare(b.ModTime, a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	most := args.Limit
	if most <= 0 {
		most = listMost
	}
	ok := toolquay.NamesOK{Path: root, Total: len(found), Truncated: len(found) > most}
	found = found[:min(len(found), most)]
	ok.Count = len(found)
	body, err := json.Marshal(found)
	return ok, body, err
}

// globbed reports whether a slash-separated path matches a glob with *, ?,
// [...], ** and one level of {a,b}.
func globbed(pattern, name string) bool {
	if open := strings.IndexByte(pattern, '{'); open >= 0 {
		if length := strings.IndexByte(pattern[open:], '}'); length > 0 {
			for _, choice := range strings.Split(pattern[open+1:open+length], ",") {
				if globbed(pattern[:open]+choice+pattern[open+length+1:], name) {
					return true
				}
			}
			return false
		}
	}
	return matched(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matched(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for skip := range len(name) + 1 {
				if matched(pattern[1:], name[skip:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}

// contents does search.contents, line by line. It leaves out ignore files, Type and
// Multiline, and refuses patterns that it cannot match as a real host does.
func (s *session) contents(raw []byte, _ [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.ContentsArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	if args.Type != "" || args.Multiline {
		return nil, nil, toolquay.Errorf(toolquay.CodeUnsupported, "this test host searches neither by type nor across lines; supply search.contents with Host.On")
	}
	x, err := compile(args.Pattern, args.CaseInsensitive)
	if err != nil {
		return nil, nil, err
	}
	root, files, err := s.walk(args.Path)
	if err != nil {
		return nil, nil, err
	}
	found := search{args: args, expression: x, ok: toolquay.ContentsOK{Path: root}}
	for _, f := range files {
		if !chosen(args.Globs, f.rel) {
			continue
		}
		content, err := fs.ReadFile(s.host.files, f.name)
		if err != nil || bytes.IndexByte(content, 0) >= 0 {
			continue
		}
		if err := found.file(f.name, lineList(content)); err != nil {
			return nil, nil, err
		}
	}
	return found.finish()
}

// chosen applies ripgrep's globs: the last that matches decides.
func chosen(globs []string, name string) bool {
	keep := !slices.ContainsFunc(globs, func(g string) bool { return !strings.HasPrefix(g, "!") })
	for _, g := range globs {
		g, exclude := strings.CutPrefix(g, "!")
		if !strings.Contains(g, "/") {
			g = "**/" + g
		}
		if globbed(strings.TrimPrefix(g, "/"), name) {
			keep = !exclude
		}
	}
	return keep
}

type search struct {
	*expression
	args    toolquay.ContentsArgs
	ok      toolquay.ContentsOK
	entries []string
}

func (s *search) file(name string, lines []string) error {
	s.ok.Searched++
	var hits []int
	for i, line := range lines {
		hit, err := s.matches(line)
		if err != nil {
			return err
		}
		if hit {
			hits = append(hits, i)
		}
	}
	if len(hits) == 0 {
		return nil
	}
	s.ok.Files++
	s.ok.Matches += len(hits)
	switch s.args.Mode {
	case toolquay.ModeContent:
		s.show(name, lines, hits)
	case toolquay.ModeCount:
		s.entries = append(s.entries, name+":"+strconv.Itoa(len(hits)))
	default:
		s.entries = append(s.entries, name)
	}
	return nil
}

// show lists the matching lines with their context, groups apart.
func (s *search) show(name string, lines []string, hits []int) {
	last := -1
	for n, hit := range hits {
		end := min(hit+s.args.After, len(lines)-1)
		if n+1 < len(hits) {
			end = min(end, hits[n+1]-1)
		}
		begin := max(hit-s.args.Before, last+1)
		if context := s.args.Before+s.args.After > 0; context && len(s.entries) > 0 && (last < 0 || begin > last+1) {
			s.entries = append(s.entries, "--")
		}
		for i := begin; i <= end; i++ {
			sep := "-"
			if i == hit {
				sep = ":"
			}
			number := ""
			if s.args.LineNumbers {
				number = strconv.Itoa(i+1) + sep
			}
			s.entries = append(s.entries, fmt.Sprint(name, sep, number, lines[i]))
		}
		last = end
	}
}

func (s *search) finish() (any, []byte, error) {
	kept := s.entries[min(max(s.args.Offset, 0), len(s.entries)):]
	if s.args.Limit > 0 && len(kept) > s.args.Limit {
		kept = kept[:s.args.Limit]
		s.ok.Truncated = true
	}
	s.ok.Entries = len(kept)
	body := []byte{}
	for _, e := range kept {
		body = append(append(body, e...), '\n')
	}
	return s.ok, body, nil
}

// lineList splits a content into its lines.
func lineList(content []byte) []string {
	if len(content) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}
