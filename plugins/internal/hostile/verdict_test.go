package hostile_test

import (
	"fmt"
	"maps"
	"strings"
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
// once. What is late because of us is late each time.
const attempts = 5

// judge has a case seen, and seen again while something was late each time and
// nothing is wrong. Of what was late it tells miss.
func judge(f *fixture, see func() report, miss func(string)) verdict {
	var late map[string]string
	for n := 1; ; n++ {
		seen := see()
		v := f.check(&seen)
		for _, what := range v.late {
			miss(what)
		}
		if late == nil {
			late = v.late
		}
		maps.DeleteFunc(late, func(what, _ string) bool { return v.late[what] == "" })
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
	if took := r.Load.Took - r.Waited; took > loading {
		v.isLate("loading", "took %v, over %v", took, loading)
	}
	if f.load && len(r.Calls) > 0 {
		v.isWrong("it loaded, and was called")
	} else {
		f.checkCalls(&v, r)
	}
	f.checkHost(&v, r)
	return v
}

// checkCalls stops at the first that is wrong: the others mostly are alike.
func (f *fixture) checkCalls(v *verdict, r *report) {
	var slowest time.Duration
	for i, c := range r.Calls {
		slowest = max(slowest, c.Took)
		if f.checkEnd(v, fmt.Sprint("call ", i+1), c); len(v.wrong) > 0 {
			break
		}
	}
	if took, most := slowest-r.Waited, f.longest(); took > most {
		v.isLate("a call", "took %v, over %v", took, most)
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
	if r.Slow-r.Waited > slow || r.Slowest-r.Waited > stuck {
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
