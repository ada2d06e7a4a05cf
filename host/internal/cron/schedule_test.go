package cron_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // as the machine may have none

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/cron"
	"github.com/toolquay/toolquay/internal/testenv"
)

func parsed(tb testing.TB, line string) *cron.Schedule {
	tb.Helper()
	s, err := cron.Parse(line)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// What is not five fields of crontab(5) is refused, and says what to write.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"":                                     `and "" has 0; write it like "*/5 * * * *"`,
		" \t ":                                 "has 0",
		"* * * *":                              "has 4",
		"* * * * * *":                          "has 6",
		"0 0 1 1 * 2027":                       "has 6",
		" @Daily":                              `has 1; write it like "0 0 * * *"`,
		"@every 5m":                            "has 2",
		"@reboot":                              `has 1; write it like "*/5 * * * *"`,
		"61 * * * *":                           `the minute "61" has 61, which is not within 0 and 59`,
		"* 24 * * *":                           "the hour",
		"* * 0 * *":                            "not within 1 and 31",
		"* * 32 * *":                           "the day of month",
		"* * * 13 *":                           "the month",
		"* * * 0 *":                            "the month",
		"* * * * 8":                            "not within 0 and 7",
		"*/0 * * * *":                          "a step of 0",
		"*/60 * * * *":                         "over 59",
		"*/99999999999999999999 * * * *":       "is no number",
		"5/15 * * * *":                         "write 5-59/15",
		"* * * * 1/2":                          "write 1-6/2",
		"30-10 * * * *":                        "write two, as 30-59,0-10",
		"* * * * fri-mon":                      "write two, as 5-6,0-1",
		"-5 * * * *":                           "is no number",
		"+5 * * * *":                           "is no number",
		"5- * * * *":                           "is no number",
		"1-2-3 * * * *":                        "is no number",
		"1/2/3 * * * *":                        "is no number",
		"1,,2 * * * *":                         "is no number",
		", * * * *":                            "is no number",
		"1.5 * * * *":                          "is no number",
		"٥ * * * *":                            "is no number",
		"５ * * * *":                            "is no number",
		"0 0 L * *":                            "is no number",
		"0 0 15W * *":                          "is no number",
		"0 0 ? * *":                            "is no number",
		"0 0 * * 1#2":                          "is no number",
		"jan * * * *":                          "is no number",
		"0 0 * 1mon *":                         "names are jan",
		"0 0 * * monday":                       "names are sun",
		"0 0 * mon *":                          "names are jan",
		"**  * * * *":                          "is no number",
		"* * * *\n*":                           "has 4",
		"* * * * *\n":                          "is no number",
		"* * * * *\x00":                        "is no number",
		"TZ=Europe/Berlin":                     "has 1",
		"CRON_TZ=UTC * * * *":                  "is no number",
		strings.Repeat("* ", 5000):             "at most 500",
		strings.Repeat("1,", 240) + " * * * *": "is no number",
		"\xff * * * *":                         "is no number",
	} {
		s, err := cron.Parse(line)
		if err == nil || s != nil || abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v", line, err)
		}
		if err != nil && (len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x00")) {
			t.Errorf("%.60q says %q", line, err)
		}
	}
}

const stamp = "2006-01-02 15:04 Mon"

