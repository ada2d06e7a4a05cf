package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/host"
)

// progress is how far a call has come, as it is shown. Its text is safe and
// bounded.
type progress struct {
	text        string
	done, total float64
	bytes       int64
}

// update takes in what a call told last, and the line for it, if there is one. Without a new
// text the last one stays.
func (p *progress) update(told *host.Progress, line string) {
	text := p.text
	if news := cmp.Or(line, newest(told)); news != "" {
		text = safe(news)
	}
	*p = progress{text: text, done: told.Done, total: told.Total, bytes: told.Bytes}
}

// newest is what a call told, or else the last line that it put out.
func newest(p *host.Progress) string {
	if text := strings.TrimSpace(p.Message); text != "" {
		return strings.Join(strings.Fields(clip(text, maxText)), " ")
	}
	return lastLine(p.Tail)
}

// lastLine is the last line of an output that holds something. Of a line that is
// written over and over it is what stands there now.
func lastLine(output string) string {
	output = strings.TrimRight(output, " \t\r\n")
	return strings.TrimSpace(output[strings.LastIndexAny(output, "\r\n")+1:])
}

// barWidth is how many cells a bar has.
const barWidth = 10

// pieces show how far a call has come.
func (p *progress) pieces(width int) []piece {
	var out []piece
	if p.total > 0 {
		share := share(p.done, p.total)
		text := fmt.Sprintf("  %3.0f%%", share*100)
		if width >= 6*barWidth {
			text = "  " + bar(share, barWidth) + text[1:]
		}
		out = append(out, keeps(Green, text))
	}
	if p.bytes > 0 {
		out = append(out, spares(Dim, "  "+Bytes(p.bytes)))
	}
	if p.text != "" {
		out = append(out, gives(Dim, "  "+p.text))
	}
	return out
}
