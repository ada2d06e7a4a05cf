package main

import "strings"

// Heading is one heading of a Markdown file.
type Heading struct {
	// Line is 1-based.
	Line  int
	Level int
	Title string
}

// parser finds headings line by line, by the rules of CommonMark: those with
// number signs, those underlined, and none inside fenced or indented code.
type parser struct {
	headings []Heading
	number   int
	fence    string // what opened the code block we are in
	text     string // the last line, if it could be underlined
}

func (p *parser) line(raw string) {
	p.number++
	if p.number == 1 {
		raw = strings.TrimPrefix(raw, "\uFEFF")
	}
	line := strings.TrimLeft(raw, " ")
	indented := len(raw)-len(line) >= 4 || strings.HasPrefix(line, "\t")
	line = strings.TrimRight(line, " \t\r")
	previous := p.text
	p.text = ""
	switch {
	case p.fence != "":
		if !indented && closes(line, p.fence) {
			p.fence = ""
		}
	case indented && previous == "":
		// Code; after text it would be the text going on.
	case !indented && opensFence(line) != "":
		p.fence = opensFence(line)
	case !indented && atxLevel(line) > 0:
		p.add(p.number, atxLevel(line), atxTitle(line))
	case !indented && previous != "" && underlines(line, "="):
		p.add(p.number-1, 1, previous)
	case !indented && previous != "" && underlines(line, "-"):
		p.add(p.number-1, 2, previous)
	case startsBlock(line):
	default:
		p.text = line
	}
}

func (p *parser) add(line, level int, title string) {
	p.headings = append(p.headings, Heading{Line: line, Level: level, Title: title})
}

// opensFence returns the run of backticks or tildes that starts a code block.
func opensFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		run := line[:len(line)-len(rest)]
		if len(run) >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return run
		}
	}
	return ""
}

func closes(line, fence string) bool {
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// atxLevel is 1 to 6 for "# title" to "###### title", else 0.
func atxLevel(line string) int {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0
	}
	return level
}

func atxTitle(line string) string {
	title := strings.TrimSpace(strings.TrimLeft(line, "#"))
	if closed := strings.TrimRight(title, "#"); closed == "" || strings.HasSuffix(closed, " ") {
		return strings.TrimSpace(closed)
	}
	return title
}

func underlines(line, mark string) bool {
	return line != "" && strings.Trim(line, mark) == ""
}

// startsBlock reports whether a line is no paragraph that could be underlined.
func startsBlock(line string) bool {
	for _, prefix := range []string{">", "- ", "* ", "+ ", "|"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return line == "" || underlines(line, "-") || underlines(line, "*") || underlines(line, "_")
}
