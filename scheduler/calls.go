package scheduler

import "runtime/debug"

// guard calls a method of a job and returns its panic, if it has one.
func guard(method string, call func()) (p *PanicError) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if value := recover(); value != nil {
			p = &PanicError{Method: method, Value: value, Stack: debug.Stack()}
		}
	}()
	call()
	returned = true
	return nil
}

// ask asks a job for its traits.
func (o *Options) ask(job Job) (t Traits) {
	if p := guard("Traits", func() { t = job.Traits() }); p != nil {
		return Traits{}
	}
	if o.Plain {
		t.Locked = false
	}
	if !t.Locked {
		t.Locks = nil
	}
	return t
}

// attempt calls a method of a job and reports whether it returned. If it
// panicked, the job has failed.
func (o *Options) attempt(e *entry, method string, call func()) bool {
	p := guard(method, call)
	if p != nil {
		o.fail(e, p)
	}
	return p == nil
}

// fail gives a job its failure, the first one only.
func (o *Options) fail(e *entry, err error) {
	if e.failed {
		return
	}
	e.failed = true
	o.report(e, guard("Fail", func() { e.Fail(err) }))
}

func (o *Options) report(e *entry, p *PanicError) {
	if p != nil && o.Panicked != nil {
		o.Panicked(e.Job, p)
	}
}

// observe sets a job's state. The caller holds the Scheduler's mutex.
func (o *Options) observe(e *entry, state State) {
	e.state = state
	if o.Observe != nil {
		o.Observe(e.Job, state)
	}
}
