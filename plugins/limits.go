package plugins

import (
	"fmt"
	"strconv"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// DefaultLimits are in force where a manifest asks for nothing.
var DefaultLimits = Limits{
	Memory:          64 << 20,
	Time:            30 * time.Second,
	Output:          10 << 20,
	LogLines:        1000,
	CapabilityCalls: 10_000,
}

// DefaultCeilings are the most a manifest can ask for, unless the operator says
// otherwise.
var DefaultCeilings = Limits{
	Memory:          1 << 30,
	Time:            10 * time.Minute,
	Output:          64 << 20,
	LogLines:        10_000,
	CapabilityCalls: 1_000_000,
}

const wasmPage = 64 << 10

// effective returns the limits in force for a manifest under the host's
// ceilings, and a note for each claim that was cut.
func effective(claim abi.Limits, ceilings Limits) (Limits, []string) {
	var notes []string
	l := Limits{
		Memory:          cut("memory", int64(claim.Memory), DefaultLimits.Memory, ceilings.Memory, sizeText, &notes),
		Time:            cut("time", time.Duration(claim.Time), DefaultLimits.Time, ceilings.Time, time.Duration.String, &notes),
		Output:          cut("output", int64(claim.Output), DefaultLimits.Output, ceilings.Output, sizeText, &notes),
		LogLines:        cut("log_lines", claim.LogLines, DefaultLimits.LogLines, ceilings.LogLines, countText, &notes),
		CapabilityCalls: cut("capability_calls", claim.CapabilityCalls, DefaultLimits.CapabilityCalls, ceilings.CapabilityCalls, countText, &notes),
	}
	l.Memory = max(l.Memory/wasmPage, 1) * wasmPage
	return l, notes
}

func cut[N int | int64 | time.Duration](name string, claim, standard, ceiling N, text func(N) string, notes *[]string) N {
	if claim == 0 {
		return min(standard, ceiling)
	}
	if claim > ceiling {
		*notes = append(*notes, fmt.Sprintf("limits.%s = %s was cut to this host's %s", name, text(claim), text(ceiling)))
		return ceiling
	}
	return claim
}

func sizeText(n int64) string { return abi.Size(n).String() }

func countText(n int) string { return strconv.Itoa(n) }

// or fills in what is zero.
func (l Limits) or(d Limits) Limits {
	pick := func(a, b int64) int64 {
		if a == 0 {
			return b
		}
		return a
	}
	return Limits{
		Memory:          pick(l.Memory, d.Memory),
		Time:            time.Duration(pick(int64(l.Time), int64(d.Time))),
		Output:          pick(l.Output, d.Output),
		LogLines:        int(pick(int64(l.LogLines), int64(d.LogLines))),
		CapabilityCalls: int(pick(int64(l.CapabilityCalls), int64(d.CapabilityCalls))),
	}
}
