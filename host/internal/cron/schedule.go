package cron

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/adhocore/gronx"

	"github.com/toolquay/toolquay/abi"
)

// maxLine bounds a line, in bytes: each field may list all its values.
const maxLine = 500

// Schedule is a line of cron that was read: minute, hour, day of month, month and day of week,
// by the wall clock. Where both fields of days are restricted, a day that matches one of them
// does; where one of them begins with *, it must match both. So crontab(5) has it.
type Schedule struct {
	fields [len(fields)]values
	// plain are the fields in numbers alone, for the library.
	plain [len(fields)]string
}

// Parse reads a line of five fields. Seconds, years, time zones, nicknames such as @daily, and
// the letters L, W, ? and # of other schedulers are refused.
func Parse(line string) (*Schedule, error) {
	if len(line) > maxLine {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the cron line has %d bytes; at most %d", len(line), maxLine)
	}
	texts := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(texts) != len(fields) {
		like := cmp.Or(nicknames[strings.ToLower(strings.Join(texts, " "))], "*/5 * * * *")
		return nil, abi.Errorf(abi.CodeInvalidInput, "a cron line has 5 fields, MINUTE HOUR DAY MONTH WEEKDAY, and %.60q has %d; write it like %q", line, len(texts), like)
	}
	s := new(Schedule)
	for i := range fields {
		var err error
		if s.fields[i], s.plain[i], err = fields[i].read(texts[i]); err != nil {
			return nil, err
		}
	}
	s.widen()
	return s, nil
}

// widen writes each day as such, which a line also means where one of two restricted fields of days
// lists all days.
func (s *Schedule) widen() {
	days := []int{monthDay, weekDay}
	starred := func(at int) bool { return s.plain[at][0] == '*' }
	if slices.ContainsFunc(days, starred) || !slices.ContainsFunc(days, s.every) {
		return
	}
	for _, at := range days {
		s.fields[at], s.plain[at] = fields[at].all(), "*"
	}
}

// nicknames are what other schedulers know, and the fields that say the same.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// wall is the first time after another that matches, both by the wall clock and written in
// UTC. It is false where none does for ten years.
func (s *Schedule) wall(after time.Time) (time.Time, bool) {
	next, err := gronx.NextTickAfter(strings.Join(s.plain[:], " "), after, false)
	return next, err == nil
}
