package toolquaytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// listMost is the real host's bound on the entries of a list.
const listMost = 10_000

// within returns the name in h.files of a path as a tool gives it.
func (h *Host) within(name string) (string, error) {
	if name == "" {
		return "", toolquay.Errorf(toolquay.CodeInvalidInput, "path: required")
	}
	if !path.IsAbs(name) {
		name = path.Join(h.cwd, name)
	}
	rel, ok := strings.CutPrefix(path.Clean(name)+"/", strings.TrimSuffix(h.cwd, "/")+"/")
	if !ok {
		return "", missing(name)
	}
	return path.Clean(strings.TrimSuffix(rel, "/")), nil
}

func (h *Host) abs(name string) string { return path.Join(h.cwd, name) }

func missing(name string) error {
	return toolquay.Errorf(toolquay.CodeNotFound, "%s does not exist", name)
}

func decode[T any](args []byte) (T, error) {
	var v T
	if err := json.Unmarshal(args, &v); err != nil {
		return v, toolquay.Errorf(toolquay.CodeInvalidInput, "arguments: %v", err)
	}
	return v, nil
}

// find resolves a path to a name and what is there.
func (h *Host) find(p string) (string, fs.FileInfo, error) {
	name, err := h.within(p)
	if err != nil {
		return "", nil, err
	}
	info, err := fs.Stat(h.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, missing(p)
	}
	if err != nil {
		return "", nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", p, err)
	}
	return name, info, nil
}

func (h *Host) read(raw []byte) (any, []byte, error) {
	args, err := decode[toolquay.ReadArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	name, info, err := h.find(args.Path)
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return nil, nil, toolquay.Errorf(toolquay.CodeIsDirectory, "%s is a directory", args.Path)
	case !info.Mode().IsRegular():
		return nil, nil, toolquay.Errorf(toolquay.CodeNotRegular, "%s is not a regular file", args.Path)
	}
	content, err := fs.ReadFile(h.files, name)
	if err != nil {
		return nil, nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", args.Path, err)
	}
	ok := toolquay.ReadOK{Path: h.abs(name), Size: info.Size(), ModTime: info.ModTime().UnixMilli()}
	if args.Lines != nil {
		var text []byte
		text, ok.Lines = lines(content, *args.Lines)
		ok.Encoding = toolquay.EncodingUTF8
		if args.Shown && h.seen.show(name, content, shownOf(content, ok.Lines), string(raw)) {
			ok.Lines, ok.Unchanged, text = nil, true, nil
		}
		return ok, text, nil
	}
	if args.Offset < 0 || args.Length < 0 {
		return nil, nil, toolquay.Errorf(toolquay.CodeInvalidInput, "offset and length must not be negative")
	}
	from := min(args.Offset, int64(len(content)))
	to := int64(len(content))
	if args.Length > 0 {
		to = min(to, from+args.Length)
	}
	if args.Shown && h.seen.show(name, content, span{int(from), int(to)}, string(raw)) {
		ok.Unchanged = true
		return ok, nil, nil
	}
	return ok, append([]byte{}, content[from:to]...), nil
}

// shownOf returns which bytes the lines stand for that were read. What was cut off a
// long line counts as seen.
func shownOf(content []byte, read *toolquay.LinesOK) span {
	var at span
	if read.Count == 0 {
		return at
	}
	for n := int64(1); n < read.First+read.Count; n++ {
		if n == read.First {
			at.from = at.to
		}
		i := bytes.IndexByte(content[at.to:], '\n')
		if i < 0 {
			at.to = len(content)
			break
		}
		at.to += i + 1
	}
	return at
}

// lines does what [toolquay.LineArgs] says. Text in UTF-16 is not decoded.
func lines(content []byte, args toolquay.LineArgs) ([]byte, *toolquay.LinesOK) {
	all := strings.Split(strings.ToValidUTF8(string(bytes.TrimPrefix(content, []byte("\uFEFF"))), "\uFFFD"), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	first := max(args.Offset, 1)
	ok := &toolquay.LinesOK{First: first}
	room := args.MaxChars
	if room == 0 {
		room = math.MaxInt64
	}
	var text []byte
	for i := first - 1; i < int64(len(all)); i++ {
		if args.Limit > 0 && ok.Count == args.Limit {
			ok.More = true
			return text, ok
		}
		line, cut := cutLine(strings.TrimSuffix(all[i], "\r"), args.MaxLine)
		if args.Number {
			line = fmt.Sprintf("%6d\t%s", i+1, line)
		}
		if ok.Count > 0 {
			line = "\n" + line
		}
		if room -= int64(utf8.RuneCountInString(line)); room < 0 {
			ok.More, ok.Stopped = true, true
			return text, ok
		}
		if cut {
			ok.CutLines++
		}
		ok.Count++
		text = append(text, line...)
	}
	ok.Total = int64(len(all))
	return append([]byte{}, text...), ok
}

func cutLine(line string, most int64) (string, bool) {
	if most == 0 || int64(utf8.RuneCountInString(line)) <= most {
		return line, false
	}
	return string([]rune(line)[:most]), true
}

func (h *Host) stat(raw []byte) (any, []byte, error) {
	args, err := decode[toolquay.StatArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	name, info, err := h.find(args.Path)
	if err != nil {
		return nil, nil, err
	}
	ok := toolquay.StatOK{Path: h.abs(name), Kind: kindOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UnixMilli()}
	if args.Hash && ok.Kind == toolquay.KindFile {
		content, err := fs.ReadFile(h.files, name)
		if err != nil {
			return nil, nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", args.Path, err)
		}
		ok.Hash = hashOf(content)
	}
	return ok, nil, nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return toolquay.KindFile
	case mode.IsDir():
		return toolquay.KindDirectory
	case mode&fs.ModeSymlink != 0:
		return toolquay.KindSymlink
	}
	return toolquay.KindOther
}

func (h *Host) list(raw []byte) (any, []byte, error) {
	args, err := decode[toolquay.ListArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	name, info, err := h.find(args.Path)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return nil, nil, toolquay.Errorf(toolquay.CodeNotDirectory, "%s is not a directory", args.Path)
	}
	entries, err := fs.ReadDir(h.files, name)
	if err != nil {
		return nil, nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", args.Path, err)
	}
	most := args.Limit
	if most <= 0 {
		most = listMost
	}
	ok := toolquay.ListOK{Path: h.abs(name), Truncated: len(entries) > most}
	list := []toolquay.Entry{}
	for _, e := range entries[:min(len(entries), most)] {
		entry := toolquay.Entry{Name: e.Name(), Kind: kindOf(e.Type())}
		if info, err := e.Info(); err == nil {
			entry.Size, entry.ModTime = info.Size(), info.ModTime().UnixMilli()
		}
		list = append(list, entry)
	}
	ok.Count = len(list)
	body, err := json.Marshal(list)
	return ok, body, err
}
