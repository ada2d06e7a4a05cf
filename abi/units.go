package abi

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written as "64KiB", "10MiB", "1GiB" or a plain
// number of bytes.
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size as [Size] documents it.
func (s *Size) UnmarshalText(text []byte) error {
	in := strings.TrimSpace(string(text))
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(in, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || n > (1<<62)/uint64(u.bytes) {
			break
		}
		*s = Size(int64(n) * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is not a size; write it as 512KiB, 64MiB or 1GiB", in)
}

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits[:3] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Duration is a span of time, written as Go writes it: "500ms", "30s", "2m".
type Duration time.Duration

// UnmarshalText reads a duration as [Duration] documents it.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write it as 500ms, 30s or 2m", text)
	}
	*d = Duration(v)
	return nil
}

// String writes the duration as Go does.
func (d Duration) String() string { return time.Duration(d).String() }
