package scheduler

import "time"

// unfinished reports whether leftovers still run.
func (o *Outcome) unfinished() bool {
	if o.Leftovers == nil {
		return false
	}
	select {
	case <-o.Leftovers:
		return false
	default:
		return true
	}
}

// wait waits for a job's leftovers. No context cuts that short: they are what is left
// when a context has ended.
func (o *LeftoverOptions) wait(e *entry) {
	timer := time.NewTimer(o.Timeout)
	defer timer.Stop()
	select {
	case <-e.outcome.Leftovers:
	case <-timer.C:
		if o.Abandoned != nil {
			o.Abandoned(e.Job)
		}
	}
}
