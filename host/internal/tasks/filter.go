package tasks

import (
	"bytes"
	"context"
	"regexp"
)

// filter takes the lines that match of what comes next: as many as a piece has room for.
// What is longer than a piece without an end of a line is taken for lines of that length.
func (s *scan) filter(ctx context.Context, filter *regexp.Regexp) error {
	buf := make([]byte, min(s.most, s.size-s.at))
	for end := s.at + MaxScan; s.at < min(s.size, end); {
		chunk, err := s.fill(ctx, buf)
		if err != nil {
			return err
		}
		if len(chunk) == 0 || !s.lines(chunk, filter) {
			return nil
		}
	}
	return nil
}

// lines goes through what was read, and reports whether to go on.
func (s *scan) lines(chunk []byte, filter *regexp.Regexp) bool {
	began := s.at
	for rest := chunk; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			if n = s.unended(rest); n == 0 {
				return s.at > began && began+int64(len(chunk)) < s.size
			}
		}
		if !s.judge(rest[:n], filter) {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// unended is how much of a text counts as a line that has no end of one: nothing, where
// the end may still come.
func (s *scan) unended(text []byte) int {
	switch {
	case s.final && s.at+int64(len(text)) >= s.size:
		return len(text)
	case int64(len(text)) == s.most:
		return len(wholeRunes(text))
	}
	return 0
}

// judge takes a line or leaves it out; false is that there is no more room.
func (s *scan) judge(line []byte, filter *regexp.Regexp) bool {
	switch {
	case !filter.Match(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))):
		s.skipped++
	case int64(len(s.text)+len(line)) > s.most:
		return false
	default:
		s.text = append(s.text, line...)
	}
	s.at += int64(len(line))
	return true
}
