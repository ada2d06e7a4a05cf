package hostile_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// verdict is what is to be said against what was seen.
type verdict struct {
	// wrong is no matter of speed: once is too often.
	wrong []string
	// late is what took too long, by what it is that did. It may be the machine's
	// doing, which does other things too.
	late map[string]string
}

// attempts is how often a case may be seen until each of its times was in bounds
// once. What is late because of us is late each time. With every core shared by
// five, one attempt in twenty is late, and there are hundreds of cases.
const attempts = 5

// patience is what all cases together may take before the machine counts as too
// slow for times to mean anything. From then on they are not judged: only how each
// case ends, and what it took of memory. What is late because of us shows before: the
// first case that is late each time fails.
type patience struct {
	began time.Time

	mu    sync.Mutex
	again time.Duration // spent on seeing cases again
}

// A quiet machine of two cores needs two minutes for all, and sees few cases again.
// The rest of them has to end within the ten minutes that go test gives a package.
const (
	mostTime  = 150 * time.Second
	mostAgain = time.Minute
)

func (p *patience) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.again > mostAgain || time.Since(p.began) > mostTime
}

func (p *patience) spend(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.again += d
}

// judge has a case seen, and seen again while something was late each time and
// nothing is wrong. Of what was late it tells miss. A case that was seen again once
// is judged, also where patience ends meanwhile.
func judge(f *fixture, p *patience, see func() report, miss func(string)) verdict {
	var late map[string]string
	for n := 1; ; n++ {
		began := time.Now()
		seen := see()
		v := f.check(&seen)
		for _, what := range v.late {
			miss(what)
		}
		if late == nil {
			late = v.late
		}
		maps.DeleteFunc(late, func(what, _ string) bool { return v.late[what] == "" })
		if n > 1 {
			p.spend(time.Since(began))
		} else if p.over() {
			clear(late)
		}
		if n == attempts || len(late) == 0 || len(v.wrong) > 0 {
			v.late = late
			return v
		}
	}
}

func (v *verdict) isWrong(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

func (v *verdict) isLate(what, format string, args ...any) {
	v.late[what] = what + " " + fmt.Sprintf(format, args...)
}

// check holds what was seen to what was promised.
func (f *fixture) check(r *report) verdict {
	v := verdict{late: make(map[string]string)}
	if f.load {
		f.checkEnd(&v, "loading", r.Load)
	} else if r.Load.Code != "" && r.Load.Code != f.or {
		v.isWrong("it does not load: %s", r.Load.Message)
	}
	if r.Load.Took > loading {
		v.isLate("loading", "took %v, over %v", r.Load.Took, loading)
	}
	if f.load && len(r.Calls) > 0 {
		v.isWrong("it loaded, and was called")
	} else {
		f.checkCalls(&v, r.Calls)
	}
	f.checkHost(&v, r)
	return v
}

// checkCalls stops at the first that is wrong: the others mostly are alike.
func (f *fixture) checkCalls(v *verdict, calls []outcome) {
	var slowest time.Duration
	for i, c := range calls {
		slowest = max(slowest, c.Took)
		if f.checkEnd(v, fmt.Sprint("call ", i+1), c); len(v.wrong) > 0 {
			break
		}
	}
	if most := f.longest(); slowest > most {
		v.isLate("a call", "took %v, over %v", slowest, most)
	}
}

func (f *fixture) checkEnd(v *verdict, what string, o outcome) {
	if f.or != "" && o.Code == f.or {
		return
	}
	if o.Code != f.code {
		v.isWrong("%s ended with %q (%.300s); want %q", what, o.Code, o.Message, f.code)
		return
	}
	for _, part := range f.says {
		if !strings.Contains(o.Message, part) {
			v.isWrong("%s: the error %.300q does not say %q", what, o.Message, part)
		}
	}
}

// maxLeft is how many goroutines a plugin may keep between calls: those that
// talk to its worker.
const maxLeft = 4

// checkHost checks what the rest of the process felt of it.
func (f *fixture) checkHost(v *verdict, r *report) {
	if r.SoundErr != "" {
		v.isWrong("the other plugin failed: %s", r.SoundErr)
	}
	if r.Slow > slow || r.Slowest > stuck {
		v.isLate("the other plugin", "answered %d times, nine of ten in %v, over %v, or all in %v, over %v", r.Sound, r.Slow, slow, r.Slowest, stuck)
	}
	most := f.memoryLimit()*int64(max(f.calls, 1)) + extra
	if more := r.Peak - r.Before; more > most {
		v.isWrong("the process took %d MiB more, over %d MiB", more>>20, most>>20)
	}
	if r.Pause > pause {
		v.isLate("collections", "stop the world for %v, over %v", r.Pause, pause)
	}
	if r.Left > maxLeft {
		v.isWrong("%d goroutines are left", r.Left)
	}
}
