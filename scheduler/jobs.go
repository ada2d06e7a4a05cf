package scheduler

// jobs are all jobs of a scheduler in call order, and the numbers of their batches.
type jobs struct {
	all []*entry  // nil for those whose results have left
	few [1]*entry // the first room for them: most turns have one only
	// next is the first job whose turn has not come, and left the first whose result
	// has not left.
	next, left int

	batch   int // that of the next job that is added, unless it must run alone
	batches int // the last one there is
}

func (j *jobs) add(e *entry) {
	e.index = len(j.all)
	e.batch = j.batch
	if e.traits.runsAlone() {
		e.batch = noBatch
		j.batch = j.newBatch()
	}
	j.all = append(j.all, e)
}

// split makes a queued job run alone, between two batches.
func (j *jobs) split(e *entry) {
	was, following := e.batch, j.newBatch()
	e.batch = noBatch
	for _, other := range j.all[e.index+1:] {
		switch {
		case other == nil: // it was cancelled, and has left
		case other.batch == was:
			other.batch = following
		default:
			return
		}
	}
	j.batch = following
}

func (j *jobs) newBatch() int {
	j.batches++
	return j.batches
}

// first is the first job whose result has not left; there must be one.
func (j *jobs) first() *entry { return j.all[j.left] }

// forget notes that the result of a job has left.
func (j *jobs) forget(e *entry) {
	j.all[e.index], j.few[0] = nil, nil
	for j.left < len(j.all) && j.all[j.left] == nil {
		j.left++
	}
}
