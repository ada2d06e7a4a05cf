package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// averages are the geometric means of rows that belong together, in the order in which
// they came.
type averages struct{ list []average }

type average struct {
	name, baseline string
	count          int
	logs           float64 // the sum of the ratios' logarithms
}

func (a *averages) add(r row, ours, theirs time.Duration) {
	if r.average == "" || ours <= 0 || theirs <= 0 {
		return
	}
	i := slices.IndexFunc(a.list, func(one average) bool { return one.name == r.average })
	if i < 0 {
		i = len(a.list)
		a.list = append(a.list, average{name: r.average, baseline: r.baseline})
	}
	a.list[i].count++
	a.list[i].logs += math.Log(float64(ours) / float64(theirs))
}

func (a *averages) write(t *table) {
	for _, one := range a.list {
		t.line(fmt.Sprintf("%s, the geometric mean of %d", one.name, one.count), "", one.baseline, "",
			fmt.Sprintf("%.2fx", math.Exp(one.logs/float64(one.count))), "at most 1.0x")
	}
}
