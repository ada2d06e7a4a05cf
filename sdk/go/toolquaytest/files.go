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
	name = h.absolute(name)
	rel, ok := strings.CutPrefix(name+"/", strings.TrimSuffix(h.cwd, "/")+"/")
	if !ok {
		return "", missing(name)
	}
	return path.Clean(strings.TrimSuffix(rel, "/")), nil
}

// absolute is a path as a tool gives it, absolute and clean.
func (h *Host) absolute(p string) string {
	if !path.IsAbs(p) {
		return path.Join(h.cwd, p)
	}
	return path.Clean(p)
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

// open resolves the path of a capability call, within the scope of its claim.
func (s *session) open(p string) (string, fs.FileInfo, error) {
	if err := s.inScope(s.claim, p, false); err != nil {
		return "", nil, err
	}
	return s.host.find(p)
}

func (s *session) read(raw []byte, _ [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.ReadArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	name, info, err := s.open(args.Path)
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return nil, nil, toolquay.Errorf(toolquay.CodeIsDirectory, "%s is a directory", args.Path)
	case !info.Mode().IsRegular():
		return nil, nil, toolquay.Errorf(toolquay.CodeNotRegular, "%s is not a regular file", args.Path)
	case args.Offset < 0 || args.Length < 0:
		return nil, nil, toolquay.Errorf(toolquay.CodeInvalidInput, "offset and length must not be negative")
	}
	content, err := fs.ReadFile(s.host.files, name)
	if err != nil {
		return nil, nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", args.Path, err)
	}
	ok := toolquay.ReadOK{Path: s.host.abs(name), Size: info.Size(), ModTime: info.ModTime().UnixMilli()}
	if args.Shown && s.host.seen.again(name, content, string(raw)) {
		ok.Unchanged = true
		return ok, nil, nil
	}
	var body []byte
	var spans []span
	if args.Lines == nil {
		body, spans = bytesOfFile(content, args.Offset, args.Length)
	} else if bytes.IndexByte(content, 0) >= 0 {
		return nil, nil, toolquay.Errorf(toolquay.CodeNotText, "%s is binary, not text; read it by bytes", args.Path)
	} else {
		body, spans, ok.Lines = lines(content, *args.Lines)
		ok.Encoding = toolquay.EncodingUTF8
	}
	s.own.look(name, content, spans)
	if args.Shown {
		s.shown = append(s.shown, glance{name, string(raw), content, spans})
	}
	return ok, body, nil
}

// bytesOfFile returns a range of a file, and where that is.
func bytesOfFile(content []byte, offset, length int64) ([]byte, []span) {
	from, to := min(offset, int64(len(content))), int64(len(content))
	if length > 0 {
		to = min(to, from+length)
	}
	return append([]byte{}, content[from:to]...), []span{{int(from), int(to)}}
}

// lines does what [toolquay.LineArgs] says, and returns which bytes of the file it has
// read: lines that were cut are not among them. Text in UTF-16 is not decoded.
func lines(content []byte, args toolquay.LineArgs) (text []byte, spans []span, ok *toolquay.LinesOK) {
	text = []byte{}
	first := max(args.Offset, 1)
	ok = &toolquay.LinesOK{First: first}
	room := args.MaxChars
	if room == 0 {
		room = math.MaxInt64
	}
	number, from := int64(0), 0
	for _, whole := range splitLines(string(content)) {
		place := span{from, from + len(whole)}
		from = place.to
		if number++; number < first {
			continue
		}
		if args.Limit > 0 && ok.Count == args.Limit {
			ok.More = true
			return text, spans, ok
		}
		line, cut := cutLine(plainLine(whole, number), args.MaxLine)
		if args.Number {
			line = fmt.Sprintf("%6d\t%s", number, line)
		}
		if ok.Count > 0 {
			line = "\n" + line
		}
		if room -= int64(utf8.RuneCountInString(line)); room < 0 {
			ok.More, ok.Stopped = true, true
			return text, spans, ok
		}
		if cut {
			ok.CutLines++
		} else {
			spans = append(spans, place)
		}
		ok.Count++
		text = append(text, line...)
	}
	ok.Total = number
	return text, spans, ok
}

// plainLine is a line without its end, and the first without a byte order mark.
func plainLine(line string, number int64) string {
	if number == 1 {
		line = strings.TrimPrefix(line, "\uFEFF")
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	return strings.ToValidUTF8(line, "\uFFFD")
}

func cutLine(line string, most int64) (string, bool) {
	if most == 0 || int64(utf8.RuneCountInString(line)) <= most {
		return line, false
	}
	return string([]rune(line)[:most]), true
}

func (s *session) stat(raw []byte, _ [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.StatArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	name, info, err := s.open(args.Path)
	if err != nil {
		return nil, nil, err
	}
	ok := toolquay.StatOK{Path: s.host.abs(name), Kind: kindOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UnixMilli()}
	if args.Hash && ok.Kind == toolquay.KindFile {
		content, err := fs.ReadFile(s.host.files, name)
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

func (s *session) list(raw []byte, _ [][]byte) (any, []byte, error) {
	args, err := decode[toolquay.ListArgs](raw)
	if err != nil {
		return nil, nil, err
	}
	name, info, err := s.open(args.Path)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return nil, nil, toolquay.Errorf(toolquay.CodeNotDirectory, "%s is not a directory", args.Path)
	}
	entries, err := fs.ReadDir(s.host.files, name)
	if err != nil {
		return nil, nil, toolquay.Errorf(toolquay.CodeIO, "%s: %v", args.Path, err)
	}
	most := args.Limit
	if most <= 0 {
		most = listMost
	}
	ok := toolquay.ListOK{Path: s.host.abs(name), Truncated: len(entries) > most}
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