// The same line, whichever way it is written, and what follows from it.
func TestNext(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 28, 15, 30, 20, 0, time.UTC) // a Saturday
	for line, want := range map[string]string{
		"* * * * *":           "2026-11-28 15:31 Sat",
		"\t*/5  *\t* * * ":    "2026-11-28 15:35 Sat",
		"30 15 * * *":         "2026-11-29 15:30 Sun",
		"0 9 * * mon-FRI":     "2026-11-30 09:00 Mon",
		"0 9 * * Fri-Sun":     "2026-11-29 09:00 Sun",
		"0 9 * * 7":           "2026-11-29 09:00 Sun",
		"0 9 * * 0":           "2026-11-29 09:00 Sun",
		"0 9 * * 4-7/3":       "2026-11-29 09:00 Sun",
		"0 9 * * sun-sun":     "2026-11-29 09:00 Sun",
		"0 0 13 * 5":          "2026-12-04 00:00 Fri", // either day
		"0 0 */2 * 1":         "2026-12-07 00:00 Mon", // both: a Monday that is odd
		"0 0 1 * */2":         "2026-12-01 00:00 Tue", // both
		"0 0 1-31 * 1":        "2026-11-29 00:00 Sun", // either, as it begins with no star
		"0 0 5,* * 1":         "2026-11-29 00:00 Sun", // either
		"0 0 * * *,3":         "2026-11-29 00:00 Sun",
		"0 0 31 * *":          "2026-12-31 00:00 Thu",
		"0 0 31 feb-apr *":    "2027-03-31 00:00 Wed",
		"0 0 29 2 *":          "2028-02-29 00:00 Tue",
		"1-10/3,50 0 * * *":   "2026-11-29 00:01 Sun",
		"0 22-23,0-2 * Dec *": "2026-12-01 00:00 Tue",
		"59 23 31 12 *":       "2026-12-31 23:59 Thu",
		"00 007 * * *":        "2026-11-29 07:00 Sun",
	} {
		next, ok := parsed(t, line).Next(from, time.UTC)
		if got := next.Format(stamp); !ok || got != want {
			t.Errorf("%q: %s, %t, want %s", line, got, ok, want)
		}
	}
	for _, never := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *"} {
		if next, ok := parsed(t, never).Next(from, time.UTC); ok {
			t.Errorf("%q comes due %v", never, next)
		}
	}
}

// oracle walks the minutes of a zone, and knows nothing of how Next works.
type oracle struct {
	sets [5]map[int]bool
	both bool
}

// random makes up a line, and what it means.
func random(r *rand.Rand) (line string, o oracle) {
	bounds := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}
	var texts []string
	for i, b := range bounds {
		set := make(map[int]bool)
		var parts []string
		for range 1 + r.IntN(2)*r.IntN(3) {
			low, top, step := b[0], b[1], 1
			text := "*"
			switch kind := r.IntN(7); {
			case kind < 3 && i < 2 || kind < 1:
				low += r.IntN(top - low + 1)
				top, text = low, strconv.Itoa(low)
			case kind == 3:
				low += r.IntN(top - low + 1)
				top = low + r.IntN(top-low+1)
				text = fmt.Sprintf("%d-%d", low, top)
			case kind == 4:
				step = 1 + r.IntN(6)
				low += r.IntN(top - low + 1)
				top = low + r.IntN(top-low+1)
				text = fmt.Sprintf("%d-%d/%d", low, top, step)
			case kind == 5:
				step = 1 + r.IntN(30)%b[1]
				if i == 4 {
					top = 6
				}
				text = fmt.Sprintf("*/%d", step)
			}
			for n := low; n <= top; n += step {
				set[n] = true
			}
			parts = append(parts, text)
		}
		text := strings.Join(parts, ",")
		o.both = o.both || (i == 2 || i == 4) && text[0] == '*'
		if i == 4 {
			set[0] = set[0] || set[7]
		}
		o.sets[i], texts = set, append(texts, text)
	}
	return strings.Join(texts, " "), o
}

func (o *oracle) matches(wall time.Time) bool {
	of, on := o.sets[2][wall.Day()], o.sets[4][int(wall.Weekday())]
	day := of && on || (of || on) && !o.both
	return day && o.sets[0][wall.Minute()] && o.sets[1][wall.Hour()] && o.sets[3][int(wall.Month())]
}

// due are the instants at which a line comes due from one instant up to another.
func (o *oracle) due(from, to time.Time, zone *time.Location) (list []time.Time) {
	wall := func(at time.Time) time.Time {
		at = at.In(zone)
		return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
	}
	shown := wall(from.Add(-30 * time.Hour)) // the latest that was
	for at := from.Add(-30 * time.Hour); !at.After(to); at = at.Add(time.Minute) {
		hit := false
		for ; shown.Before(wall(at)); shown = shown.Add(time.Minute) {
			hit = o.matches(shown.Add(time.Minute)) || hit
		}
		if hit && at.After(from) {
			list = append(list, at)
		}
	}
	return list
}

