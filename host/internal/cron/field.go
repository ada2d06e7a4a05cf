package cron

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// field is what one of the five fields can say, by crontab(5).
type field struct {
	name     string
	low, top int
	names    []string // that stand for low, low+1, ...
}

// The fields in their order.
var fields = [...]field{
	{name: "minute", low: 0, top: 59},
	{name: "hour", low: 0, top: 23},
	{name: "day of month", low: 1, top: 31},
	{name: "month", low: 1, top: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{name: "day of week", low: 0, top: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// The places of fields.
const (
	minute = iota
	hour
	monthDay
	month
	weekDay
)

// values are those that a field matches, a bit each.
type values uint64

func (v values) has(n int) bool { return v&(1<<n) != 0 }

// list are the values in order.
func (v values) list() []int {
	list := make([]int, 0, bits.OnesCount64(uint64(v)))
	for v != 0 {
		n := bits.TrailingZeros64(uint64(v))
		list = append(list, n)
		v &^= 1 << n
	}
	return list
}

// read reads a field: its values, and the same in numbers.
func (f *field) read(text string) (v values, plain string, err error) {
	var parts []string
	for text := range strings.SplitSeq(text, ",") {
		some, part, err := f.part(text)
		if err != nil {
			return 0, "", err
		}
		v, parts = v|some, append(parts, part)
	}
	if parts[0] == "*" {
		parts = parts[:1] // the library does not know it in a list
	}
	if f == &fields[weekDay] && v.has(f.top) {
		v = v&^(1<<f.top) | 1 // 7 is Sunday, too
	}
	return v, strings.Join(parts, ","), nil
}

// part reads one element of a list: *, */STEP, VALUE, LOW-TOP or LOW-TOP/STEP.
func (f *field) part(text string) (v values, plain string, err error) {
	span, by, stepped := strings.Cut(text, "/")
	low, top, err := f.span(span, text)
	if err != nil {
		return 0, "", err
	}
	step := 1
	if stepped {
		if step, err = f.number(by, text); err != nil {
			return 0, "", err
		}
		switch {
		case step == 0:
			return 0, "", f.fault(text, "a step of 0")
		case step > f.top:
			return 0, "", f.fault(text, "a step of %d, which is over %d", step, f.top)
		case span != "*" && !strings.Contains(span, "-"):
			return 0, "", f.fault(text, "a step without a range: write %d-%d/%d", low, f.last(), step)
		}
	}
	for n := low; n <= top; n += step {
		v |= 1 << n
	}
	switch {
	case span == "*":
		plain = "*"
	case low == top:
		return v, strconv.Itoa(low), nil
	default:
		plain = fmt.Sprintf("%d-%d", low, top)
	}
	if step > 1 {
		plain += "/" + strconv.Itoa(step)
	}
	return v, plain, nil
}

// all are all values.
func (f *field) all() values { return 1<<(f.last()+1) - 1<<f.low }

// last is the highest value but for the second Sunday.
func (f *field) last() int {
	if f == &fields[weekDay] {
		return f.top - 1
	}
	return f.top
}

// span reads what a step may follow.
func (f *field) span(text, whole string) (low, top int, err error) {
	if text == "*" {
		return f.low, f.last(), nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if low, err = f.value(from, whole); err != nil || !ranged {
		return low, low, err
	}
	if top, err = f.value(to, whole); err != nil {
		return 0, 0, err
	}
	if f == &fields[weekDay] && top == 0 && low > 0 {
		top = f.top // a week may end on Sunday
	}
	if low > top {
		return 0, 0, f.fault(whole, "a range that runs backwards: write two, as %d-%d,%d-%d", low, f.last(), f.low, top)
	}
	return low, top, nil
}

// value reads a number or a name.
func (f *field) value(text, whole string) (int, error) {
	if n := slices.Index(f.names, strings.ToLower(text)); n >= 0 {
		return f.low + n, nil
	}
	n, err := f.number(text, whole)
	if err == nil && (n < f.low || n > f.top) {
		err = f.fault(whole, "%d, which is not within %d and %d", n, f.low, f.top)
	}
	return n, err
}

// number reads ASCII digits.
func (f *field) number(text, whole string) (int, error) {
	const most = 9 // digits, more than any number of use has
	if text == "" || len(text) > most || strings.Trim(text, "0123456789") != "" {
		also := ""
		if f.names != nil {
			also = ", and names are " + strings.Join(f.names, " ")
		}
		return 0, f.fault(whole, "%.20q, which is no number: there are *, */STEP, numbers, ranges as 1-5 or 1-5/2, and lists of those%s", text, also)
	}
	return strconv.Atoi(text)
}

// fault is what is wrong with an element.
func (f *field) fault(whole, format string, args ...any) error {
	return abi.Errorf(abi.CodeInvalidInput, "the %s %.40q has "+format, append([]any{f.name, whole}, args...)...)
}