// changes are times around which the clocks of a zone change.
var changes = map[string][]string{
	"Europe/Berlin":       {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"},
	"America/New_York":    {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"},
	"Australia/Lord_Howe": {"2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"},
	"Asia/Tokyo":          {"2026-03-29T01:00:00Z"},
	"Pacific/Apia":        {"2011-12-30T10:00:00Z"},                         // a day is left out
	"America/Sao_Paulo":   {"2018-11-04T03:00:00Z", "2018-02-18T02:00:00Z"}, // at midnight
	"Africa/Casablanca":   {"2026-02-15T02:00:00Z", "2026-03-22T02:00:00Z"},
	"Asia/Kathmandu":      {"2026-01-01T00:00:00Z"},
}

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// TestNextAgainstOracle compares what follows each minute around changes of clocks with what an
// oracle finds that walks the minutes.
func TestNextAgainstOracle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for name, times := range changes {
		z := zone(t, name)
		for _, text := range times {
			change, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			from, to := change.Add(-26*time.Hour), change.Add(26*time.Hour)
			for range testenv.Sample(40) {
				line, o := random(r)
				s, want := parsed(t, line), o.due(from, to, z)
				for at := from; at.Before(to); at = at.Add(time.Minute) {
					for len(want) > 0 && !want[0].After(at) {
						want = want[1:]
					}
					next, ok := s.Next(at, z)
					if len(want) == 0 && (!ok || next.After(to)) {
						break
					}
					if len(want) == 0 || !ok || !next.Equal(want[0]) {
						t.Fatalf("%s: %q after %v: %v, %t, want %v", name, line, at.In(z), next, ok, want[:min(len(want), 1)])
					}
					if skip := next.Sub(at) - 2*time.Minute; r.IntN(4) > 0 && skip > 0 {
						at = at.Add(skip.Truncate(time.Minute)) // most minutes are alike
					}
				}
			}
		}
	}
}

// TestChanges says in words what happens when clocks change.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, zone, line, from, want string }{
		{"left out: at the change", "Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00"},
		{"several left out: once", "Europe/Berlin", "*/20 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:00:00+02:00"},
		{"left out and due anyway: once", "Europe/Berlin", "0,30 * * * *", "2026-03-29T00:00:00Z", "2026-03-29T01:30:00+01:00 2026-03-29T03:00:00+02:00 2026-03-29T03:30:00+02:00"},
		{"twice: the first time", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00"},
		{"every half hour: not in the hour that comes again", "America/New_York", "*/30 * * * *", "2026-11-01T05:00:00Z", "2026-11-01T01:30:00-04:00 2026-11-01T02:00:00-05:00"},
		{"in the hour that comes again", "America/New_York", "45 1 * * *", "2026-11-01T06:10:00Z", "2026-11-02T01:45:00-05:00"},
		{"half an hour left out", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00Z", "2026-10-04T02:30:00+11:00"},
		{"half an hour twice", "Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00:00Z", "2026-04-05T01:45:00+11:00 2026-04-06T01:45:00+10:30"},
		{"a day left out", "Pacific/Apia", "0 9 30 12 *", "2011-12-29T12:00:00Z", "2011-12-31T00:00:00+14:00"},
		{"midnight left out", "America/Sao_Paulo", "0 0 * * *", "2018-11-03T12:00:00Z", "2018-11-04T01:00:00-02:00 2018-11-05T00:00:00-02:00"},
	} {
		at, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		s := parsed(t, c.line)
		for want := range strings.FieldsSeq(c.want) {
			at, _ = s.Next(at, zone(t, c.zone))
			if got := at.Format(time.RFC3339); got != want {
				t.Errorf("%s: %s, want %s", c.about, got, want)
			}
		}
	}
}

// FuzzParse: what is taken comes due when it says, and never panics.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"* * * * *", "*/5 9-17 * jan-mar mon,wed", "0 0 13 * 5", "0 0 30 2 *", "5-7 * * * 5-7/2", "\t1,2 * * * *", "0 0 29 2 7"} {
		f.Add(seed)
	}
	from := time.Date(2027, 10, 31, 0, 0, 7, 0, time.UTC)
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := cron.Parse(line)
		if err != nil {
			if abi.CodeOf(err) != abi.CodeInvalidInput {
				t.Errorf("%q: %v", line, err)
			}
			return
		}
		next, ok := s.Next(from, berlin)
		if ok && (!next.After(from) || next.Second() != 0) {
			t.Errorf("%q comes due %v", line, next)
		}
		if again, err := cron.Parse(strings.ToUpper(line)); err != nil || ok && !first(again, from, berlin).Equal(next) {
			t.Errorf("%q in capitals: %v", line, err)
		}
		if words := s.Words(); words == "" || strings.ContainsAny(words, "\n\t") {
			t.Errorf("%q is %q", line, words)
		}
	})
}

func first(s *cron.Schedule, from time.Time, z *time.Location) time.Time {
	next, _ := s.Next(from, z)
	return next
}
